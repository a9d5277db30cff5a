// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__CYCLE_TIME_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__CYCLE_TIME_HPP_

#include <algorithm>

namespace robot_dynamics_controllers
{

/// The time of a cycle for ramps and for the rate limit: its duration, at most MOST times the smoothed duration of the
/// cycles before it, as the elapsed time of control/guards/state_gate.py. A single pause makes no step, and ramps keep their
/// duration in a manager that is slower than its update_rate.
class CycleTime
{
public:
  static constexpr int MOST = 3;

  explicit CycleTime(double nominal)  // s
  : nominal_(nominal), lately_(nominal) {}

  /// The longest time for which the next cycle counts, s.
  double longest() const noexcept {return MOST * lately_;}

  /// The time for which a cycle of `period` (s, at least 0) counts, s.
  double counted(double period) noexcept
  {
    const double counted = std::min(period, longest());
    lately_ = std::clamp(lately_ + SMOOTHING * (counted - lately_), nominal_, std::max(nominal_, LONGEST / MOST));
    return counted;
  }

private:
  static constexpr double SMOOTHING = 0.1;
  static constexpr double LONGEST = 1.0;  // s

  double nominal_, lately_;
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__CYCLE_TIME_HPP_
