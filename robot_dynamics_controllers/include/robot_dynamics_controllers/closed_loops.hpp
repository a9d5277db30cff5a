// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__CLOSED_LOOPS_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__CLOSED_LOOPS_HPP_

#include <cstdint>
#include <string>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.hpp"

namespace robot_dynamics_controllers
{

/// Why the loops of a mechanism are not closed, for other threads.
struct LoopFault
{
  robot_dynamics_fault fault = ROBOT_DYNAMICS_CLOSED;
  std::uint16_t constraint = 0;
  bool of_reference = false;
};

/// The memory of the closed loops of a library's robot; empty for one without.
///
/// Calls of the library with one memory come one after the other. Nothing allocates after the construction.
class ClosedLoops
{
public:
  /// `library` has to outlive this object.
  explicit ClosedLoops(const robot_dynamics_library & library);

  /// Forgets all positions but those at which the loops are closed at first.
  void restart() noexcept;
  /// Begins at measured positions (n), `time` (s) after the last call; returns whether the loops are closed, true without
  /// any.
  [[gnu::hot]] bool measure(const double * q, double time) noexcept;
  /// Goes to positions (n) far away, for other threads than the real-time one; returns whether the loops are closed there.
  bool arrive(const double * q) noexcept;
  LoopFault fault() const noexcept;
  /// A fault in words, with the name of the loop; '' for none.
  std::string text_of(const LoopFault & fault) const;
  /// The argument of the library's functions.
  void * memory() noexcept {return memory_.empty() ? nullptr : memory_.data();}
  /// Positions (n) at which the loops are closed at first, zeros without loops.
  const double * home() const noexcept {return home_.data();}

private:
  const robot_dynamics_library & library_;
  const robot_dynamics_mechanism * mechanism_;
  std::vector<double> memory_, home_, torque_;
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__CLOSED_LOOPS_HPP_
