/* SPDX-License-Identifier: Apache-2.0
 * The library of a pendulum of 2 kg and 0.5 m, horizontal at q = 0: tau = J qdd + m g l cos(q), with its payload. */
#include <math.h>

#include "robot_dynamics_controllers/dynamics_library.h"

enum {FIRST_MOMENT = ROBOT_DYNAMICS_LAST_LINK_INERTIA + 1, INERTIA = ROBOT_DYNAMICS_LAST_LINK_INERTIA + 7};  /* m l, J_yy */
static const char * const joint_names[] = {"joint"};
static const bool continuous[] = {true};
static const double effort_limits[] = {100.0}, velocity_limits[] = {10.0};
static const double friction[ROBOT_DYNAMICS_FRICTION_ROWS] = {0.0, 0.0, 0.0, 0.01, 0.0, 0.01, 0.0};
static const double default_inputs[ROBOT_DYNAMICS_INPUTS] = {0.0, 0.0, -9.81, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0,
  0.5};
static const robot_dynamics_frame frames[] = {{"bob", {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}}};

static bool inverse_dynamics(const double * q, const double * qd, const double * qdd, const double * inputs, double * tau)
{
  tau[0] = inputs[INERTIA] * qdd[0] - inputs[FIRST_MOMENT] * inputs[ROBOT_DYNAMICS_GRAVITY + 2] * cos(q[0]);
  return isfinite(qd[0]) && isfinite(tau[0]);
}

static bool gravity_torque(const double * q, const double * inputs, double * tau)
{
  const double still[] = {0.0};
  return inverse_dynamics(q, still, still, inputs, tau);
}

static const robot_dynamics_library library = {
  .version = ROBOT_DYNAMICS_LIBRARY_VERSION, .size = sizeof(robot_dynamics_library), .robot = "pendulum",
  .model_digest = "0000000000000000", .base_link = "base", .last_link = "bob", .joints = 1, .coordinates = 1,
  .velocities = 1, .frames = 1, .joint_names = joint_names, .continuous = continuous, .effort_limits = effort_limits,
  .velocity_limits = velocity_limits, .friction = friction, .default_inputs = default_inputs, .frame = frames,
  .gravity_torque = gravity_torque, .inverse_dynamics = inverse_dynamics};

const robot_dynamics_library * robot_dynamics_exported_library(void);
const robot_dynamics_library * robot_dynamics_exported_library(void) {return &library;}
