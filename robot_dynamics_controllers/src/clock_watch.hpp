// SPDX-License-Identifier: Apache-2.0
#ifndef CLOCK_WATCH_HPP_
#define CLOCK_WATCH_HPP_

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "rclcpp/rclcpp.hpp"

namespace robot_dynamics_controllers
{

/// Detects that ROS time has gone back: a simulation or a bag that starts again, a system clock that was set.
class ClockWatch
{
public:
  /// `set_back(before, after)` (ns) is called in `look`.
  ClockWatch(rclcpp::Clock::SharedPtr clock, std::function<void(std::int64_t, std::int64_t)> set_back)
  : clock_(std::move(clock)), set_back_(std::move(set_back)), last_(now()) {}

  /// Compares ROS time with the steady clock since the last call; a simulated clock only with itself.
  void look()
  {
    const auto [steady, time] = now();
    const bool simulated = clock_->ros_time_is_active();
    const std::int64_t expected = simulated ? last_.second : last_.second + steady - last_.first;
    last_ = {steady, time};
    if (time < expected - (simulated ? 0 : STEP)) {
      set_back_(expected, time);
    }
  }

private:
  static constexpr std::int64_t STEP = 100'000'000;  ///< ns by which a system clock goes back before it counts as set

  std::pair<std::int64_t, std::int64_t> now() const
  {
    const auto steady = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::nanoseconds(steady).count(), clock_->now().nanoseconds()};
  }

  rclcpp::Clock::SharedPtr clock_;
  std::function<void(std::int64_t, std::int64_t)> set_back_;
  std::pair<std::int64_t, std::int64_t> last_;  // steady and ROS time, ns
};

}  // namespace robot_dynamics_controllers

#endif  // CLOCK_WATCH_HPP_
