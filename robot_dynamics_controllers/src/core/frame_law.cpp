// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/frame_law.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include "robot_dynamics_controllers/gain_limits.hpp"

namespace robot_dynamics_controllers
{
namespace
{

const robot_dynamics_frame_law & checked(
  const robot_dynamics_library & library, const std::string & name, const Terms & terms, double update_period, double delay)
{
  const robot_dynamics_frame_law * law = library.frame_law;
  if (law == nullptr || law->name != name) {
    throw std::invalid_argument(
            "control_law: the library has " + std::string(law == nullptr ? "no " : law->name) +
            (law == nullptr ? "" : ", not ") + name + "; export it with --impedance, a parameter file of its gains");
  }
  if (!(update_period < library.delayed_period(law->longest_period, delay))) {
    throw std::invalid_argument(
            "control_law: the gains of the library are stable above " + four_digits(1.0 / law->longest_period) +
            " Hz, and update_rate with torque_delay counts as " + four_digits(1.0 / library.counted_period(update_period, delay)) +
            " Hz; raise update_rate, or export the library with less");
  }
  if (law->counts_friction && !terms.friction) {
    throw std::invalid_argument(
            "control_law: the rest_friction_share of the library needs friction among the terms of compensation");
  }
  return *law;
}

constexpr double EMPTY = 1e-3;  // share of the largest energy up to which a tank counts as empty
constexpr auto NO_ORDER = std::memory_order_relaxed;

}  // namespace

FrameLaw::FrameLaw(
  const robot_dynamics_library & library, const std::string & name, const Terms & terms, double period, double delay)
: library_(library), law_(checked(library, name, terms, period, delay)), light_(law_.directions), memory_(law_.memory),
  before_torque_(law_.memory)
{
  activate();
  elapse(0.0, 0.0, 0.0, false);
  activate();
}

FrameLaw::Commands FrameLaw::commands() const noexcept
{
  Commands found;
  auto at = reported_.begin();
  for (auto * const numbers : {&found.stiffness, &found.stiffness_in_force, &found.of_base, &found.of_frame}) {
    for (double & number : *numbers) {
      number = (at++)->load(NO_ORDER);
    }
  }
  return found;
}

std::string FrameLaw::warning() const
{
  if (waits_.load(NO_ORDER)) {
    return "stiffness grows no further: its springs would give the arm more energy than stiffness_energy_limit; it does where "
           "the frame comes nearer to where it is led";
  }
  const double heavy = law_.directions - light_.load(NO_ORDER);
  return !(heavy > 0.0) ? "" : std::string("'") + law_.frame + "' is heavier than largest_mass (" +
         four_digits(law_.largest_mass) + " kg) in " + four_digits(heavy) +
         " directions, as near a singular position: its error vanishes more slowly there";
}

void FrameLaw::want_stiffness(const std::string & frame, const FrameNumbers & stiffness)
{
  const robot_dynamics_frame_commands & of = *law_.commands;
  if (!frame.empty() && frame != of.axes) {
    throw std::invalid_argument(
            std::string("frame_id: expected '") + of.axes + "', whose axes the stiffness has, got '" + frame + "'");
  }
  if (!of.may_soften) {
    throw std::invalid_argument(
            "damping_ratio of the library is below 0.5: its limit of sampling is not that of a softer frame");
  }
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const std::string expected = !(stiffness[k] >= 0.0) ? "at least 0" :
      !(stiffness[k] <= of.stiffness[k]) ? "at most " + four_digits(of.stiffness[k]) + ", that of the library" :
      stiffness[k] < of.least_stiffness[k] ?
      "at least " + four_digits(of.least_stiffness[k]) + ", for nothing else would brake this axis" : "";
    if (!expected.empty()) {
      throw std::invalid_argument(
              std::string(k < 3 ? "rotational " : "translational ") + "xyz"[k % 3] + ": expected a stiffness of " +
              expected + ", got " + four_digits(stiffness[k]));
    }
  }
  want(&Messages::stiffness, stiffness);
}

