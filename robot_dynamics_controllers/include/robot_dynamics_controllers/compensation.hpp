// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__COMPENSATION_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__COMPENSATION_HPP_

#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"
#include "robot_dynamics_controllers/presets.hpp"

namespace robot_dynamics_controllers
{

/// tau = M qdd + c(q, qd) + g(q) + friction(qd_friction), or a part of these terms; the bits of control/terms/compensation.py.
class Compensation
{
public:
  /// Allocates all memory that `torque` needs. `library` has to outlive this object.
  Compensation(const robot_dynamics_library & library, const Terms & terms);

  /// Writes tau (n; N m, prismatic joints: N) at q, qd, qdd (n each), with friction at qd_friction (n), and the run-time
  /// inputs (ROBOT_DYNAMICS_INPUTS); `memory` is that of ClosedLoops. Returns whether all numbers are finite. For the real-time thread.
  [[gnu::hot]] bool torque(
    const double * q, const double * qd, const double * qdd, const double * qd_friction, const double * inputs,
    void * memory, double * tau) noexcept;

private:
  const robot_dynamics_library & library_;
  Terms terms_;
  bool whole_torque_;             // load-dependent friction under the whole torque, of which this is a part
  std::vector<double> friction_;  // ROBOT_DYNAMICS_FRICTION_ROWS x n; zeros without the term friction
  std::vector<double> zeros_, transmitted_;
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__COMPENSATION_HPP_
