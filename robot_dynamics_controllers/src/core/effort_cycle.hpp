// SPDX-License-Identifier: Apache-2.0
#ifndef EFFORT_CYCLE_HPP_
#define EFFORT_CYCLE_HPP_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chain_switch.hpp"
#include "reference_values.hpp"
#include "robot_dynamics_controllers/effort_law.hpp"

namespace robot_dynamics_controllers
{

/// An EffortLaw between arrays of interface values: what activation, deactivation, chained mode and an update of a
/// controller do, without types of ROS.
///
/// All methods but `unused_references` are called on the real-time thread; none of them allocates or locks. `now` is the
/// time of a steady clock, ns.
class EffortCycle
{
public:
  /// s without a usable reference after which a controller above counts as faulty.
  static constexpr double PATIENCE = 1.0;

  /// `torque_scale` (n): effort over command. `references` outlives this object.
  EffortCycle(std::shared_ptr<EffortLaw> law, ReferenceValues & references, std::vector<double> torque_scale);

  // values of the interfaces of the joints, n each
  double * positions() noexcept {return q_.data();}
  double * velocities() noexcept {return qd_.data();}
  double * commands() noexcept {return command_.data();}
  bool reads_velocities() const noexcept {return law_->reads_velocities();}

  /// Begins with the commands that the joints have, or continues where only the chained mode was switched; then the
  /// commands have to be written again. `simulated`: the period of the manager counts instead of the steady clock.
  /// Returns whether it continues.
  bool activate(std::int64_t now, bool simulated) noexcept;
  void deactivate(std::int64_t now) noexcept;
  void set_chained_mode(bool chained) noexcept;

  /// Computes the commands. `time`: ROS time of the cycle, ns; `period`: that of the manager, s.
  [[gnu::hot]] Outcome update(std::int64_t time, double period, std::int64_t now) noexcept;
  /// Whether the last update has given up: there is no usable state, and all efforts are zero.
  bool gave_up() const noexcept;

  /// Why the controller above is not followed for longer than PATIENCE; '' where it is. For any thread.
  std::string unused_references() const;

private:
  [[gnu::hot]] double passed(double period, std::int64_t now) noexcept;
  [[gnu::hot]] void watch_references(bool usable, bool any, double period) noexcept;

  std::shared_ptr<EffortLaw> law_;
  ReferenceValues & references_;
  std::vector<double> q_, qd_, effort_, command_, torque_scale_;
  ChainSwitch switch_;
  bool simulated_ = false, began_ = false;
  std::int64_t cycle_ = 0;  // time of the last update, ns
  Outcome outcome_ = Outcome::inactive;
  double unused_ = 0.0;  // s since a reference of the controller above was used

  std::atomic<bool> is_unused_{false};
  std::atomic<std::size_t> culprit_{0};
};

}  // namespace robot_dynamics_controllers

#endif  // EFFORT_CYCLE_HPP_