void FrameLaw::want_wrench(const std::string & frame, const FrameNumbers & wrench, double now)
{
  const robot_dynamics_frame_commands & of = *law_.commands;
  const bool in_frame = frame == law_.frame && frame != library_.base_link;
  if (!in_frame && !frame.empty() && frame != library_.base_link) {
    throw std::invalid_argument(
            std::string("frame_id: expected '") + library_.base_link + "' or '" + law_.frame +
            "', whose axes the wrench has, got '" + frame + "'");
  }
  std::array<double, 13> numbers{};
  for (std::size_t part = 0; part < 2; ++part) {
    const double * const vector = &wrench[3 * part];
    const std::string name = part == 0 ? "moment" : "force", unit = part == 0 ? " N m" : " N";
    const double size = std::sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    if (!(size <= of.largest_wrench[part])) {
      throw std::invalid_argument(
              name + ": " + four_digits(size) + unit + (std::isfinite(size) ?
              " is above " + name + "_limit, " + four_digits(of.largest_wrench[part]) + unit : " is not finite"));
    }
    std::copy_n(vector, 3, &numbers[(in_frame ? 6 : 0) + 3 * part]);
  }
  numbers[12] = now + of.wrench_age;
  want(&Messages::wrench, numbers);
}

template<std::size_t count>
void FrameLaw::want(Wanted<count> Messages::* which, const std::array<double, count> & numbers)
{
  const std::lock_guard<std::mutex> lock(wanting_);
  newest_.*which = {++count_, numbers};
  messages_.write(newest_);
}

void FrameLaw::activate() noexcept
{
  std::copy_n(law_.initial_memory, law_.memory, memory_.begin());
  stiffness_ = messages_.read().stiffness.number;
}

/// Copies the first numbers of a message to the memory if it is a new one; returns whether it is.
template<std::size_t count>
bool FrameLaw::follow(const Wanted<count> & wanted, std::uint64_t & followed, std::uint32_t place) noexcept
{
  if (wanted.number == followed) {
    return false;
  }
  followed = wanted.number;
  std::copy_n(wanted.numbers.begin(), std::min<std::size_t>(count, 12), &memory_[place]);
  return true;
}

void FrameLaw::elapse(double time, double now, double pause, bool anew) noexcept
{
  const robot_dynamics_frame_commands * const of = law_.commands;
  if (of != nullptr) {
    const Messages & newest = messages_.read();
    follow(newest.stiffness, stiffness_, of->wanted_stiffness);
    if (follow(newest.wrench, wrench_, of->wanted_wrench)) {
      memory_[of->until] = newest.wrench.numbers[12];
    }
  }
  if (anew) {
    std::copy_n(law_.initial_memory, law_.anew, memory_.begin());
  }
  law_.elapse(time, now, pause, memory_.data());
  report();
  std::copy(memory_.begin(), memory_.end(), before_torque_.begin());
}

/// Tells other threads what the last torque had.
void FrameLaw::report() noexcept
{
  if (law_.directions != 0) {
    light_.store(memory_[law_.light], NO_ORDER);
  }
  const robot_dynamics_frame_commands * const of = law_.commands;
  if (of == nullptr) {
    return;
  }
  const double * const tank = &memory_[of->tank];
  bool grows = false;
  for (std::size_t k = 0; k < 6; ++k) {
    const double wanted = memory_[of->wanted_stiffness + k], now = memory_[of->stiffness_in_force + 7 * k];
    grows = grows || now < (1.0 - EMPTY) * wanted;
    reported_[k].store(wanted, NO_ORDER);
    reported_[6 + k].store(now, NO_ORDER);
  }
  for (std::size_t k = 0; k < 12; ++k) {
    reported_[12 + k].store(memory_[of->wrench_in_force + k], NO_ORDER);
  }
  waits_.store(grows && tank[0] <= EMPTY * tank[1], NO_ORDER);
}

void FrameLaw::restore() noexcept
{
  std::copy(before_torque_.begin(), before_torque_.end(), memory_.begin());
}

bool FrameLaw::add(
  const double * q, const double * qd, const double * q_desired, const double * qd_desired, bool holds,
  const double * inputs, void * loops, double * tau) noexcept
{
  return law_.torque(q, qd, q_desired, qd_desired, holds, inputs, loops, memory_.data(), tau);
}

}  // namespace robot_dynamics_controllers
