// SPDX-License-Identifier: Apache-2.0
#include "ramps.hpp"

#include <algorithm>

namespace robot_dynamics_controllers
{
namespace
{

constexpr std::int64_t LATE = 50'000'000;  // ns: what a ramp changes in this time is applied at once

/// The largest share of its change that a ramp makes in LATE before or after `now`.
double late(const Corners::Span & span, std::int64_t now)
{
  const double share = span.share(now);
  return std::max(share - span.share(now - LATE), span.share(now + LATE) - share);
}

/// Rounds the ten parameters of a frame as those of a body, which messages have.
void make_body(const robot_dynamics_library & library, double * row)
{
  std::array<double, 10> body;
  library.write_body(row, body.data());
  library.write_row(body.data(), row);
}

}  // namespace

std::array<double, 10> numbers_of(const Body & body)
{
  std::array<double, 10> numbers{body.mass};
  std::copy(body.inertia.begin(), body.inertia.end(), std::copy(body.com.begin(), body.com.end(), numbers.begin() + 1));
  return numbers;
}

double Corners::Span::share(std::int64_t time) const noexcept
{
  // stamps of a message are any numbers: their difference must not overflow
  const double elapsed = time >= start ?
    static_cast<double>(static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(start)) : -1.0;
  if (duration == 0 || elapsed >= static_cast<double>(duration)) {
    return 1.0;
  }
  return std::max(0.0, elapsed / static_cast<double>(duration));
}

void add(const robot_dynamics_library & library, Numbers & payload, std::size_t frame, const Body & body)
{
  if (body.mass == 0.0) {
    return;
  }
  std::array<double, 10> own;
  library.write_row(numbers_of(body).data(), own.data());
  double * const row = &payload[10 * frame];
  const bool is_first = row[0] == 0.0;
  for (std::size_t k = 0; k < own.size(); ++k) {
    row[k] += own[k];
  }
  if (!is_first) {
    make_body(library, row);
  }
}

Numbers at(const robot_dynamics_library & library, const Ramp & ramp, double share)
{
  Numbers value(ramp.after.size());
  library.write_between(
    static_cast<int>(value.size()), ramp.before.data(), ramp.after.data(), share, value.data());
  for (std::size_t k = 0; ramp.is_of_bodies && share > 0.0 && share < 1.0 && k < value.size(); k += 10) {
    make_body(library, &value[k]);
  }
  return value;
}

bool goes_on(
  const robot_dynamics_library & library, const Ramp & told, const Ramp & held, const Numbers & value, std::int64_t now,
  bool may_be_asked_for)
{
  const Numbers own = at(library, told, told.span.share(now));
  return library.continues(
    static_cast<int>(own.size()), told.before.data(), told.after.data(), own.data(), late(told.span, now),
    held.before.data(), held.after.data(), value.data(), late(held.span, now),
    may_be_asked_for && told.span.duration == 0);
}

}  // namespace robot_dynamics_controllers
