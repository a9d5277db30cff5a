// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__JOINT_FEEDBACK_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__JOINT_FEEDBACK_HPP_

#include <string>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"

namespace robot_dynamics_controllers
{

/// tau = Kp e + Kd de + tau_ff with e = q_d - q, modulo a turn for continuous joints, and de = qd_d - qd, by the library.
class JointFeedback
{
public:
  /// Gains Kp (N m/rad; N/m) and Kd (N m s/rad; N s/m), 1 or n each, at least 0, for updates every `period` s whose
  /// torques act `delay` s late. Throws std::invalid_argument for others, and as require_stable. `library` has to outlive
  /// this object.
  JointFeedback(
    const robot_dynamics_library & library, const std::vector<double> & stiffness,
    const std::vector<double> & damping, double period, double delay);

  /// Whether a gain is above 0; else nothing is added.
  bool acts() const noexcept {return acts_;}

  /// Adds Kp e + Kd de to the feedforward torque tau; n each. For the real-time thread.
  void add(
    const double * q, const double * qd, const double * q_desired, const double * qd_desired,
    double * tau) const noexcept;

private:
  const robot_dynamics_library & library_;
  std::vector<double> stiffness_, damping_, turn_;
  bool acts_;
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__JOINT_FEEDBACK_HPP_
