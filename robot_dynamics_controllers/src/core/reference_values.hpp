// SPDX-License-Identifier: Apache-2.0
#ifndef REFERENCE_VALUES_HPP_
#define REFERENCE_VALUES_HPP_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "robot_dynamics_controllers/effort_law.hpp"

namespace robot_dynamics_controllers
{

/// Values of the reference interfaces of a controller. A controller above, or a topic, writes them; each cycle reads them
/// once.
///
/// Once they are read, positions, velocities and accelerations are NaN until somebody writes them again. Efforts are
/// UNWRITTEN instead: a joint_trajectory_controller with effort commands reads its measured effort from there (from Jazzy
/// 4.23 on) and interpolates from it. A number close to zero makes no effort of it, and NaN that is written differs from
/// what nobody has written.
///
/// The interfaces refer to the memory of this object, which therefore must not be moved. It is read without their locks,
/// as controllers with reference_interfaces_ do: whoever writes runs in the same cycle. Of a controller above that runs
/// asynchronously, a reference may be lost.
class ReferenceValues
{
public:
  static constexpr std::size_t MOST = 128;  ///< largest number of references, joints times interfaces
  static constexpr std::size_t NONE = MOST;
  static constexpr double UNWRITTEN = 0x1.5c0de0fadeda7p-1000;  // no controller computes this effort; not subnormal

  ReferenceValues() = default;
  ReferenceValues(const ReferenceValues &) = delete;
  ReferenceValues & operator=(const ReferenceValues &) = delete;

  /// Prepares references of `joints`: those of all joints of the first of `interfaces` (position, velocity, acceleration,
  /// effort) first. Throws std::invalid_argument for more than MOST, and for a list without position but effort alone.
  void configure(const std::vector<std::string> & joints, const std::vector<std::string> & interfaces);

  /// Names, 'JOINT/INTERFACE' each, and the memory of each value.
  const std::vector<std::string> & names() const {return names_;}
  double * value(std::size_t i) {return &values_[i];}
  bool has_positions() const {return has_positions_;}

  // --- the real-time thread
  /// Writes all values.
  void write(const double * numbers) noexcept;
  /// Nobody has written any of them.
  [[gnu::hot]] void drop() noexcept;
  /// What was written since the last call, nullptr for nothing; it stays as it is until the next call. Values that nobody
  /// has written beside others are NaN.
  [[gnu::hot]] const Reference * read() noexcept;
  /// The first value that was not finite when it was read last; NONE: none of them.
  std::size_t first_not_finite() const noexcept;

private:
  std::vector<std::string> names_;
  bool has_positions_ = true;
  std::size_t efforts_ = 0;  // place of the first effort
  std::array<double, MOST> values_{}, read_{};
  std::vector<double> zeros_;
  Reference reference_{};  // into read_ and zeros_
};

}  // namespace robot_dynamics_controllers

#endif  // REFERENCE_VALUES_HPP_
