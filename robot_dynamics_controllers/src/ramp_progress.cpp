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
/// A ramp follows smaller differences at most so many times as fast as it should.
constexpr double MOST = 3.0;

}  // namespace

void RampProgress::restart() noexcept
{
  payload_ = gravity_ = NONE;
  corners_ = nullptr;
}

void RampProgress::advance(const Corners & corners, std::int64_t time, double period) noexcept
{
  latest_ = time_of(corners, time, period);
  corners_ = &corners;
  payload_.advance(corners.payload, latest_, period);
  gravity_.advance(corners.gravity, latest_, period);
}

void RampProgress::Ramp::advance(const Corners::Span & span, std::int64_t time, double period) noexcept
{
  const double told = span.share(time);
  if (number != span.ramp) {
    number = span.ramp;
    share = told;
    return;
  }
  const double most = span.duration > 0 ? MOST * 1e9 * period / static_cast<double>(span.duration) : 1.0;
  share = std::max(share, told - share > most ? share + most : told);
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
