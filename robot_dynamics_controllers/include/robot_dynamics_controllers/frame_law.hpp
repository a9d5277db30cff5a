// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__FRAME_LAW_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__FRAME_LAW_HPP_

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"
#include "robot_dynamics_controllers/handover.hpp"
#include "robot_dynamics_controllers/presets.hpp"

namespace robot_dynamics_controllers
{

/// Of rotation about x, y and z (stiffness: N m/rad; wrench: N m), then of translation (N/m; N).
using FrameNumbers = std::array<double, 6>;

/// The law of a library that leads a frame along the reference, and what it remembers from update to update.
class FrameLaw
{
public:
  /// What messages changed, when the last torque was computed.
  struct Commands
  {
    FrameNumbers stiffness, stiffness_in_force;  // that it followed, and that it had
    FrameNumbers of_base, of_frame;  // the wrench that it had, the sum of one in the axes of the base and one in the frame's
  };

  /// The law with this name, for updates every `period` s whose torques act `delay` s late, in a controller that computes
  /// these terms. Throws std::invalid_argument where the library has another law or none, where the period is beyond its
  /// limit, and where it counts on a friction that nobody compensates. `library` has to outlive this object.
  FrameLaw(
    const robot_dynamics_library & library, const std::string & name, const Terms & terms, double period, double delay);

  // --- for other threads
  const char * name() const noexcept {return law_.name;}
  /// Whether messages change it: `commands` has what they did.
  bool takes_commands() const noexcept {return law_.commands != nullptr;}
  Commands commands() const noexcept;
  /// Follows a stiffness from now on, until the next activation, in the axes of the frame with this name ('': those of the
  /// library's). Throws std::invalid_argument, which names the axis, for one that is not finite, below 0, above that of the
  /// library, or 0 where nothing else damps the axis; and for other axes. For a law that takes commands.
  void want_stiffness(const std::string & frame, const FrameNumbers & stiffness);
  /// Adds a wrench from `now` on (s, on the clock of `elapse`), for `wrench_age`, in the axes of the base ('' or its name) or
  /// of the frame. Throws std::invalid_argument for one that is not finite or above the largest of the library, and for other
  /// axes. For a law that takes commands.
  void want_wrench(const std::string & frame, const FrameNumbers & wrench, double now);
  /// Time for which a wrench counts, s. For a law that takes commands.
  double wrench_age() const noexcept {return law_.commands->wrench_age;}
  /// What limits the law now: a stiffness that may not grow as it is wanted, since its springs would give the arm more energy
  /// than the library allows, or a frame near a singular position; '' for nothing.
  std::string warning() const;
  /// Sampling periods below this one are within the limit of the gains, s.
  double longest_period() const noexcept {return law_.longest_period;}

  // --- for the real-time thread
  /// Begins with the stiffness of the library, at an `elapse` that is `anew`: nothing from before counts.
  void activate() noexcept;
  /// The next torque is `time` (s) after the last one, at `now` (s, on the clock of the arm), after a `pause` (s). `anew`:
  /// the arm is held anew, so that a joint near its limit is not pushed out, and no wrench acts.
  void elapse(double time, double now, double pause, bool anew) noexcept;
  /// Adds the torque at q and qd to the model's terms tau (n), for run-time inputs and the reference, at which the arm is
  /// led, or held; `loops` is the memory of ClosedLoops. Returns whether all numbers are finite and loops closed.
  bool add(
    const double * q, const double * qd, const double * q_desired, const double * qd_desired, bool holds,
    const double * inputs, void * loops, double * tau) noexcept;
  /// Forgets what was computed since `elapse`: it is not sent.
  void restore() noexcept;

private:
  template<std::size_t count>
  struct Wanted
  {
    std::uint64_t number = 0;  // of its message; those before an activation do not count
    std::array<double, count> numbers{};
  };
  struct Messages
  {
    Wanted<6> stiffness;
    Wanted<13> wrench;  // in the axes of the base, then in those of the frame; the time until which it counts
  };

  template<std::size_t count>
  void want(Wanted<count> Messages::* which, const std::array<double, count> & numbers);
  template<std::size_t count>
  bool follow(const Wanted<count> & wanted, std::uint64_t & followed, std::uint32_t place) noexcept;
  void report() noexcept;

  const robot_dynamics_library & library_;
  const robot_dynamics_frame_law & law_;

  std::mutex wanting_;  // of the other threads
  Messages newest_;
  std::uint64_t count_ = 0;  // of messages
  Handover<Messages> messages_{Messages{}};
  std::array<std::atomic<double>, 24> reported_{};
  std::atomic<bool> waits_{false};
  std::atomic<double> light_;  // directions

  // of the real-time thread
  std::vector<double> memory_, before_torque_;
  std::uint64_t stiffness_ = 0, wrench_ = 0;  // messages that are in the memory
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__FRAME_LAW_HPP_
