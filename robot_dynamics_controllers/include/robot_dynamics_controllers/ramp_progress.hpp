// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__RAMP_PROGRESS_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__RAMP_PROGRESS_HPP_

#include <atomic>
#include <cstdint>

#include "robot_dynamics_controllers/payload_gravity.hpp"

namespace robot_dynamics_controllers
{

/// Progress of one ramp in the real-time thread, which other threads may read.
class RampShare
{
public:
  /// Nothing from before counts: the next share is that of its time.
  void restart() noexcept;

  /// Advances to `time` (ROS time, ns), `period` s after the last call.
  void advance(const Corners::Span & span, std::int64_t time, double period) noexcept;

  /// The weight of the value after the ramp, 0 to 1.
  double share() const noexcept {return share_.load(std::memory_order_relaxed);}

  /// Whether this ramp has ended here.
  bool has_ended(const Corners::Span & span) const noexcept;

  /// For other threads: whether this ramp may not have ended yet.
  bool is_under_way(const Corners::Span & span) const noexcept;

  /// For other threads: the share of this ramp that counts at `now` (ROS time, ns): that of its time, but the one of the
  /// last update where a clock that was set makes a difference of more than 0.05 s.
  double share_at(const Corners::Span & span, std::int64_t now) const noexcept;

private:
  static constexpr std::int64_t NONE = -1;

  std::atomic<std::int64_t> number_{NONE};
  std::atomic<double> share_{1.0};  // written before number_
};

/// Progress of the ramps of payload and gravity in the real-time thread: that of ROS time, while this passes as the
/// time between updates does. Where the clock is set, the progress neither goes back nor jumps.
class RampProgress
{
public:
  void restart() noexcept;

  /// Advances to `time` (ROS time, ns), `period` s after the last call, in an update with these corners.
  [[gnu::hot]] void advance(const Corners & corners, std::int64_t time, double period) noexcept;

  const RampShare & payload() const noexcept {return payload_;}
  const RampShare & gravity() const noexcept {return gravity_;}

private:
  [[gnu::cold]] void follow(const Corners & corners, std::int64_t time, double period) noexcept;
  std::int64_t time_of(const Corners & corners, std::int64_t time, double period) const noexcept;

  RampShare payload_, gravity_;
  const Corners * corners_ = nullptr;  // of the last update
  std::int64_t latest_ = 0;            // ns
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__RAMP_PROGRESS_HPP_
