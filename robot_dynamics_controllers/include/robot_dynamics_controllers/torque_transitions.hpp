// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__TORQUE_TRANSITIONS_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__TORQUE_TRANSITIONS_HPP_

#include <algorithm>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"

namespace robot_dynamics_controllers
{

/// A torque that changes over a stated time, by a function of the library, which has to outlive this object. `elapsed` is
/// the time since the last torque, s; torques are (n).
class Change
{
public:
  Change(const robot_dynamics_library & library, double duration)  // s
  : library_(library), progress_{duration, duration}, torque_(library.velocities) {}

  bool runs() const noexcept {return progress_[0] < progress_[1];}
  void stop() noexcept {progress_[0] = progress_[1];}

protected:
  void begin_at(double time, const double * torque) noexcept
  {
    std::copy_n(torque, torque_.size(), torque_.begin());
    progress_[0] = time;
  }

  const robot_dynamics_library & library_;
  double progress_[2];
  std::vector<double> torque_;
};

/// Fade-in after an activation; a duration of 0: torques are not changed.
class FadeIn : public Change
{
public:
  using Change::Change;
  /// Begins with the next torque, from `last`.
  void restart(const double * last) noexcept {begin_at(progress_[1] > 0.0 ? -1.0 : 0.0, last);}
  /// Blends tau in place.
  void apply(double * tau, double elapsed) noexcept
  {
    if (runs()) {
      library_.fade_in(torque_.data(), progress_, tau, elapsed);
    }
  }
};

/// Change from one source of the torque to another without a step: the difference between both at the change is
/// added to the new torque and decreases linearly to zero. The new torque acts in full at once.
class Transition : public Change
{
public:
  explicit Transition(const robot_dynamics_library & library)
  : Change(library, 0.0) {}
  /// Begins now: the torque was `last`, the new source computes `target`. The difference is zero after `duration` (s,
  /// above 0), or when that of a change that is under way would have been, if that is later.
  void begin(const double * last, const double * target, double duration) noexcept
  {
    library_.begin_transition(last, target, duration, torque_.data(), progress_);
  }
  /// Adds what is left of the difference to tau.
  void apply(double * tau, double elapsed) noexcept
  {
    if (runs()) {
      library_.transition(torque_.data(), progress_, tau, elapsed);
    }
  }
};

/// A torque that decreases linearly to zero over a duration above 0.
class RampToZero : public Change
{
public:
  using Change::Change;
  void begin(const double * last) noexcept {begin_at(0.0, last);}
  /// Writes tau. Returns whether it is zero.
  bool torque(double elapsed, double * tau) noexcept
  {
    return library_.ramp_to_zero(torque_.data(), progress_, tau, elapsed) <= 0.0;
  }
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__TORQUE_TRANSITIONS_HPP_
