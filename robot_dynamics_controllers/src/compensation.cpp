// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/compensation.hpp"

#include <algorithm>
#include <cmath>

namespace robot_dynamics_controllers
{

double friction_of(
  double viscous, double coulomb, double offset, double transition, double stribeck,
  double stribeck_velocity, double load, double quadratic, double qd, double tau) noexcept
{
  // the sums of products that robot_dynamics_ros rounds once are fma here
  const double magnitude = std::sqrt(tau * tau);
  const double speed = qd / stribeck_velocity;
  const double level =
    std::fma(load, magnitude, coulomb) + stribeck / std::fma(speed, speed, 1.0);
  const double sign = qd / std::sqrt(std::fma(qd, qd, transition * transition));
  const double slope = std::fma(quadratic, std::sqrt(qd * qd), viscous);
  return std::fma(slope, qd, level * sign) + offset;
}

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
  double * tau) noexcept
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
  if (!library_.inverse_dynamics(q, velocities, accelerations, chosen, tau)) {
    return false;
  }
  const double * transmitted = tau;
  if (whole_torque_) {
    if (!library_.inverse_dynamics(q, qd, qdd, inputs, transmitted_.data())) {
      return false;
    }
    transmitted = transmitted_.data();
  }
  const double * rows = friction_.data();
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = [&](int k) {return rows[static_cast<std::size_t>(k) * n + i];};
    tau[i] += friction_of(
      row(ROBOT_DYNAMICS_VISCOUS), row(ROBOT_DYNAMICS_COULOMB), row(ROBOT_DYNAMICS_OFFSET),
      row(ROBOT_DYNAMICS_TRANSITION), row(ROBOT_DYNAMICS_STRIBECK),
      row(ROBOT_DYNAMICS_STRIBECK_VELOCITY), row(ROBOT_DYNAMICS_LOAD_DEPENDENT),
      row(ROBOT_DYNAMICS_QUADRATIC), qd_friction[i], transmitted[i]);
    finite = finite && std::isfinite(tau[i]);
  }
  return finite;
}

}  // namespace robot_dynamics_controllers
