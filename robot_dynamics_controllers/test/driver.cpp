// SPDX-License-Identifier: Apache-2.0
// Functions in C through which test/support/controllers/controllers_core.py calls the core.
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>

#include "core.cpp"
#include "robot_dynamics_controllers/cycle_counts.hpp"

using namespace robot_dynamics_controllers;

namespace
{

std::vector<std::string> lines(const char * text)
{
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line); ) {
    result.push_back(line);
  }
  return result;
}

void say(char * message, std::size_t size, const std::string & text)
{
  std::snprintf(message, size, "%s", text.c_str());
}

Body body(const std::string & frame, const double * numbers)
{
  Body body;
  body.frame = frame;
  body.mass = numbers[0];
  std::copy_n(numbers + 1, 3, body.com.begin());
  std::copy_n(numbers + 4, 6, body.inertia.begin());
  return body;
}

int result_of(const Taken & taken, char * message, std::size_t size)
{
  say(message, size, taken.message);
  return (taken.accepted ? 1 : 0) | (taken.early ? 2 : 0);
}

/// Calls `make` and writes its error as "type: text"; returns nullptr then.
template<typename Make>
void * made(Make make, char * message, std::size_t size)
{
  try {
    return make();
  } catch (const LibraryError & error) {
    say(message, size, std::string("LibraryError: ") + error.what());
  } catch (const std::invalid_argument & error) {
    say(message, size, std::string("invalid_argument: ") + error.what());
  }
  return nullptr;
}

struct Terms_
{
  DynamicsLibrary library;
  ClosedLoops loops;
  Compensation compensation;
};

}  // namespace

#include "controller_driver.hpp"

