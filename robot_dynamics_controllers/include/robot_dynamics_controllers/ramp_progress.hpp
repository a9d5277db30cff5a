// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__RAMP_PROGRESS_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__RAMP_PROGRESS_HPP_

#include <cstdint>

#include "robot_dynamics_controllers/payload_gravity.hpp"

namespace robot_dynamics_controllers
{

/// Progress of the ramps of payload and gravity in the real-time thread: that of ROS time, while this passes as the
/// time between updates does. Where the clock is set, the progress neither goes back nor jumps.
class RampProgress
{
public:
  /// Nothing from before counts: the next progress is that of its time.
  void restart() noexcept;

  /// Advances to `time` (ROS time, ns), `period` s after the last call, in an update with these corners.
  void advance(const Corners & corners, std::int64_t time, double period) noexcept;

  /// The weights of the values after the ramps, 0 to 1.
  double payload() const noexcept {return payload_.share;}
  double gravity() const noexcept {return gravity_.share;}
  bool is_over() const noexcept {return payload_.share >= 1.0 && gravity_.share >= 1.0;}

private:
  struct Ramp
  {
    std::int64_t number;
    double share;
    void advance(const Corners::Span & span, std::int64_t time, double period) noexcept;
  };

  std::int64_t time_of(const Corners & corners, std::int64_t time, double period) const noexcept;

  static constexpr Ramp NONE{-1, 1.0};

  Ramp payload_ = NONE, gravity_ = NONE;
  const Corners * corners_ = nullptr;  // of the last update
  std::int64_t latest_ = 0;            // ns
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__RAMP_PROGRESS_HPP_
