// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__PRESETS_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__PRESETS_HPP_

#include <string>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"

namespace robot_dynamics_controllers
{

/// Terms of a torque.
struct Terms
{
  bool gravity = false, coriolis = false, inertia = false, friction = false;

  /// In the order of the nodes: gravity, coriolis, inertia, friction.
  std::vector<std::string> names() const;
};

/// Which terms a controller adds and which the robot compensates itself, by preset of the library, as in the nodes
/// (control/terms/compensation_policy.py of robot_dynamics_ros).
struct CompensationPolicy
{
  /// '' leaves `preset` or `gravity_owner` open. `wanted` are the terms of the controller; {} or {""}: all that the
  /// robot does not compensate. Throws std::invalid_argument for an unknown value and for values that contradict
  /// each other.
  CompensationPolicy(
    const robot_dynamics_library & library, const std::string & preset, const std::string & gravity_owner,
    const std::vector<std::string> & wanted);

  Terms terms;
  std::string gravity_owner;   ///< "node" (the controller adds gravity) or "robot"
  bool takes_commands = true;  ///< false with preset monitor_only
  bool motor_pd = false;
  double fade_in_time = 0.0;  ///< s, where none is stated
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__PRESETS_HPP_
