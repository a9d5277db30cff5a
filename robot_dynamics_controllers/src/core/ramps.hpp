// SPDX-License-Identifier: Apache-2.0
#ifndef RAMPS_HPP_
#define RAMPS_HPP_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "robot_dynamics_controllers/payload_gravity.hpp"

namespace robot_dynamics_controllers
{

// Ramps of payload and gravity, as control/payload/ramp.py and control/payload/payload_gravity.py of robot_dynamics_ros.

using Bodies = PayloadGravity::Bodies;
using Vector = PayloadGravity::Vector;
template<typename Value>
using Ramp = PayloadGravity::Ramp<Value>;

/// Ten inertial parameters of a body, about the origin of its frame.
using Row = std::array<double, 10>;

/// Mass, centre and inertia of a body.
Row numbers_of(const Body & body);
Row ten_parameters(const robot_dynamics_library & library, const Body & body);

template<typename Numbers>
double largest_of(const Numbers & numbers)
{
  double largest = 0.0;
  for (double number : numbers) {
    largest = std::max(largest, std::abs(number));
  }
  return largest;
}

/// Adds a body to those on frames; two on one frame become one.
void add(const robot_dynamics_library & library, Bodies & bodies, const Body & body);

/// The value of a ramp at a share of it, 0 to 1.
Bodies at(const robot_dynamics_library & library, const Ramp<Bodies> & ramp, double share);
Vector at(const robot_dynamics_library &, const Ramp<Vector> & ramp, double share);

/// Whether the step from `held`, which is `value` at `now` (ns), to `told` is small, or was asked for by a duration of 0
/// where a step `may_be_asked_for`.
template<typename Value>
bool continues(
  const robot_dynamics_library & library, const Ramp<Value> & told, const Ramp<Value> & held, const Value & value,
  std::int64_t now, bool may_be_asked_for);

}  // namespace robot_dynamics_controllers

#endif  // RAMPS_HPP_
