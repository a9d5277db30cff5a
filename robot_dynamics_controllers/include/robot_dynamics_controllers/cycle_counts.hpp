// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__CYCLE_COUNTS_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__CYCLE_COUNTS_HPP_

#include <atomic>
#include <cstdint>

#include "robot_dynamics_controllers/effort_law.hpp"

namespace robot_dynamics_controllers
{

/// A number that the real-time thread alone adds to. Other threads read it, and one of them may begin it again at zero.
class Count
{
public:
  void add(bool one) noexcept {total_.store(total_.load(ANY_ORDER) + (one ? 1 : 0), ANY_ORDER);}
  std::uint64_t value() const noexcept {return total_.load(ANY_ORDER) - cleared_.load(ANY_ORDER);}
  void reset() noexcept {cleared_.store(total_.load(ANY_ORDER), ANY_ORDER);}

private:
  static constexpr std::memory_order ANY_ORDER = std::memory_order_relaxed;
  std::atomic<std::uint64_t> total_{0}, cleared_{0};
};

/// Cycles of a controller by their outcome.
struct CycleCounts
{
  Count updates;             ///< cycles
  Count followed;            ///< cycles in which a reference was followed
  Count references_refused;  ///< cycles with a reference that is not finite
  Count states_refused;      ///< cycles without a finite state or torque
  Count not_written;         ///< cycles in which an effort could not be written
  Count activations;

  /// For the real-time thread, in each cycle.
  void add(Outcome outcome, bool written) noexcept
  {
    updates.add(true);
    followed.add(outcome == Outcome::sent);
    references_refused.add(outcome == Outcome::reference_refused);
    states_refused.add(outcome == Outcome::state_held || outcome == Outcome::state_lost);
    not_written.add(!written);
  }

  /// Clears what `~/reset` clears.
  void reset() noexcept
  {
    for (Count * count : {&references_refused, &states_refused, &not_written}) {
      count->reset();
    }
  }
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__CYCLE_COUNTS_HPP_
