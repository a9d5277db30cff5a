// SPDX-License-Identifier: Apache-2.0
#ifndef CLOCK_WATCH_HPP_
#define CLOCK_WATCH_HPP_

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>

#include "rclcpp/rclcpp.hpp"

namespace robot_dynamics_controllers
{

/// ns on the steady clock.
inline std::int64_t steady_now()
{
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Detects that ROS time was set: a simulation or a bag starts again, or the system clock was changed.
class ClockWatch
{
public:
  /// `set(before, after)` (ns) is called in `look`.
  ClockWatch(rclcpp::Clock::SharedPtr clock, std::function<void(std::int64_t, std::int64_t)> set)
  : clock_(std::move(clock)), set_(std::move(set)), last_(now()) {}

  /// Compares ROS time with the steady clock since the last call, a simulated clock only with itself: it may be fast.
  /// Returns ROS time, ns.
  std::int64_t look()
  {
    const auto [steady, time] = now();
    const bool simulated = clock_->ros_time_is_active();
    const std::int64_t expected = simulated ? last_.second : last_.second + steady - last_.first;
    last_ = {steady, time};
    if (simulated ? time < expected : std::abs(time - expected) > STEP) {
      set_(expected, time);
    }
    return time;
  }

private:
  static constexpr std::int64_t STEP = 100'000'000;  ///< ns by which a system clock is changed before it counts as set

  std::pair<std::int64_t, std::int64_t> now() const
  {
    return {steady_now(), clock_->now().nanoseconds()};
  }

  rclcpp::Clock::SharedPtr clock_;
  std::function<void(std::int64_t, std::int64_t)> set_;
  std::pair<std::int64_t, std::int64_t> last_;  // steady and ROS time, ns
};

}  // namespace robot_dynamics_controllers

#endif  // CLOCK_WATCH_HPP_
