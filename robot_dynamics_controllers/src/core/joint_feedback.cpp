// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/joint_feedback.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "robot_dynamics_controllers/gain_limits.hpp"

namespace robot_dynamics_controllers
{
namespace
{

constexpr double TURN = 6.283185307179586;

std::vector<double> gains(const std::string & name, const std::vector<double> & stated, std::size_t joints)
{
  const auto usable = [](double gain) {return gain >= 0.0 && std::isfinite(gain);};
  if ((stated.size() != 1 && stated.size() != joints) || !std::all_of(stated.begin(), stated.end(), usable)) {
    throw std::invalid_argument(name + ": expected one finite number >= 0 or " + std::to_string(joints));
  }
  return stated.size() == joints ? stated : std::vector<double>(joints, stated.front());
}

}  // namespace

JointFeedback::JointFeedback(
  const robot_dynamics_library & library, const std::vector<double> & stiffness,
  const std::vector<double> & damping, double period, double delay)
: library_(library), stiffness_(gains("stiffness", stiffness, library.velocities)),
  damping_(gains("damping", damping, library.velocities)), turn_(library.velocities), acts_(false)
{
  for (std::size_t i = 0; i < turn_.size(); ++i) {
    turn_[i] = library.continuous[i] ? TURN : 0.0;
    acts_ = acts_ || stiffness_[i] > 0.0 || damping_[i] > 0.0;
  }
  require_stable(library, stiffness_, damping_, period, delay);
}

void JointFeedback::add(
  const double * q, const double * qd, const double * q_desired, const double * qd_desired,
  double * tau) const noexcept
{
  library_.joint_feedback(
    stiffness_.data(), damping_.data(), turn_.data(), q, qd, q_desired, qd_desired, tau, tau);
}

}  // namespace robot_dynamics_controllers
