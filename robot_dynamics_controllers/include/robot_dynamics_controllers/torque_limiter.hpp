// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__TORQUE_LIMITER_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__TORQUE_LIMITER_HPP_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace robot_dynamics_controllers
{

/// |tau| <= effort limit, then |tau - last| <= rate limit * elapsed, as control/guards/torque_limiter.py: the same bits.
class TorqueLimiter
{
public:
  enum Limited : unsigned { EFFORT = 1u, RATE = 2u, NOT_FINITE = 4u };

  /// Limits of n joints: N m and N m/s (prismatic joints: N, N/s); effort above 0, inf: none; rate 0: none.
  TorqueLimiter(std::vector<double> effort_limit, std::vector<double> rate_limit);

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
  [[gnu::cold]] bool clamp(double * tau) noexcept;
  [[gnu::cold]] void add(unsigned found) noexcept;

  std::vector<double> effort_limit_, rate_limit_;
  std::vector<double> finite_limit_;  // effort_limit_, or the largest number
  std::vector<double> last_;
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
