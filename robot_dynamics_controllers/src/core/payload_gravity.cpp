// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/payload_gravity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
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

template<typename Numbers>
double largest_of(const Numbers & numbers)
{
  double largest = 0.0;
  for (double number : numbers) {
    largest = std::max(largest, std::abs(number));
  }
  return largest;
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
  const double * const gravity = library.default_inputs + ROBOT_DYNAMICS_GRAVITY;
  gravity_.before = gravity_.after = Numbers(gravity, gravity + 3);
  payload_.is_of_bodies = true;
  payload_.before = payload_.after = Numbers(10 * library.frames);
  applied_payload_.duration = applied_gravity_.duration = NO_MESSAGE;
}

std::array<double, 3> PayloadGravity::gravity() const
{
  return {gravity_.after[0], gravity_.after[1], gravity_.after[2]};
}

void PayloadGravity::require_inertia(const std::array<double, 10> & body) const
{
  if (!library_.is_inertia(body.data(), INERTIA_ROUNDING)) {
    refuse("inertia: expected principal moments none of which exceeds the sum of the others");
  }
}

void PayloadGravity::require_body(const Body & body) const
{
  if (!(body.mass >= 0.0 && std::isfinite(body.mass))) {
    refuse("mass: expected a finite number, at least 0 kg, got " + shown(body.mass));
  }
  require_finite("com", body.com);
  require_finite("inertia", body.inertia);
  if (body.mass == 0.0 && largest_of(body.inertia) != 0.0) {
    refuse("inertia: expected zeros, since the mass is 0");
  }
  require_inertia(numbers_of(body));
  std::array<double, 10> row;
  library_.write_row(numbers_of(body).data(), row.data());
  if (!(largest_of(body.com) <= LARGEST && largest_of(row) <= LARGEST)) {
    refuse(
      "mass, com, inertia: expected at most " + shown(LARGEST) +
      " kg, m, kg m, kg m^2 about the origin of the frame");
  }
  if (body.mass > 0.0 && body.mass < SMALLEST) {
    refuse("mass: expected 0 or at least " + shown(SMALLEST) + " kg, got " + shown(body.mass));
  }
}

/// The number of the frame that carries a body; 0 for one without a mass.
std::size_t PayloadGravity::frame_of(const Body & body) const
{
  const auto * const end = library_.frame + library_.frames;
  const auto * const frame = body.mass == 0.0 || body.frame.empty() ? library_.frame : std::find_if(
    library_.frame, end, [&](const robot_dynamics_frame & other) {return body.frame == other.name;});
  if (frame == end) {
    refuse(
      "frame: '" + body.frame + "' is not fixed to the last link '" + library_.last_link +
      "'; add this body to its link in the URDF and export it again");
  }
  return static_cast<std::size_t>(frame - library_.frame);
}

std::array<double, 10> PayloadGravity::last_link(const Numbers & payload) const
{
  std::array<double, 10> row, own;
  std::array<double, 9> P;
  std::copy_n(library_.default_inputs + ROBOT_DYNAMICS_LAST_LINK_INERTIA, row.size(), row.begin());
  for (std::size_t frame = 0; frame < library_.frames; ++frame) {
    const double * const carried = &payload[10 * frame];
    if (carried[0] != 0.0) {
      const robot_dynamics_frame & of = library_.frame[frame];
      library_.write_moved_row(carried, of.rotation, of.position, P.data(), own.data());
      std::transform(row.begin(), row.end(), own.begin(), row.begin(), std::plus<double>());
    }
  }
  return row;
}

Taken PayloadGravity::followed(
  Ramp & held, Ramp told, std::int64_t now, std::optional<double> share, bool is_first) const
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
    const Numbers value = at(library_, held, *share);
    // the first message may be of a payload that was set long ago
    if (!goes_on(library_, told, held, value, now, !is_first)) {
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
  return taken;
}

Taken PayloadGravity::take(const PayloadRamp & ramp, std::int64_t now, std::optional<double> share)
{
  if (same(ramp, applied_payload_)) {
    return {};
  }
  Ramp told{true, Numbers(payload_.after.size()), Numbers(payload_.after.size()), {ramp.start, ramp.duration, 0}};
  try {
    require_duration(ramp.duration);
    require_body(ramp.after);
    add(library_, told.after, frame_of(ramp.after), ramp.after);
    for (std::size_t k = 0; k < ramp.before.size(); ++k) {
      try {
        require_body(ramp.before[k]);
        const std::size_t frame = frame_of(ramp.before[k]);
        add(library_, told.before, frame, ramp.before[k]);
        // each may be within rounding of what is refused, and their sum beyond
        std::array<double, 10> sum;
        library_.write_body(&told.before[10 * frame], sum.data());
        require_inertia(sum);
      } catch (const std::invalid_argument & error) {
        refuse("before[" + std::to_string(k) + "]: " + error.what());
      }
    }
  } catch (const std::invalid_argument & error) {
    return {false, false, error.what()};
  }
  const Taken taken = followed(payload_, told, now, share, applied_payload_.duration == NO_MESSAGE);
  if (taken.accepted) {
    applied_payload_ = ramp;
    carried_.assign(ramp.after.mass > 0.0 ? 1 : 0, ramp.after);
    for (Body & body : carried_) {
      body.frame = library_.frame[frame_of(body)].name;
    }
  }
  return taken;
}

Taken PayloadGravity::take(const GravityRamp & ramp, std::int64_t now, std::optional<double> share)
{
  if (same(ramp, applied_gravity_)) {
    return {};
  }
  const auto numbers = [](const auto & vector) {return Numbers(vector.begin(), vector.end());};
  const Ramp told{false, numbers(ramp.after), numbers(ramp.before), {ramp.start, ramp.duration, 0}};
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
  const Taken taken = followed(gravity_, told, now, share, applied_gravity_.duration == NO_MESSAGE);
  if (taken.accepted) {
    applied_gravity_ = ramp;
  }
  return taken;
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
    const std::array<double, 10> row = last_link(payload_after ? payload_.after : payload_.before);
    for (int gravity_after = gravity_.span.duration ? 0 : 1; gravity_after < 2; ++gravity_after) {
      const Numbers & gravity = gravity_after ? gravity_.after : gravity_.before;
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
