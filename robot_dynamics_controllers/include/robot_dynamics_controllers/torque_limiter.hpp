// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__TORQUE_LIMITER_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__TORQUE_LIMITER_HPP_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"

namespace robot_dynamics_controllers
{

/// |tau| <= effort limit, then |tau - last| <= rate limit * elapsed, by the functions of the library; counts for other
/// threads what they limit.
class TorqueLimiter
{
public:
  enum Limited : unsigned { EFFORT = 1u, RATE = 2u, NOT_FINITE = 4u };

  /// Limits of n joints: N m and N m/s (prismatic joints: N, N/s); effort above 0, inf: none; rate 0: none.
  /// `library` has to outlive this object.
  TorqueLimiter(
    const robot_dynamics_library & library, std::vector<double> effort_limit, std::vector<double> rate_limit);

  /// Limits tau (n) to the effort limits alone, in place, with the same flags; returns whether tau is finite.
  [[gnu::hot]] bool limit_effort(double * tau) noexcept;

  /// Limits tau (n) in place; `elapsed` is the time since the last one, s. Returns whether tau is
  /// finite. If not, neither tau nor `last` is changed, and tau must not be sent. For the real-time thread.
  [[gnu::hot]] bool apply(double * tau, double elapsed) noexcept;

  /// The last torque that was sent (n); zero at first.
  const std::vector<double> & last() const noexcept {return last_;}
  void set_last(const double * tau) noexcept;

  /// For other threads: flags of each joint since the last reset, and how many efforts had each flag.
  unsigned limited(std::size_t joint) const noexcept;
  std::uint64_t count(Limited flag) const noexcept;
  void reset() noexcept;

  const std::vector<double> & effort_limit() const noexcept {return effort_limit_;}

private:
  double counted(double largest) noexcept;
  [[gnu::cold]] void count() noexcept;

  const robot_dynamics_library & library_;
  std::vector<double> effort_limit_, rate_limit_, last_;
  std::vector<double> limited_;  // flags of the last call, as numbers
  std::vector<std::atomic<unsigned>> by_joint_;
  std::atomic<std::uint64_t> effort_{0}, rate_{0}, not_finite_{0};
};

/// The effort limit of each joint: of `stated` (1 or n; 0: that of the library, inf: none), else `known` (n; 0:
/// unknown). Throws std::invalid_argument for a joint without limit, a wrong length, NaN and negative numbers.
std::vector<double> effort_limits(
  const std::vector<double> & stated, const double * known, const std::vector<std::string> & joints);

/// The rate limit of each joint (`stated`: 1 or n; 0: none); throws likewise.
std::vector<double> rate_limits(
  const std::vector<double> & stated, const std::vector<std::string> & joints);

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__TORQUE_LIMITER_HPP_
