// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/payload_gravity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "ramps.hpp"

namespace robot_dynamics_controllers
{
namespace
{

constexpr double LARGEST = 1e8;     // kg, m, kg m, kg m^2
constexpr double SMALLEST = 1e-9;   // kg
constexpr double INERTIA_ROUNDING = 1.5e-6;  // kg m^2, of six printed decimals
constexpr double LONGEST = 3600.0;  // s
constexpr std::int64_t AHEAD = 1'000'000'000;    // ns by which a ramp may begin later than now
constexpr std::int64_t NO_MESSAGE = -1;          // duration of a ramp that has not come yet
constexpr std::int64_t SHORTEST = 500'000'000;   // ns, of a ramp that replaces a step

std::string shown(double number)
{
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

[[noreturn]] void refuse(const std::string & why)
{
  throw std::invalid_argument(why);
}

template<typename Numbers>
void require_finite(const std::string & name, const Numbers & numbers)
{
  if (!std::all_of(numbers.begin(), numbers.end(), [](double x) {return std::isfinite(x);})) {
    refuse(name + ": expected finite numbers");
  }
}

auto fields(const Body & body)
{
  return std::tie(body.frame, body.mass, body.com, body.inertia);
}

bool same(const PayloadRamp & a, const PayloadRamp & b)
{
  return a.start == b.start && a.duration == b.duration && fields(a.after) == fields(b.after) &&
         std::equal(
    a.before.begin(), a.before.end(), b.before.begin(), b.before.end(),
    [](const Body & x, const Body & y) {return fields(x) == fields(y);});
}

bool same(const GravityRamp & a, const GravityRamp & b)
{
  return a.start == b.start && a.duration == b.duration && a.after == b.after && a.before == b.before;
}

void require_duration(std::int64_t duration)
{
  if (duration < 0 || duration > std::int64_t{3600} * 1'000'000'000) {
    refuse("ramp_time: expected 0 to " + shown(LONGEST) + " s, got " + shown(1e-9 * static_cast<double>(duration)));
  }
}

/// A time (ns) that is later by `by`, or the last or first one there is.
std::int64_t later(std::int64_t time, std::int64_t by)
{
  constexpr auto FIRST = std::numeric_limits<std::int64_t>::min(), LAST = std::numeric_limits<std::int64_t>::max();
  return by > 0 && time > LAST - by ? LAST : by < 0 && time < FIRST - by ? FIRST : time + by;
}

}  // namespace

std::int64_t ramp_duration(double ramp_time)
{
  if (!(ramp_time >= 0.0 && ramp_time <= LONGEST)) {
    refuse("ramp_time: expected 0 to " + shown(LONGEST) + " s, got " + shown(ramp_time));
  }
  return std::llrint(ramp_time * 1e9);
}

PayloadGravity::PayloadGravity(const robot_dynamics_library & library)
: library_(library)
{
  std::copy_n(library.default_inputs + ROBOT_DYNAMICS_GRAVITY, 3, gravity_.after.begin());
  gravity_.before = gravity_.after;
  applied_payload_.duration = applied_gravity_.duration = NO_MESSAGE;
}

Body PayloadGravity::checked(const Body & given) const
{
  Body body = given;
  if (!(body.mass >= 0.0 && std::isfinite(body.mass))) {
    refuse("mass: expected a finite number, at least 0 kg, got " + shown(body.mass));
  }
  require_finite("com", body.com);
  require_finite("inertia", body.inertia);
  if (body.mass == 0.0 && largest_of(body.inertia) != 0.0) {
    refuse("inertia: expected zeros, since the mass is 0");
  }
  if (!library_.is_inertia(numbers_of(body).data(), INERTIA_ROUNDING)) {
    refuse("inertia: expected principal moments none of which exceeds the sum of the others");
  }
  const Row row = ten_parameters(library_, body);
  if (!(largest_of(body.com) <= LARGEST &&
    std::all_of(row.begin(), row.end(), [](double x) {return std::abs(x) <= LARGEST;})))
  {
    refuse(
      "mass, com, inertia: expected at most " + shown(LARGEST) +
      " kg, m, kg m, kg m^2 about the origin of the frame");
  }
  if (body.mass > 0.0 && body.mass < SMALLEST) {
    refuse("mass: expected 0 or at least " + shown(SMALLEST) + " kg, got " + shown(body.mass));
  }
  if (body.frame.empty()) {
    body.frame = library_.last_link;
  }
  const auto * end = library_.frame + library_.frames;
  const bool carries = std::any_of(
    library_.frame, end, [&](const robot_dynamics_frame & frame) {return body.frame == frame.name;});
  if (body.mass > 0.0 && !carries) {
    refuse(
      "frame: '" + body.frame + "' is not fixed to the last link '" + library_.last_link +
      "'; add this body to its link in the URDF and export it again");
  }
  return body;
}

Row PayloadGravity::last_link(const Bodies & bodies) const
{
  Row row;
  std::copy_n(library_.default_inputs + ROBOT_DYNAMICS_LAST_LINK_INERTIA, row.size(), row.begin());
  for (const Body & body : bodies) {
    const auto * frame = std::find_if(
      library_.frame, library_.frame + library_.frames,
      [&](const robot_dynamics_frame & other) {return body.frame == other.name;});
    Row own;
    std::array<double, 9> P;
    library_.write_moved_row(
      ten_parameters(library_, body).data(), frame->rotation, frame->position, P.data(), own.data());
    for (std::size_t k = 0; k < row.size(); ++k) {
      row[k] += own[k];
    }
  }
  return row;
}

template<typename Value, typename Message>
Taken PayloadGravity::followed(
  Ramp<Value> & held, Ramp<Value> told, Message & applied, const Message & message, std::int64_t now,
  std::optional<double> share)
{
  const auto ahead = static_cast<double>(told.span.start) - static_cast<double>(now);
  if (told.span.duration && ahead > static_cast<double>(AHEAD)) {
    return {
      false, true,
      "its ramp begins " + shown(1e-9 * ahead) + " s later than now: it is of another clock, or of this one "
      "before it was set back; activate dynamics_server on the same clock"};
  }
  Taken taken;
  if (share) {
    const Value value = at(library_, held, *share);
    // the first message may be of a payload that was set long ago
    const bool is_first = applied.duration == NO_MESSAGE;
    if (!continues(library_, told, held, value, now, !is_first)) {
      const std::int64_t left = told.span.duration && told.span.start + told.span.duration > now ?
        told.span.start + told.span.duration - now : 0;
      told.before = value;
      told.span = {now, std::max(left, SHORTEST), 0};
      taken.message = "does not begin at the value in force: ramp over " +
        shown(1e-9 * static_cast<double>(told.span.duration)) +
        " s; it is late, or from a dynamics_server that has started anew or runs beside another one";
    }
  }
  told.span.ramp = held.span.ramp + 1;
  told.span.first = told.span.share(now);
  held = told;
  applied = message;
  return taken;
}

Taken PayloadGravity::take(const PayloadRamp & ramp, std::int64_t now, std::optional<double> share)
{
  if (same(ramp, applied_payload_)) {
    return {};
  }
  Ramp<Bodies> told;
  told.span = {ramp.start, ramp.duration, 0};
  try {
    require_duration(ramp.duration);
    const Body after = checked(ramp.after);
    if (after.mass > 0.0) {
      told.after.push_back(after);
    }
    for (std::size_t k = 0; k < ramp.before.size(); ++k) {
      try {
        const Body before = checked(ramp.before[k]);
        if (before.mass > 0.0) {
          add(library_, told.before, before);
        }
      } catch (const std::invalid_argument & error) {
        refuse("before[" + std::to_string(k) + "]: " + error.what());
      }
    }
  } catch (const std::invalid_argument & error) {
    return {false, false, error.what()};
  }
  return followed(payload_, told, applied_payload_, ramp, now, share);
}

Taken PayloadGravity::take(const GravityRamp & ramp, std::int64_t now, std::optional<double> share)
{
  if (same(ramp, applied_gravity_)) {
    return {};
  }
  Ramp<Vector> told;
  told.after = ramp.after;
  told.before = ramp.before;
  told.span = {ramp.start, ramp.duration, 0};
  try {
    if (!ramp.frame.empty() && ramp.frame != library_.base_link) {
      refuse(
        std::string("gravity: expected it in the base link '") + library_.base_link + "', got frame '" +
        ramp.frame + "'");
    }
    require_duration(ramp.duration);
    require_finite("gravity", ramp.after);
    require_finite("before", ramp.before);
  } catch (const std::invalid_argument & error) {
    return {false, false, error.what()};
  }
  return followed(gravity_, told, applied_gravity_, ramp, now, share);
}

void PayloadGravity::clock_set(std::int64_t before, std::int64_t after, bool in_use)
{
  if (!in_use) {
    end_finished_ramps(before);
  }
  for (Corners::Span * span : {&payload_.span, &gravity_.span}) {
    if (span->duration != 0) {  // without a duration there is no progress to keep
      span->start = later(span->start, after - before);
    }
  }
}

bool PayloadGravity::end_finished_ramps(std::int64_t now)
{
  bool any = false;
  for (Corners::Span * span : {&payload_.span, &gravity_.span}) {
    if (span->duration != 0 && span->share(now) >= 1.0) {
      span->duration = 0;
      any = true;
    }
  }
  return any;
}

Corners PayloadGravity::corners() const
{
  Corners corners{payload_.span, gravity_.span, 0, {}};
  for (int payload_after = payload_.span.duration ? 0 : 1; payload_after < 2; ++payload_after) {
    const Row row = last_link(payload_after ? payload_.after : payload_.before);
    for (int gravity_after = gravity_.span.duration ? 0 : 1; gravity_after < 2; ++gravity_after) {
      const Vector & gravity = gravity_after ? gravity_.after : gravity_.before;
      Corners::Corner & corner = corners.corner[static_cast<std::size_t>(corners.count++)];
      corner.payload_after = payload_after == 1;
      corner.gravity_after = gravity_after == 1;
      corner.inputs = {};
      std::copy(gravity.begin(), gravity.end(), corner.inputs.begin() + ROBOT_DYNAMICS_GRAVITY);
      std::copy(row.begin(), row.end(), corner.inputs.begin() + ROBOT_DYNAMICS_LAST_LINK_INERTIA);
    }
  }
  return corners;
}

}  // namespace robot_dynamics_controllers