extern "C" {

void * law_new(
  const char * path, const char * joints, const char * preset, const char * gravity_owner,
  const char * compensation, int measured, const double * effort, int efforts, const double * rate,
  int rates, const double * times, const double * gains, const char * control_law, const char * digest, int rehearses, char * message, std::size_t size)
{
  return made(
    [&]() -> void * {
      Settings settings;
      settings.joints = lines(joints);
      settings.preset = preset;
      settings.gravity_owner = gravity_owner;
      settings.compensation = lines(compensation);
      settings.evaluate_at_measured = measured != 0;
      settings.effort_limit.assign(effort, effort + efforts);
      settings.rate_limit.assign(rate, rate + rates);
      settings.fade_in_time = times[0];
      settings.ramp_time = times[1];
      settings.reference_timeout = times[2];
      settings.update_rate = times[3];
      settings.torque_delay = times[4];
      settings.control_law = control_law;
      settings.model_digest = digest;
      const std::size_t n = settings.joints.size();
      settings.stiffness.assign(gains, gains + n);
      settings.damping.assign(gains + n, gains + 2 * n);
      const DynamicsLibrary library = DynamicsLibrary::open(path);
      auto law = std::make_unique<EffortLaw>(library, settings);
      if (rehearses != 0) {
        law->rehearse();
      }
      return law.release();
    }, message, size);
}

void law_delete(EffortLaw * law) {delete law;}
void law_loop_fault(EffortLaw * law, char * said, std::size_t size) {say(said, size, law->loop_fault());}
void law_recent_loop_fault(EffortLaw * law, char * said, std::size_t size) {say(said, size, law->recent_loop_fault());}
/// A stiffness, or a wrench with these times of an Arrival if there are any.
void law_want(
  EffortLaw * law, const char * frame, const double * numbers, const std::int64_t * times, char * said, std::size_t size)
{
  FrameNumbers wanted;
  std::copy_n(numbers, 6, wanted.begin());
  say(said, size, "");
  (void)made(
    [&]() -> void * {
      if (times == nullptr) {
        law->want_stiffness(frame, wanted);
      } else {
        law->want_wrench(frame, wanted, {times[0], times[1], times[2], times[3]});
      }
      return nullptr;
    }, said, size);
}

/// Writes the stiffness that is followed and that in force, and both wrenches, 6 each.
void law_commands(const EffortLaw * law, double * numbers)
{
  const FrameLaw::Commands commands = law->frame_law()->commands();
  for (const FrameNumbers & part :
    {commands.stiffness, commands.stiffness_in_force, commands.of_base, commands.of_frame})
  {
    numbers = std::copy(part.begin(), part.end(), numbers);
  }
}

void law_warning(const EffortLaw * law, char * said, std::size_t size) {say(said, size, law->frame_law()->warning());}

void law_activate(EffortLaw * law, const double * last) {law->activate(last);}
void law_deactivate(EffortLaw * law) {law->deactivate();}
void law_resume(EffortLaw * law) {law->resume();}
void law_end_finished_ramps(EffortLaw * law, std::int64_t now) {law->end_finished_ramps(now);}
void law_request_stop(EffortLaw * law, std::int64_t steady) {law->request_stop(steady);}
int law_stopped(EffortLaw * law) {return law->stopped();}
int law_blends(EffortLaw * law) {return law->blends();}
int law_limited(EffortLaw * law, int joint) {return static_cast<int>(law->limiter().limited(static_cast<std::size_t>(joint)));}
void law_reset(EffortLaw * law) {law->limiter().reset();}
std::uint64_t law_count(EffortLaw * law, int flag) {return law->limiter().count(static_cast<TorqueLimiter::Limited>(flag));}
void law_clock_set(EffortLaw * law, std::int64_t before, std::int64_t after) {law->clock_set(before, after);}

/// Counts outcomes that were written or not, with a reset after the first `before`, and writes the six counts.
void count_outcomes(const int * outcomes, const int * written, int count, int before, std::uint64_t * counts)
{
  CycleCounts all;
  all.activations.add(true);
  for (int k = 0; k < count; ++k) {
    all.add(static_cast<Outcome>(outcomes[k]), written[k] != 0);
    if (k + 1 == before) {
      all.reset();
    }
  }
  for (const Count * one :
    {&all.updates, &all.followed, &all.references_refused, &all.states_refused, &all.not_written, &all.activations})
  {
    *counts++ = one->value();
  }
}

int law_payload(
  EffortLaw * law, const char * frame, const double * after, const char * frames, const double * before,
  std::int64_t start, std::int64_t duration, std::int64_t now, char * message, std::size_t size)
{
  PayloadRamp ramp{body(frame, after), {}, start, duration};
  for (const std::string & name : lines(frames)) {
    ramp.before.push_back(body(name, before + 10 * ramp.before.size()));
  }
  return result_of(law->take(ramp, now), message, size);
}

int law_gravity(
  EffortLaw * law, const char * frame, const double * after, const double * before, std::int64_t start,
  std::int64_t duration, std::int64_t now, char * message, std::size_t size)
{
  GravityRamp ramp;
  ramp.frame = frame;
  std::copy_n(after, 3, ramp.after.begin());
  std::copy_n(before, 3, ramp.before.begin());
  ramp.start = start;
  ramp.duration = duration;
  return result_of(law->take(ramp, now), message, size);
}

/// Updates at `count` times: states (count, 2, n), references (count, 4, n) of kinds 0 (none), 1 (motion), 2 (motion
/// and efforts), 3 (efforts). Writes efforts (count, n) and outcomes (count).
void law_updates(
  EffortLaw * law, int count, int n, const std::int64_t * times, double period, const double * states,
  const double * references, const int * kinds, double * efforts, int * outcomes)
{
  for (int k = 0; k < count; ++k) {
    const double * state = states + 2 * n * k, * r = references + 4 * n * k;
    const bool moves = kinds[k] == 1 || kinds[k] == 2;
    const Reference reference{
      moves ? r : nullptr, moves ? r + n : nullptr, moves ? r + 2 * n : nullptr,
      kinds[k] >= 2 ? r + 3 * n : nullptr};
    outcomes[k] = static_cast<int>(
      law->update(
        times[k], times[k], period, State{state, state + n}, kinds[k] ? &reference : nullptr, efforts + n * k));
  }
}

void * terms_new(
  const char * path, const char * preset, const char * gravity_owner, const char * compensation,
  char * message, std::size_t size)
{
  return made(
    [&]() -> void * {
      const DynamicsLibrary library = DynamicsLibrary::open(path);
      const CompensationPolicy policy(*library, preset, gravity_owner, lines(compensation));
      std::string said = policy.gravity_owner + (policy.takes_commands ? " commands" : " none");
      said += (policy.motor_pd ? " pd " : " plain ") + std::to_string(policy.fade_in_time);
      for (const std::string & term : policy.terms.names()) {
        said += " " + term;
      }
      say(message, size, said);
      return new Terms_{library, ClosedLoops(*library), Compensation(*library, policy.terms)};
    }, message, size);
}

void terms_delete(Terms_ * terms) {delete terms;}

int terms_torques(
  Terms_ * terms, int count, int n, const double * motions, const double * inputs, double * torques)
{
  int finite = 0;
  for (int k = 0; k < count; ++k) {
    const double * q = motions + 3 * n * k;
    finite += terms->loops.arrive(q) &&
      terms->compensation.torque(q, q + n, q + 2 * n, q + n, inputs, terms->loops.memory(), torques + n * k);
  }
  return finite;
}

}  // extern "C"
