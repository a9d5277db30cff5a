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

constexpr double HALF_A_TURN = 3.141592653589793;
constexpr double UNSTABLE = 2.0;  // eigenvalue of T M^-1 D
constexpr std::size_t SAMPLES = 2048;  // configurations
constexpr std::size_t STARTS = 32, LEAST_POLLS = 16;  // of the search for the largest eigenvalue
constexpr double FIRST_STEP = 1.0 / 8.0, LAST_STEP = 1.0 / 1024.0;  // of the search, in turns
constexpr std::size_t MOST_EVALUATIONS = 16384;
/// Joints above which samples and evaluations decrease with the square of their number, as the time of each grows with it:
/// the search takes a few seconds at most.
constexpr std::size_t MANY_JOINTS = 24;
constexpr double IMPROVED = 1.0 + 1e-6;  // ratio of two eigenvalues that is worth a step
constexpr int BISECTIONS = 30, HALVINGS = 10;
constexpr std::size_t OF_LOOPS = 8;  // of a mechanism, whose way to each configuration takes longer, as many fewer
constexpr double BEYOND_REASON = 1e200;  // eigenvalue, 1/s

using Entries = std::vector<double>;  // matrices row by row

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

  double at(std::size_t k, std::size_t j) const
  {
    return std::fmod(0.5 + (static_cast<double>(k) + 1.0) * steps_[j], 1.0);
  }

private:
  Entries steps_;
};

/// Writes the mass matrix (n x n) at q, where the loops are closed: its columns are the torques of unit accelerations.
void mass_matrix(const robot_dynamics_library & library, ClosedLoops & loops, const Entries & q, Entries & M)
{
  const std::size_t n = q.size();
  double inputs[ROBOT_DYNAMICS_INPUTS];
  std::copy_n(library.default_inputs, static_cast<std::size_t>(ROBOT_DYNAMICS_INPUTS), inputs);
  std::fill_n(inputs + ROBOT_DYNAMICS_GRAVITY, 3, 0.0);
  const Entries zeros(n, 0.0);
  Entries unit(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    unit[j] = 1.0;
    library.inverse_dynamics(q.data(), zeros.data(), unit.data(), inputs, loops.memory(), M.data() + j * n);
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

/// Eigenvalues of M(q)^-1 D, 1/s.
class Damped
{
public:
  Damped(const robot_dynamics_library & library, const Entries & D)
  : library_(library), loops_(library), D_(D), none_(D.size(), 0.0), M_(D.size() * D.size()), L_(M_) {}

  /// The largest eigenvalue at q, or `least` where it is below that: a M - D is positive definite above it.
  double largest(const Entries & q, double least)
  {
    if (!loops_.arrive(q.data())) {
      return least;  // no position of this mechanism
    }
    factors(q);
    double below = least, above = std::max(1.0, least);
    if (is_definite(least, M_, D_, L_)) {
      return least;
    }
    while (!is_definite(above, M_, D_, L_) && above < BEYOND_REASON) {
      below = above;
      above *= 2.0;
    }
    for (int step = 0; step < BISECTIONS; ++step) {
      const double middle = 0.5 * (below + above);
      (is_definite(middle, M_, D_, L_) ? above : below) = middle;
    }
    return above;
  }

  /// The joint that has the largest part in the eigenvalue at q.
  std::size_t joint(const Entries & q)
  {
    (void)loops_.arrive(q.data());
    factors(q);
    Entries parts(D_.size());
    for (std::size_t k = 0; k < D_.size(); ++k) {
      parts[k] = D_[k] * inverse_element(L_, D_.size(), k);
    }
    return static_cast<std::size_t>(std::max_element(parts.begin(), parts.end()) - parts.begin());
  }

  /// A position (n) as far towards q as the loops can be closed, halving the way from where they are closed at first.
  Entries within_reach(Entries q)
  {
    for (int k = 0; k < HALVINGS && !loops_.arrive(q.data()); ++k) {
      for (std::size_t j = 0; j < q.size(); ++j) {
        q[j] = 0.5 * (q[j] + loops_.home()[j]);
      }
    }
    return q;
  }

private:
  /// Writes the mass matrix at q and its factors.
  void factors(const Entries & q)
  {
    mass_matrix(library_, loops_, q, M_);
    if (!is_definite(1.0, M_, none_, L_)) {
      throw std::invalid_argument(
              "damping: the mass matrix of the library is singular: a joint has no inertia; state rotor inertias that "
              "the description lacks at the export");
    }
  }

  const robot_dynamics_library & library_;
  ClosedLoops loops_;
  const Entries & D_;
  const Entries none_;
  Entries M_, L_;
};

/// A configuration, and the largest eigenvalue there.
struct Candidate
{
  Entries q;
  double eigenvalue;
};

/// A number of evaluations for n joints.
std::size_t affordable(std::size_t evaluations, std::size_t n)
{
  return n <= MANY_JOINTS ? evaluations : std::max<std::size_t>(1, evaluations * MANY_JOINTS * MANY_JOINTS / (n * n));
}

/// The configurations with the largest eigenvalues among samples.
std::vector<Candidate> largest_samples(Damped & damped, std::size_t n, std::size_t count, std::size_t most)
{
  const Points points(n);
  std::vector<Candidate> found;
  const std::size_t samples = affordable(most, n);
  for (std::size_t k = 0; k < samples; ++k) {
    Entries q(n);
    for (std::size_t j = 0; j < n; ++j) {
      q[j] = HALF_A_TURN * (2.0 * points.at(k, j) - 1.0);
    }
    q = damped.within_reach(std::move(q));
    const double eigenvalue = damped.largest(q, 0.0);
    found.push_back({std::move(q), eigenvalue});
  }
  const auto larger = [](const Candidate & one, const Candidate & other) {return one.eigenvalue > other.eigenvalue;};
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(), larger);
  found.resize(count);
  return found;
}

/// Goes to a local maximum by compass search (Kolda, Lewis & Torczon 2003): the best of one step in each joint, forth
/// and back, and half of the step where none is better.
void climb(Damped & damped, Candidate & at, std::size_t evaluations)
{
  const std::size_t n = at.q.size();
  double step = FIRST_STEP;
  for (std::size_t left = evaluations; left >= 2 * n && step >= LAST_STEP; left -= 2 * n) {
    Candidate best = at;
    Entries q = at.q;
    for (std::size_t j = 0; j < n; ++j) {
      for (const double sign : {1.0, -1.0}) {
        q[j] = at.q[j] + sign * 2.0 * HALF_A_TURN * step;
        const double eigenvalue = damped.largest(q, best.eigenvalue * IMPROVED);
        if (eigenvalue > best.eigenvalue * IMPROVED) {
          best = {q, eigenvalue};
        }
      }
      q[j] = at.q[j];
    }
    if (best.eigenvalue > at.eigenvalue) {
      at = best;
    } else {
      step *= 0.5;
    }
  }
}

/// The largest eigenvalue of M(q)^-1 D over all configurations, 1/s, and the joint that has the largest part in it.
struct Largest
{
  double eigenvalue = 0.0;
  std::size_t joint = 0;
};

Largest largest_eigenvalue(const robot_dynamics_library & library, const Entries & D)
{
  Damped damped(library, D);
  Largest found;
  const std::size_t n = D.size(), part = library.mechanism != nullptr ? OF_LOOPS : 1;
  const std::size_t evaluations = affordable(MOST_EVALUATIONS / part, n);
  const std::size_t count = std::clamp<std::size_t>(evaluations / (2 * n * LEAST_POLLS), 1, STARTS);
  for (Candidate & start : largest_samples(damped, n, count, SAMPLES / part)) {
    climb(damped, start, evaluations / count);
    if (start.eigenvalue > found.eigenvalue) {
      found = {start.eigenvalue, damped.joint(start.q)};
    }
  }
  return found;
}

}  // namespace

