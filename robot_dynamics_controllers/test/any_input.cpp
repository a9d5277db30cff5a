// SPDX-License-Identifier: Apache-2.0
// Random and broken input for an EffortLaw, for the sanitizers: any_input LIBRARY SEED
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include "core.cpp"

using namespace robot_dynamics_controllers;

namespace
{

constexpr double LIMIT = 40.0, RATE = 900.0, PERIOD = 0.001;
constexpr std::int64_t SECOND = 1'000'000'000;

std::mt19937 random_numbers;

int below(int most) {return static_cast<int>(random_numbers() % static_cast<unsigned>(most));}

double number(int broken)
{
  static const double odd[] = {
    std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
    -std::numeric_limits<double>::infinity(), 1e308, -1e308, 1e200, 1e13, 5e-324, -0.0};
  if (broken && below(broken) == 0) {
    return odd[below(9)];
  }
  return std::normal_distribution<double>(0.0, 2.0)(random_numbers);
}

void fill(std::vector<double> & numbers, int broken)
{
  for (double & entry : numbers) {
    entry = number(broken);
  }
}

std::int64_t time_near(std::int64_t now)
{
  static const std::int64_t odd[] = {
    0, -1, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  return below(10) ? now + SECOND / 100 * (below(200) - 100) : odd[below(4)];
}

Body body(const robot_dynamics_library & library)
{
  Body body;
  body.frame = below(4) ? library.frame[below(static_cast<int>(library.frames))].name : "elsewhere";
  body.mass = below(4) ? std::abs(number(20)) : 0.0;
  for (double & entry : body.com) {
    entry = 0.1 * number(40);
  }
  body.inertia = {1.0 + 0.1 * number(40), 1.0, 1.0, 0.1 * number(40), 0.0, 0.0};
  if (body.mass == 0.0) {
    body.inertia = {};
  }
  return body;
}

void change(EffortLaw & law, const robot_dynamics_library & library, std::int64_t now)
{
  PayloadRamp payload{body(library), {}, time_near(now), std::int64_t{below(300)} * SECOND / 100};
  for (int k = below(3); k > 0; --k) {
    payload.before.push_back(body(library));
  }
  law.take(payload, now);
  GravityRamp gravity;
  for (double & entry : gravity.after) {
    entry = number(60);
  }
  gravity.start = time_near(now);
  gravity.duration = below(2) * SECOND / 4;
  law.take(gravity, now);
  if (below(10) == 0) {
    law.clock_set(now, now + (below(200) - 100) * SECOND);
  }
}

/// Sends a stiffness and a wrench.
void command(EffortLaw & law, const robot_dynamics_frame_commands * commands, std::int64_t now)
{
  FrameNumbers stiffness{}, wrench{};
  for (std::size_t k = 0; k < 6; ++k) {
    stiffness[k] = below(4) && commands != nullptr ? 0.1 * below(11) * commands->stiffness[k] : number(3);
    wrench[k] = below(4) && commands != nullptr ? 0.1 * below(6) * commands->largest_wrench[k / 3] : number(3);
  }
  const std::string frame = below(20) ? "" : "elsewhere";
  try {
    law.want_stiffness(frame, stiffness);
  } catch (const std::invalid_argument &) {  // refused
  }
  try {
    law.want_wrench(frame, wrench, {time_near(now), now + SECOND * below(3), SECOND * below(2), time_near(0)});
  } catch (const std::invalid_argument &) {
  }
  (void)law.frame_law()->warning();
}

[[noreturn]] void fail(const char * what, int update)
{
  std::printf("%s in update %d\n", what, update);
  std::exit(1);
}

}  // namespace

int main(int, char ** arguments)
{
  random_numbers.seed(static_cast<unsigned>(std::atoi(arguments[2])));
  const DynamicsLibrary library = DynamicsLibrary::open(arguments[1]);
  const std::size_t n = library.joints();
  Settings settings;
  settings.joints = library.joint_names();
  settings.effort_limit = {LIMIT};
  settings.rate_limit = {RATE};
  settings.fade_in_time = 0.02;
  settings.ramp_time = 0.02;
  settings.reference_timeout = 0.01;
  settings.update_rate = 1.0 / PERIOD;
  int seen = 0;
  for (int round = 0; round < 20; ++round) {
    settings.evaluate_at_measured = round % 2;
    settings.control_law = library->frame_law != nullptr && round % 4 < 2 ? library->frame_law->name : "pd_feedforward";
    EffortLaw law(library, settings);
    std::vector<double> numbers[6], effort(n), last(n, 0.0);
    for (auto & row : numbers) {
      row.resize(n);
    }
    for (int k = 0; k < 1000; ++k) {
      const std::int64_t now = 100 * SECOND + 1'000'000 * k;
      if (below(200) == 0 || k == 0) {
        fill(numbers[0], 3);
        law.activate(below(2) ? numbers[0].data() : nullptr);
        law.update(now, now, 0.0, State{numbers[0].data(), numbers[0].data()}, nullptr, last.data());
      }
      if (below(40) == 0) {
        change(law, *library, now);
      }
      if (below(300) == 0) {
        law.request_stop(now);
      }
      if (law.frame_law() != nullptr && below(20) == 0) {
        command(law, library->frame_law->commands, now);
      }
      const int broken = k / 100 % 2 ? 30 : 0;
      for (auto & row : numbers) {
        fill(row, broken);
      }
      for (std::size_t i = 0; library->mechanism != nullptr && i < n && below(50); ++i) {
        for (const std::size_t positions : {0u, 2u}) {  // mostly where loops are closed
          numbers[positions][i] = library->mechanism->home[i] + 1e-3 * numbers[positions][i];
        }
      }
      const double * const reference_rows[] = {numbers[2].data(), numbers[3].data(), numbers[4].data()};
      const bool moves = below(3);
      const Reference reference{
        moves ? reference_rows[0] : nullptr, moves ? reference_rows[1] : nullptr,
        moves ? reference_rows[2] : nullptr, below(2) ? numbers[5].data() : nullptr};
      const double period = below(20) ? PERIOD : number(2);
      const double counts = std::min(std::max(0.0, period), law.longest_cycle());
      const Outcome outcome = law.update(
        time_near(now), time_near(now), period, State{numbers[0].data(), numbers[1].data()}, below(3) ? &reference : nullptr,
        effort.data());
      seen |= 1 << static_cast<int>(outcome);
      for (std::size_t i = 0; i < n; ++i) {
        if (!(std::abs(effort[i]) <= LIMIT)) {
          fail("beyond the limit", k);
        }
        if (!(std::abs(effort[i] - last[i]) <= RATE * counts * (1.0 + 1e-12))) {
          fail("a step", k);
        }
      }
      last = effort;
    }
  }
  std::printf("%03x outcomes\n", static_cast<unsigned>(seen));
}
