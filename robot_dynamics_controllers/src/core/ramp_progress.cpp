// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/ramp_progress.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace robot_dynamics_controllers
{
namespace
{

/// A clock counts as set where it differs by more from the time that has passed, ns.
constexpr double CLOCK_STEP = 1e8;
/// Likewise where another thread compares progress and clock, ns.
constexpr double DIFFERENT = 5e7;
/// A ramp follows smaller differences at most so many times as fast as it should.
constexpr double MOST = 3.0;

constexpr auto UNORDERED = std::memory_order_relaxed;

}  // namespace

void RampShare::restart() noexcept
{
  number_.store(NONE, UNORDERED);
  share_.store(1.0, UNORDERED);
}

bool RampShare::has_ended(const Corners::Span & span) const noexcept
{
  return number_.load(UNORDERED) == span.ramp && share() >= 1.0;
}

void RampShare::advance(const Corners::Span & span, std::int64_t time, double period) noexcept
{
  const double told = span.share(time);
  const double most = span.duration > 0 ? MOST * 1e9 * period / static_cast<double>(span.duration) : 1.0;
  const std::int64_t number = number_.load(UNORDERED);
  if (number == span.ramp) {
    share_.store(std::max(share(), std::min(told, share() + most)), UNORDERED);
    return;
  }
  // the clock may have been set since the ramp was accepted, where it continued the value in force
  share_.store(number == NONE ? told : std::max(span.first, std::min(told, span.first + most)), UNORDERED);
  number_.store(span.ramp, std::memory_order_release);
}

bool RampShare::is_under_way(const Corners::Span & span) const noexcept
{
  const std::int64_t number = number_.load(std::memory_order_acquire);
  return number != NONE && !(number == span.ramp && share() >= 1.0);
}

double RampShare::share_at(const Corners::Span & span, std::int64_t now) const noexcept
{
  const std::int64_t number = number_.load(std::memory_order_acquire);
  const double told = span.share(now), sent = number == span.ramp ? share() : span.first;
  const bool agrees = std::abs(sent - told) * static_cast<double>(span.duration) <= DIFFERENT;
  return number == NONE || agrees ? told : sent;
}

void RampProgress::restart() noexcept
{
  payload_.restart();
  gravity_.restart();
  corners_ = nullptr;
}

void RampProgress::advance(const Corners & corners, std::int64_t time, double period) noexcept
{
  if (!(payload_.has_ended(corners.payload) && gravity_.has_ended(corners.gravity))) {
    follow(corners, time, period);
  }
  corners_ = &corners;
}

void RampProgress::follow(const Corners & corners, std::int64_t time, double period) noexcept
{
  latest_ = time_of(corners, time, period);
  payload_.advance(corners.payload, latest_, period);
  gravity_.advance(corners.gravity, latest_, period);
}

/// The time of ramps at `time`, ns. Another thread notices some cycles later that the clock was set, and writes other
/// corners: until then the time of the same ramps advances by `period`. It never goes back.
std::int64_t RampProgress::time_of(const Corners & corners, std::int64_t time, double period) const noexcept
{
  if (&corners != corners_) {
    return time;
  }
  // times may be any numbers: differences and sums must not overflow
  const auto [earlier, later] = std::minmax(time, latest_);
  const auto between = static_cast<double>(static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier));
  const double passed = std::min(1e9 * period, 1e17);
  if (std::abs((time < latest_ ? -between : between) - passed) <= CLOCK_STEP) {
    return later;
  }
  const auto step = static_cast<std::int64_t>(passed);
  return latest_ > std::numeric_limits<std::int64_t>::max() - step ? latest_ : latest_ + step;
}

}  // namespace robot_dynamics_controllers
