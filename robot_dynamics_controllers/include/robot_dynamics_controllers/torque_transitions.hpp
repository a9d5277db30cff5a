// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__TORQUE_TRANSITIONS_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__TORQUE_TRANSITIONS_HPP_

#include <cstddef>
#include <vector>

namespace robot_dynamics_controllers
{

/// Fade-in after an activation, as control/guards/fade_in.py: tau = last + share (tau - last), share from 0 to 1.
class FadeIn
{
public:
  FadeIn(std::size_t joints, double duration);  // s; 0: torques are not changed
  bool runs() const noexcept {return elapsed_ < duration_;}
  void stop() noexcept {elapsed_ = duration_;}
  /// Begins with the next torque, from `last` (n).
  void restart(const double * last) noexcept;
  /// Blends tau (n) in place; `elapsed` is the time since the last torque, s.
  void apply(double * tau, double elapsed) noexcept;

private:
  double duration_, elapsed_;  // below 0: the first torque is still to come
  std::vector<double> last_;
};

/// Change from one source of the torque to another without a step: the difference between both at the change is
/// added to the new torque and decreases linearly to zero. The new torque acts in full at once.
class Transition
{
public:
  explicit Transition(std::size_t joints);
  bool runs() const noexcept {return elapsed_ < duration_;}
  void stop() noexcept {elapsed_ = duration_;}
  /// Begins now: the torque was `last` (n), the new source computes `target` (n). The difference is zero after
  /// `duration` (s, above 0), or when that of a change that is under way would have been, if that is later.
  void begin(const double * last, const double * target, double duration) noexcept;
  /// Adds what is left of the difference to tau (n); `elapsed` is the time since the last torque, s.
  void apply(double * tau, double elapsed) noexcept;

private:
  double duration_ = 0.0, elapsed_ = 0.0;
  std::vector<double> difference_;
};

/// A torque that decreases linearly to zero over `duration`, as control/guards/timeout_fallback.py:RampToZero.
class RampToZero
{
public:
  RampToZero(std::size_t joints, double duration);  // s, above 0
  void begin(const double * last) noexcept;
  /// Writes tau (n), `elapsed` after the last call, s. Returns whether it is zero.
  bool torque(double elapsed, double * tau) noexcept;

private:
  double duration_, elapsed_ = 0.0;
  std::vector<double> initial_;
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__TORQUE_TRANSITIONS_HPP_