double counted_period(double period, double delay)
{
  return delay > 0.0 ? std::sqrt(2.0) * (period + 2.0 * delay) : period;
}

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
  const double period = counted_period(update_period, delay);
  const std::string helper = "ask robot_dynamics_propose_gains for gains", rate = four_digits(1.0 / period) + " Hz";
  const std::string late = delay > 0.0 ? "torque_delay: " + four_digits(delay) + " s, with which " +
    four_digits(1.0 / update_period) + " Hz count as " + rate + ": " : "";
  const auto joint = [&](std::size_t k) {return std::string("joint '") + library.joint_names[k] + "': ";};
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const double damped = damping[k] + library.friction[ROBOT_DYNAMICS_VISCOUS * library.velocities + k];
    const double least = 0.5 * period * stiffness[k];
    if (stiffness[k] > 0.0 && !(damped > least)) {
      throw std::invalid_argument(
              late + "stiffness: " + joint(k) + four_digits(stiffness[k]) + " N m/rad at " + rate + " needs a damping above " +
              four_digits(least) + " N m s/rad (half of stiffness times period), got " + four_digits(damped) +
              " with viscous friction; raise the damping, lower the stiffness, or " + helper);
    }
  }
  const bool damped = std::any_of(damping.begin(), damping.end(), [](double gain) {return gain > 0.0;});
  const Largest found = damped ? largest_eigenvalue(library, damping) : Largest{};
  if (!(period * found.eigenvalue < UNSTABLE)) {
    const double gain = damping[found.joint];
    throw std::invalid_argument(
            late + "damping: " + joint(found.joint) + four_digits(gain) + " N m s/rad at " + rate +
            ": damping times period over inertia (largest eigenvalue of T M^-1 D) is " +
            four_digits(period * found.eigenvalue) + ", and sampled control is unstable from " + four_digits(UNSTABLE) +
            " on; use less than " + four_digits(gain * UNSTABLE / (period * found.eigenvalue)) +
            " N m s/rad or a rate above " + four_digits(0.5 * found.eigenvalue) +
            " Hz, state rotor inertias that the description lacks at the export, or " + helper);
  }
}

}  // namespace robot_dynamics_controllers
