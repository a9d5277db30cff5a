// SPDX-License-Identifier: Apache-2.0
#ifndef CHAIN_SWITCH_HPP_
#define CHAIN_SWITCH_HPP_

#include <cstdint>

namespace robot_dynamics_controllers
{

/// Tells a switch of the chained mode from a restart of the controller.
///
/// Where a controller above starts or stops, the manager deactivates an active controller, sets its chained mode and
/// activates it again, all in one cycle. From Jazzy 4.39 and Kilted 5.8 on it also sets the mode to false once the
/// controller is configured and at each deactivation, whatever the reason is.
///
/// All methods are called on the real-time thread. Times are ns on a steady clock.
class ChainSwitch
{
public:
  /// Longest time between deactivation and activation in one cycle of the manager, ns. It takes below a millisecond, on a
  /// busy machine some. Two requests are further apart, but for those of a program that sends one after the other.
  static constexpr std::int64_t LONGEST = 20'000'000;

  bool chained() const noexcept {return chained_;}

  void set(bool chained) noexcept
  {
    resets_ = resets_ || (!was_active_ && !chained);
    chained_ = chained;
    ++sets_;
  }

  void deactivated(std::int64_t now) noexcept
  {
    was_active_ = true;
    was_chained_ = chained_;
    sets_ = 0;
    since_ = now;
  }

  /// Whether an activation continues what was deactivated before.
  bool continues(std::int64_t now) const noexcept
  {
    const bool was_switched = chained_ != was_chained_ && sets_ > (resets_ ? 1 : 0);
    return was_active_ && was_switched && now - since_ < LONGEST;
  }

private:
  bool chained_ = false, was_chained_ = false, was_active_ = false;
  bool resets_ = false;  // the manager sets the mode to false at each deactivation
  int sets_ = 0;         // times that the mode was set since the last deactivation
  std::int64_t since_ = 0;
};

}  // namespace robot_dynamics_controllers

#endif  // CHAIN_SWITCH_HPP_
