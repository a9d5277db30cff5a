// SPDX-License-Identifier: Apache-2.0
#ifndef INERTIAL_PARAMETERS_HPP_
#define INERTIAL_PARAMETERS_HPP_

#include <array>

#include "robot_dynamics_controllers/payload_gravity.hpp"

namespace robot_dynamics_controllers
{

/// Ten inertial parameters: m, m c (3), J about the frame's origin (xx, xy, xz, yy, yz, zz), as
/// model/inertial_parameters.py of robot_dynamics_ros computes them: the same operations in the same order.
using Row = std::array<double, 10>;

Row ten_parameters(const Body & body);

/// The body (without a frame) that has the parameters `row`.
Body central_parameters(const Row & row);

/// The parameters in a frame where their own is `frame`.
Row moved(const Row & row, const robot_dynamics_frame & frame);

/// The largest principal moment minus the two others (kg m^2) of the inertia of a body; NaN on overflow.
double moments_excess(const Body & body);

}  // namespace robot_dynamics_controllers

#endif  // INERTIAL_PARAMETERS_HPP_
