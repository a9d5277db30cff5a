// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__FRAME_IMPEDANCE_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__FRAME_IMPEDANCE_HPP_

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"
#include "robot_dynamics_controllers/handover.hpp"
#include "robot_dynamics_controllers/presets.hpp"

namespace robot_dynamics_controllers
{

/// Of rotation about x, y and z, N m/rad, then of translation, N/m.
using FrameStiffness = std::array<double, 6>;

/// The Cartesian impedance of a library about the reference, and what it remembers from update to update.
class FrameImpedance
{
public:
  /// For updates every `period` s whose torques act `delay` s late, in a controller that computes these terms. Throws
  /// std::invalid_argument where the library has no impedance, where the period is beyond its limit, and where it counts
  /// on a friction that nobody compensates. `library` has to outlive this object.
  FrameImpedance(const robot_dynamics_library & library, const Terms & terms, double period, double delay);

  // --- for other threads
  /// Follows a stiffness from now on, until the next activation, in the axes of the frame with this name ('': those of the
  /// library's). Throws std::invalid_argument, which names the axis, for one that is not finite, below 0, above that of the
  /// library, or 0 where nothing else damps the axis; and for other axes.
  void want(const std::string & frame, const FrameStiffness & stiffness);
  /// The stiffness that the last torque followed, and that it had.
  FrameStiffness followed() const noexcept;
  FrameStiffness in_force() const noexcept;
  /// Whether the stiffness may not grow as it is wanted: its springs would give the arm more energy than the library allows.
  bool waits() const noexcept;
  /// Sampling periods below this one are within the limit of the gains, s.
  double longest_period() const noexcept {return law_.longest_period;}

  // --- for the real-time thread
  /// Begins with the stiffness of the library: nothing from before counts.
  void activate() noexcept;
  /// The arm is held anew: a joint near its limit is not pushed out.
  void begin_anew() noexcept;
  /// The next torque is `time` (s) after the last one.
  void elapse(double time) noexcept;
  /// Adds the torque at q and qd to the model's terms tau (n), for the reference and run-time inputs; returns whether all
  /// numbers are finite.
  bool add(
    const double * q, const double * qd, const double * q_desired, const double * qd_desired, const double * inputs,
    double * tau) noexcept;
  /// Forgets what was computed since `elapse`: it is not sent.
  void restore() noexcept;

private:
  struct Wanted
  {
    std::uint64_t count;  // messages before it, from 0
    FrameStiffness stiffness;
  };

  const robot_dynamics_library & library_;
  const robot_dynamics_impedance & law_;

  std::mutex wanting_;  // of the other threads
  std::uint64_t count_ = 0;
  Handover<Wanted> wanted_;
  std::array<std::atomic<double>, 6> followed_, in_force_;
  std::atomic<bool> waits_{false};

  // of the real-time thread
  std::vector<double> memory_, before_torque_;
  FrameStiffness stiffness_{};
  double elapsed_ = 0.0;  // s
  std::uint64_t before_ = 0;  // messages before the activation
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__FRAME_IMPEDANCE_HPP_
