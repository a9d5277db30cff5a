// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/gain_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace robot_dynamics_controllers
{
namespace
{

constexpr double HALF_A_TURN = 3.141592653589793;
constexpr double UNSTABLE = 2.0;  // eigenvalue of T M^-1 D
constexpr int SAMPLES = 1024;    // configurations
constexpr int BISECTIONS = 30;
constexpr double BEYOND_REASON = 1e200;  // eigenvalue, 1/s

using Entries = std::vector<double>;  // matrices row by row

std::string four_digits(double number)
{
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

/// Points of the unit cube by the additive recurrence R of Roberts (2018).
class Points
{
public:
  explicit Points(std::size_t dimensions)
  : steps_(dimensions)
  {
    const double d = static_cast<double>(dimensions);
    double root = 2.0;
    for (int k = 0; k < 50; ++k) {
      root = std::pow(1.0 + root, 1.0 / (d + 1.0));
    }
    for (std::size_t j = 0; j < dimensions; ++j) {
      steps_[j] = std::pow(root, -(static_cast<double>(j) + 1.0));
    }
  }

  double at(int k, std::size_t j) const {return std::fmod(0.5 + (k + 1) * steps_[j], 1.0);}

private:
  Entries steps_;
};

/// Writes the mass matrix (n x n) at q: its columns are the torques of unit accelerations.
void mass_matrix(const robot_dynamics_library & library, const Entries & q, Entries & M)
{
  const std::size_t n = q.size();
  double inputs[ROBOT_DYNAMICS_INPUTS];
  std::copy_n(library.default_inputs, static_cast<std::size_t>(ROBOT_DYNAMICS_INPUTS), inputs);
  std::fill_n(inputs + ROBOT_DYNAMICS_GRAVITY, 3, 0.0);
  const Entries zeros(n, 0.0);
  Entries unit(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    unit[j] = 1.0;
    library.inverse_dynamics(q.data(), zeros.data(), unit.data(), inputs, M.data() + j * n);
    unit[j] = 0.0;
  }
}

/// Whether a M - D with D diagonal is positive definite, by Cholesky's factors, which are written to L.
bool is_definite(double a, const Entries & M, const Entries & D, Entries & L)
{
  const std::size_t n = D.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a * M[i * n + j] - (i == j ? D[i] : 0.0);
      for (std::size_t k = 0; k < j; ++k) {
        sum -= L[i * n + k] * L[j * n + k];
      }
      if (i == j && !(sum > 0.0)) {
        return false;
      }
      L[i * n + j] = i == j ? std::sqrt(sum) : sum / L[j * n + j];
    }
  }
  return true;
}

/// The diagonal element k of M^-1, from the factors of M: the square of L^-1 e_k.
double inverse_element(const Entries & L, std::size_t n, std::size_t k)
{
  Entries x(n, 0.0);
  double square = 0.0;
  for (std::size_t i = k; i < n; ++i) {
    x[i] = i == k ? 1.0 : 0.0;
    for (std::size_t j = k; j < i; ++j) {
      x[i] -= L[i * n + j] * x[j];
    }
    x[i] /= L[i * n + i];
    square += x[i] * x[i];
  }
  return square;
}

/// The largest eigenvalue of M(q)^-1 D over all configurations, 1/s, and the joint that has the largest part in it.
struct Largest
{
  double eigenvalue = 0.0;
  std::size_t joint = 0;
};

/// An eigenvalue is below a where a M - D is positive definite.
Largest largest_eigenvalue(const robot_dynamics_library & library, const Entries & D)
{
  const std::size_t n = D.size();
  const Points points(n);
  Entries q(n), M(n * n), L(n * n), worst(n * n);
  Largest found;
  for (int k = 0; k < SAMPLES; ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      q[j] = HALF_A_TURN * (2.0 * points.at(k, j) - 1.0);
    }
    mass_matrix(library, q, M);
    if (!is_definite(1.0, M, Entries(n, 0.0), L)) {
      throw std::invalid_argument(
              "damping: the mass matrix of the library is singular: a joint has no inertia; state rotor inertias that "
              "the description lacks at the export");
    }
    if (is_definite(found.eigenvalue, M, D, L)) {
      continue;
    }
    double below = found.eigenvalue, above = std::max(1.0, 2.0 * below);
    while (!is_definite(above, M, D, L) && above < BEYOND_REASON) {
      below = above;
      above *= 2.0;
    }
    for (int step = 0; step < BISECTIONS; ++step) {
      const double middle = 0.5 * (below + above);
      (is_definite(middle, M, D, L) ? above : below) = middle;
    }
    found.eigenvalue = above;
    worst = M;
  }
  if (found.eigenvalue > 0.0) {
    is_definite(1.0, worst, Entries(n, 0.0), L);
    Entries parts(n);
    for (std::size_t k = 0; k < n; ++k) {
      parts[k] = D[k] * inverse_element(L, n, k);
    }
    found.joint = static_cast<std::size_t>(std::max_element(parts.begin(), parts.end()) - parts.begin());
  }
  return found;
}

}  // namespace

void require_stable(
  const robot_dynamics_library & library, const std::vector<double> & stiffness,
  const std::vector<double> & damping, double period)
{
  const std::string helper = "ask robot_dynamics_propose_gains for gains", rate = four_digits(1.0 / period) + " Hz";
  const auto joint = [&](std::size_t k) {return std::string("joint '") + library.joint_names[k] + "': ";};
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const double damped = damping[k] + library.friction[ROBOT_DYNAMICS_VISCOUS * library.velocities + k];
    const double least = 0.5 * period * stiffness[k];
    if (stiffness[k] > 0.0 && !(damped > least)) {
      throw std::invalid_argument(
              "stiffness: " + joint(k) + four_digits(stiffness[k]) + " N m/rad at " + rate + " needs a damping above " +
              four_digits(least) + " N m s/rad (half of stiffness times period), got " + four_digits(damped) +
              " with viscous friction; raise the damping, lower the stiffness, or " + helper);
    }
  }
  const bool damped = std::any_of(damping.begin(), damping.end(), [](double gain) {return gain > 0.0;});
  const Largest found = damped ? largest_eigenvalue(library, damping) : Largest{};
  if (!(period * found.eigenvalue < UNSTABLE)) {
    const double gain = damping[found.joint];
    throw std::invalid_argument(
            "damping: " + joint(found.joint) + four_digits(gain) + " N m s/rad at " + rate +
            ": damping times period over inertia (largest eigenvalue of T M^-1 D) is " +
            four_digits(period * found.eigenvalue) + ", and sampled control is unstable from " + four_digits(UNSTABLE) +
            " on; use less than " + four_digits(gain * UNSTABLE / (period * found.eigenvalue)) +
            " N m s/rad or a rate above " + four_digits(0.5 * found.eigenvalue) +
            " Hz, state rotor inertias that the description lacks at the export, or " + helper);
  }
}

}  // namespace robot_dynamics_controllers
