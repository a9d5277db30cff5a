// SPDX-License-Identifier: Apache-2.0
#include "ramps.hpp"

#include <string>
#include <tuple>
#include <vector>

namespace robot_dynamics_controllers
{
namespace
{

constexpr std::int64_t LATE = 50'000'000;  // ns: what a ramp changes in this time is applied at once
constexpr double ROUNDING = 1e-12;         // of values that went through a message

/// The numbers of values that change linearly: for bodies those of each frame of any of them.
using Numbers = std::vector<std::vector<double>>;

Numbers rows_of(const robot_dynamics_library & library, const std::vector<Bodies> & values)
{
  std::vector<std::string> frames;
  for (const Bodies & bodies : values) {
    for (const Body & body : bodies) {
      if (std::find(frames.begin(), frames.end(), body.frame) == frames.end()) {
        frames.push_back(body.frame);
      }
    }
  }
  Numbers numbers;
  for (const Bodies & bodies : values) {
    std::vector<double> row(10 * frames.size(), 0.0);
    for (const Body & body : bodies) {
      const auto place = std::find(frames.begin(), frames.end(), body.frame) - frames.begin();
      const Row own = ten_parameters(library, body);
      std::copy(own.begin(), own.end(), row.begin() + 10 * place);
    }
    numbers.push_back(row);
  }
  return numbers;
}

Numbers rows_of(const robot_dynamics_library &, const std::vector<Vector> & values)
{
  Numbers numbers;
  for (const Vector & value : values) {
    numbers.emplace_back(value.begin(), value.end());
  }
  return numbers;
}

/// The largest share of its change that a ramp makes in LATE before or after `now`.
double late(const Corners::Span & span, std::int64_t now)
{
  const double share = span.share(now);
  return std::max(share - span.share(now - LATE), span.share(now + LATE) - share);
}

}  // namespace

template<typename Value>
bool continues(
  const robot_dynamics_library & library, const Ramp<Value> & told, const Ramp<Value> & held, const Value & value,
  std::int64_t now, bool may_be_asked_for)
{
  const Value own_now = at(library, told, told.span.share(now));
  const Numbers rows = rows_of(library, {told.before, told.after, held.before, held.after, value, own_now});
  double largest = 0.0;
  for (std::size_t k : {0u, 1u, 4u}) {
    largest = std::max(largest, largest_of(rows[k]));
  }
  const double rounding = ROUNDING * largest;
  const double of_told = late(told.span, now), of_held = late(held.span, now);
  bool asked_for = may_be_asked_for && told.span.duration == 0, small = true;
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    const auto & [before, after, held_before, held_after, held_now, own] = std::tuple(
      rows[0][i], rows[1][i], rows[2][i], rows[3][i], rows[4][i], rows[5][i]);
    asked_for = asked_for && std::abs(held_now - before) <= rounding;
    const double room = rounding + of_told * std::abs(after - before) +
      of_held * std::abs(held_after - held_before);
    small = small && std::abs(held_now - own) <= room;
  }
  return asked_for || small;
}

template bool continues(
  const robot_dynamics_library &, const Ramp<Bodies> &, const Ramp<Bodies> &, const Bodies &, std::int64_t, bool);
template bool continues(
  const robot_dynamics_library &, const Ramp<Vector> &, const Ramp<Vector> &, const Vector &, std::int64_t, bool);

Row numbers_of(const Body & body)
{
  Row numbers{body.mass};
  std::copy(body.inertia.begin(), body.inertia.end(), std::copy(body.com.begin(), body.com.end(), numbers.begin() + 1));
  return numbers;
}

Row ten_parameters(const robot_dynamics_library & library, const Body & body)
{
  Row row;
  library.write_row(numbers_of(body).data(), row.data());
  return row;
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

void add(const robot_dynamics_library & library, Bodies & bodies, const Body & body)
{
  const auto place = std::find_if(
    bodies.begin(), bodies.end(), [&](const Body & other) {return other.frame == body.frame;});
  if (place == bodies.end()) {
    bodies.push_back(body);
    return;
  }
  Row sum = ten_parameters(library, *place), whole;
  const Row own = ten_parameters(library, body);
  for (std::size_t k = 0; k < sum.size(); ++k) {
    sum[k] += own[k];
  }
  library.write_body(sum.data(), whole.data());
  place->mass = whole[0];
  std::copy_n(whole.begin() + 1, 3, place->com.begin());
  std::copy_n(whole.begin() + 4, 6, place->inertia.begin());
}

Bodies at(const robot_dynamics_library & library, const Ramp<Bodies> & ramp, double share)
{
  if (share >= 1.0) {
    return ramp.after;
  }
  if (share <= 0.0) {
    return ramp.before;
  }
  Bodies carried;
  for (const auto & [bodies, part] : {std::tuple(&ramp.before, 1.0 - share), {&ramp.after, share}}) {
    for (Body body : *bodies) {
      body.mass = part * body.mass;
      for (double & entry : body.inertia) {
        entry = part * entry;
      }
      add(library, carried, body);
    }
  }
  return carried;
}

Vector at(const robot_dynamics_library &, const Ramp<Vector> & ramp, double share)
{
  if (share >= 1.0) {
    return ramp.after;
  }
  Vector value;
  for (std::size_t k = 0; k < 3; ++k) {
    value[k] = (1.0 - share) * ramp.before[k] + share * ramp.after[k];
  }
  return value;
}

}  // namespace robot_dynamics_controllers
