// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__GAIN_LIMITS_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__GAIN_LIMITS_HPP_

#include <string>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"

namespace robot_dynamics_controllers
{

/// A number in words of an error.
std::string four_digits(double number);

/// Throws std::invalid_argument, which names the joint, its gain and the limit, for gains Kp (n, N m/rad; N/m) and Kd (n,
/// N m s/rad; N s/m) that are unstable with torques every T = `period` s. The rule of control/laws/gain_limits.py, which has
/// the reason and the sources (T counts as sqrt(2) (T + 2 t) where torques act t = `delay` s late):
///
///     the largest eigenvalue of T M(q)^-1 Kd < 2     and     T Kp_i / 2 < Kd_i + viscous friction for each joint i.
///
/// The configuration with the largest eigenvalue is searched by the functions of the library, as in the nodes. It takes a
/// few seconds at most, whatever the number of joints is.
void require_stable(
  const robot_dynamics_library & library, const std::vector<double> & stiffness,
  const std::vector<double> & damping, double period, double delay);

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__GAIN_LIMITS_HPP_
