// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__PAYLOAD_GRAVITY_HPP_
#define ROBOT_DYNAMICS_CONTROLLERS__PAYLOAD_GRAVITY_HPP_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "robot_dynamics_controllers/dynamics_library.h"

namespace robot_dynamics_controllers
{

/// A rigid body on a frame, with the fields of the message robot_dynamics_interfaces/Payload.
struct Body
{
  std::string frame;               ///< fixed to the last link; '': the last link
  double mass = 0.0;               ///< kg; 0: no body
  std::array<double, 3> com{};     ///< centre of mass in the frame, m
  std::array<double, 6> inertia{};  ///< about com: ixx, iyy, izz, ixy, ixz, iyz; kg m^2
};

/// The change of the payload from `before` to `after`, which begins at `start` and lasts `duration` (ns both, ROS
/// time), as the message PayloadState has it. A duration of 0: at once.
struct PayloadRamp
{
  Body after;
  std::vector<Body> before;
  std::int64_t start = 0, duration = 0;
};

/// The same of gravity in the base link (m/s^2), as the message GravityState has it.
struct GravityRamp
{
  std::string frame;  ///< header.frame_id: the base link, or ''
  std::array<double, 3> after{}, before{};
  std::int64_t start = 0, duration = 0;
};

/// Nanoseconds of `ramp_time` (s) of a message; throws std::invalid_argument unless it is 0 to 3600 s.
std::int64_t ramp_duration(double ramp_time);

/// What became of a ramp that was given to a controller.
struct Taken
{
  bool accepted = true;
  bool early = false;   ///< refused since it begins more than 1 s from now: give it again later
  std::string message;  ///< why it is refused; of an accepted one a warning, '' for none
};

/// Run-time inputs of the exported functions at the ends of both ramps: what the real-time thread computes with.
struct Corners
{
  struct Corner
  {
    bool payload_after, gravity_after;
    std::array<double, ROBOT_DYNAMICS_INPUTS> inputs;
  };
  struct Span
  {
    std::int64_t start, duration;
    std::int64_t ramp;  ///< number of the ramp: the same one where only the clock was set
    double first = 0.0;  ///< share at which it began when it was accepted
    double share(std::int64_t time) const noexcept;  ///< weight of the value after the ramp, 0 to 1
  };
  Span payload, gravity;
  int count;  ///< 1, 2 or 4
  std::array<Corner, 4> corner;
};

/// Payload and gravity over time, as the nodes follow payload_state and gravity_state (control/payload/payload_gravity.py,
/// control/payload/ramp.py, nodes/inputs/payload_gravity_input.py): the same refusals, the same ramps instead of steps, the same
/// bits. Not for the real-time thread, which gets `corners`.
class PayloadGravity
{
public:
  /// Begins with no payload under the gravity of the library, which has to outlive this object.
  explicit PayloadGravity(const robot_dynamics_library & library);

  /// Follows a ramp. `now` is ROS time, ns. `share`: that of the ramp in force, where efforts with its value have been
  /// sent, so that a ramp that does not continue it is replaced by one that does. A duration of 0 asks for a step, but that
  /// of the first ramp, which may have been set long before.
  Taken take(const PayloadRamp & ramp, std::int64_t now, std::optional<double> share);
  Taken take(const GravityRamp & ramp, std::int64_t now, std::optional<double> share);

  /// Keeps the progress of both ramps on a clock that was set from `before` to `after` (ns). `in_use`: ramps that are
  /// over by this clock may still be under way.
  void clock_set(std::int64_t before, std::int64_t after, bool in_use);

  /// Replaces ramps that are over at `now` (ns) by their last value; returns whether there was one.
  bool end_finished_ramps(std::int64_t now);

  Corners corners() const;
  const Corners::Span & payload_span() const {return payload_.span;}
  const Corners::Span & gravity_span() const {return gravity_.span;}

  /// Payloads and gravity (m/s^2) after their ramps, for info and diagnostics.
  const std::vector<Body> & payloads() const {return carried_;}
  std::array<double, 3> gravity() const;

  using Numbers = std::vector<double>;  // of gravity, or the ten inertial parameters of the payload of each frame
  struct Ramp
  {
    bool is_of_bodies = false;
    Numbers after, before;
    Corners::Span span{0, 0, 0};
  };

private:
  std::size_t frame_of(const Body & body) const;  // throws std::invalid_argument, as the next two
  void require_inertia(const std::array<double, 10> & body) const;
  void require_body(const Body & body) const;
  std::array<double, 10> last_link(const Numbers & payload) const;
  Taken followed(Ramp & held, Ramp told, std::int64_t now, std::optional<double> share, bool is_first) const;

  const robot_dynamics_library & library_;
  Ramp payload_, gravity_;
  std::vector<Body> carried_;  // after the ramp
  PayloadRamp applied_payload_;  // the last messages that were accepted: the same one again changes nothing
  GravityRamp applied_gravity_;
};

}  // namespace robot_dynamics_controllers

#endif  // ROBOT_DYNAMICS_CONTROLLERS__PAYLOAD_GRAVITY_HPP_
