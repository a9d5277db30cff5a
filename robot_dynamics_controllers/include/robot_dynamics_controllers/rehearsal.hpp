// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__REHEARSAL_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__REHEARSAL_HPP_

#include "robot_dynamics_controllers/effort_law.hpp"

namespace robot_dynamics_controllers
{

/// Computes efforts with and without a reference once, by a law of its own, so that code and constants are in memory
/// before the first cycle. Throws as EffortLaw.
void rehearse(const DynamicsLibrary & library, const Settings & settings);

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__REHEARSAL_HPP_
