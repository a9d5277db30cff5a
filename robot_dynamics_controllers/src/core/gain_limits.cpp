// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/gain_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "robot_dynamics_controllers/closed_loops.hpp"

namespace robot_dynamics_controllers
{
namespace
{

constexpr double LIMIT = 2.0;  // of the largest eigenvalue of T M^-1 D
constexpr int HALVINGS = 10;

/// The mass matrix of a library at positions all over their ranges, and what limits gains with a damping there.
class DampedInertia
{
public:
  DampedInertia(const robot_dynamics_library & library, const std::vector<double> & damping)
  : library_(library), loops_(library), n_(damping.size()), damping_(damping), none_(n_), M_(n_ * n_), L_(M_), x_(n_) {}

  /// Replaces `value` by the largest eigenvalue at q (n), which has to be above it to count.
  void compare(double * q, double & value)
  {
    within_reach(q);
    if (loops_.arrive(q) && library_.mass_matrix(q, loops_.memory(), M_.data())) {
      library_.write_largest_eigenvalue(damping_.data(), none_.data(), L_.data(), M_.data(), &value);
    }
    if (value < 0.0) {
      throw std::invalid_argument(
              "damping: the mass matrix of the library is singular: a joint has no inertia; state rotor inertias that "
              "the description lacks at the export");
    }
  }

  /// The joint that has the largest part in the eigenvalue at q (n).
  std::size_t joint(const double * q)
  {
    (void)(loops_.arrive(q) && library_.mass_matrix(q, loops_.memory(), M_.data()));
    return static_cast<std::size_t>(
      library_.most_damped_joint(damping_.data(), none_.data(), L_.data(), x_.data(), M_.data()));
  }

private:
  /// Moves q (n) to where the loops can be closed, halving the way from where they are closed at first.
  void within_reach(double * q)
  {
    for (int k = 0; k < HALVINGS && !loops_.arrive(q); ++k) {
      for (std::size_t j = 0; j < n_; ++j) {
        q[j] = 0.5 * (q[j] + loops_.home()[j]);
      }
    }
  }

  const robot_dynamics_library & library_;
  ClosedLoops loops_;
  const std::size_t n_;
  const std::vector<double> & damping_;
  const std::vector<double> none_;
  std::vector<double> M_, L_, x_;
};

/// The largest eigenvalue of M(q)^-1 D over all configurations, 1/s, and the joint that has the largest part in it.
struct Largest
{
  double eigenvalue = 0.0;
  std::size_t joint = 0;
};

Largest largest_eigenvalue(const robot_dynamics_library & library, const std::vector<double> & damping)
{
  DampedInertia inertia(library, damping);
  const std::size_t n = damping.size(), room = std::max<std::size_t>(library.samples, 2 * n * library.starts);
  std::vector<double> positions(room * n), values(room), starts(library.starts * n), found(library.starts), step(found);
  double left = 0.0;
  int rows = 0;
  do {
    for (int k = 0; k < rows; ++k) {
      inertia.compare(&positions[static_cast<std::size_t>(k) * n], values[static_cast<std::size_t>(k)]);
    }
    rows = static_cast<int>(
      library.next_positions(
        static_cast<int>(library.samples), static_cast<int>(library.most_values), library.search_range,
        library.search_range + n, positions.data(), values.data(), starts.data(), found.data(), step.data(), &left, rows));
  } while (rows > 0);
  const auto best = static_cast<std::size_t>(std::max_element(found.begin(), found.end()) - found.begin());
  return {found[best], inertia.joint(&starts[best * n])};
}

}  // namespace

std::string four_digits(double number)
{
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

void require_stable(
  const robot_dynamics_library & library, const std::vector<double> & stiffness,
  const std::vector<double> & damping, double update_period, double delay)
{
  const double period = library.counted_period(update_period, delay);
  const auto is_stable = [&](double longest) {return update_period < library.delayed_period(longest, delay);};
  const std::string helper = "ask robot_dynamics_propose_gains for gains", rate = four_digits(1.0 / period) + " Hz";
  const std::string late = delay > 0.0 ? "torque_delay: " + four_digits(delay) + " s, with which " +
    four_digits(1.0 / update_period) + " Hz count as " + rate + ": " : "";
  const auto joint = [&](std::size_t k) {return std::string("joint '") + library.joint_names[k] + "': ";};
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const double damped = damping[k] + library.friction[ROBOT_DYNAMICS_VISCOUS * library.velocities + k];
    if (stiffness[k] > 0.0 && !is_stable(LIMIT * damped / stiffness[k])) {
      throw std::invalid_argument(
              late + "stiffness: " + joint(k) + four_digits(stiffness[k]) + " N m/rad at " + rate + " needs a damping above " +
              four_digits(0.5 * period * stiffness[k]) + " N m s/rad (half of stiffness times period), got " +
              four_digits(damped) + " with viscous friction; raise the damping, lower the stiffness, or " + helper);
    }
  }
  const bool damped = std::any_of(damping.begin(), damping.end(), [](double gain) {return gain > 0.0;});
  const Largest found = damped ? largest_eigenvalue(library, damping) : Largest{};
  if (damped && !is_stable(LIMIT / found.eigenvalue)) {
    const double gain = damping[found.joint];
    throw std::invalid_argument(
            late + "damping: " + joint(found.joint) + four_digits(gain) + " N m s/rad at " + rate +
            ": damping times period over inertia (largest eigenvalue of T M^-1 D) is " +
            four_digits(period * found.eigenvalue) + ", and sampled control is unstable from " + four_digits(LIMIT) +
            " on; use less than " + four_digits(gain * LIMIT / (period * found.eigenvalue)) +
            " N m s/rad or a rate above " + four_digits(0.5 * found.eigenvalue) +
            " Hz, state rotor inertias that the description lacks at the export, or " + helper);
  }
}

}  // namespace robot_dynamics_controllers
