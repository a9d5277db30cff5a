// SPDX-License-Identifier: Apache-2.0
#ifndef RAMPS_HPP_
#define RAMPS_HPP_

#include <cstddef>
#include <cstdint>

#include "robot_dynamics_controllers/payload_gravity.hpp"

namespace robot_dynamics_controllers
{

// Ramps of payload and gravity, as control/payload/ramp.py and control/payload/payload_gravity.py of robot_dynamics_ros.

using Numbers = PayloadGravity::Numbers;
using Ramp = PayloadGravity::Ramp;

/// Mass, centre and inertia of a body.
std::array<double, 10> numbers_of(const Body & body);

/// Adds a body on a frame, if it has a mass, to the numbers of a payload; two on one frame become one.
void add(const robot_dynamics_library & library, Numbers & payload, std::size_t frame, const Body & body);

/// The value of a ramp at a share of it, 0 to 1.
Numbers at(const robot_dynamics_library & library, const Ramp & ramp, double share);

/// Whether the step from `held`, which is `value` at `now` (ns), to `told` is small, or was asked for by a duration of 0
/// where a step `may_be_asked_for`.
bool goes_on(
  const robot_dynamics_library & library, const Ramp & told, const Ramp & held, const Numbers & value, std::int64_t now,
  bool may_be_asked_for);

}  // namespace robot_dynamics_controllers

#endif  // RAMPS_HPP_
