// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/compensation.hpp"

#include <algorithm>
#include <cmath>

namespace robot_dynamics_controllers
{

Compensation::Compensation(const robot_dynamics_library & library, const Terms & terms)
: library_(library), terms_(terms), whole_torque_(false),
  friction_(library.friction, library.friction + ROBOT_DYNAMICS_FRICTION_ROWS * library.velocities),
  zeros_(library.velocities), transmitted_(library.velocities)
{
  const auto n = static_cast<std::ptrdiff_t>(library.velocities);
  const auto row = [&](int k) {return friction_.begin() + k * n;};
  if (!terms.friction) {
    for (int k : {ROBOT_DYNAMICS_VISCOUS, ROBOT_DYNAMICS_COULOMB, ROBOT_DYNAMICS_OFFSET,
        ROBOT_DYNAMICS_STRIBECK, ROBOT_DYNAMICS_LOAD_DEPENDENT, ROBOT_DYNAMICS_QUADRATIC})
    {
      std::fill(row(k), row(k) + n, 0.0);
    }
  }
  const auto load = row(ROBOT_DYNAMICS_LOAD_DEPENDENT);
  whole_torque_ = !(terms.gravity && terms.coriolis && terms.inertia) &&
    std::any_of(load, load + n, [](double part) {return part != 0.0;});
}

bool Compensation::torque(
  const double * q, const double * qd, const double * qdd, const double * qd_friction, const double * inputs,
  void * memory, double * tau) noexcept
{
  const std::size_t n = zeros_.size();
  double chosen[ROBOT_DYNAMICS_INPUTS];
  std::copy_n(inputs, static_cast<std::size_t>(ROBOT_DYNAMICS_INPUTS), chosen);
  if (!terms_.gravity) {
    std::fill_n(chosen + ROBOT_DYNAMICS_GRAVITY, 3, 0.0);
  }
  // inverse dynamics with zero gravity, qd or qdd omits the corresponding term
  const double * velocities = terms_.coriolis ? qd : zeros_.data();
  const double * accelerations = terms_.inertia ? qdd : zeros_.data();
  if (!library_.inverse_dynamics(q, velocities, accelerations, chosen, memory, tau)) {
    return false;
  }
  const double * transmitted = tau;
  if (whole_torque_) {
    if (!library_.inverse_dynamics(q, qd, qdd, inputs, memory, transmitted_.data())) {
      return false;
    }
    transmitted = transmitted_.data();
  }
  const robot_dynamics_mechanism * const mechanism = library_.mechanism;
  if (terms_.friction && mechanism != nullptr && mechanism->add_passive_friction != nullptr) {
    // gears transmit it
    mechanism->add_passive_friction(qd_friction, memory, tau);
    if (whole_torque_) {
      mechanism->add_passive_friction(qd_friction, memory, transmitted_.data());
    }
  }
  library_.add_joint_friction(friction_.data(), qd_friction, transmitted, tau);
  return std::all_of(tau, tau + n, [](double number) {return std::isfinite(number);});
}

}  // namespace robot_dynamics_controllers
