// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/frame_impedance.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "robot_dynamics_controllers/gain_limits.hpp"

namespace robot_dynamics_controllers
{
namespace
{

const robot_dynamics_impedance & checked(
  const robot_dynamics_library & library, const Terms & terms, double update_period, double delay)
{
  const robot_dynamics_impedance * law = library.impedance;
  if (law == nullptr) {
    throw std::invalid_argument(
            "control_law: the library has no cartesian_impedance; export it with --impedance, a parameter file of its gains");
  }
  const double period = counted_period(update_period, delay);
  if (!(period < law->longest_period)) {
    throw std::invalid_argument(
            "control_law: the stiffness and damping of the library are stable above " +
            four_digits(1.0 / law->longest_period) + " Hz, and update_rate with torque_delay counts as " +
            four_digits(1.0 / period) + " Hz; raise update_rate, or export the library with less");
  }
  if (law->counts_friction && !terms.friction) {
    throw std::invalid_argument(
            "control_law: the rest_friction_share of the library needs friction among the terms of compensation");
  }
  return *law;
}

constexpr double LEAST = 1e-3;  // share of the largest stiffness from which on the damping ratio brakes an axis
constexpr double EMPTY = 1e-3;  // share of the largest energy up to which a tank counts as empty

FrameStiffness loaded(const std::array<std::atomic<double>, 6> & numbers) noexcept
{
  FrameStiffness stiffness;
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    stiffness[k] = numbers[k].load(std::memory_order_relaxed);
  }
  return stiffness;
}

FrameStiffness of_library(const robot_dynamics_impedance & law) noexcept
{
  FrameStiffness stiffness;
  std::copy_n(law.stiffness, stiffness.size(), stiffness.begin());
  return stiffness;
}

}  // namespace

FrameImpedance::FrameImpedance(
  const robot_dynamics_library & library, const Terms & terms, double period, double delay)
: library_(library), law_(checked(library, terms, period, delay)), wanted_({0, of_library(law_)}), memory_(law_.memory),
  before_torque_(law_.memory)
{
  activate();
  elapse(0.0);
}

void FrameImpedance::want(const std::string & frame, const FrameStiffness & stiffness)
{
  const std::string own = std::strcmp(law_.reference_frame, "local") == 0 ? law_.frame : library_.base_link;
  if (!frame.empty() && frame != own) {
    throw std::invalid_argument("frame_id: expected '" + own + "', whose axes the stiffness has, got '" + frame + "'");
  }
  if (!law_.may_soften) {
    throw std::invalid_argument(
            "damping_ratio of the library is below 0.5: its limit of sampling is not that of a softer frame");
  }
  for (std::size_t k = 0; k < stiffness.size(); ++k) {
    const double largest = law_.stiffness[k];
    const std::string expected = !(stiffness[k] >= 0.0) ? "at least 0" :
      !(stiffness[k] <= largest) ? "at most " + four_digits(largest) + ", that of the library" :
      stiffness[k] < LEAST * largest && !law_.may_be_free[k] ?
      "at least " + four_digits(LEAST * largest) + ", for nothing else would brake this axis" : "";
    if (!expected.empty()) {
      throw std::invalid_argument(
              std::string(k < 3 ? "rotational " : "translational ") + "xyz"[k % 3] + ": expected a stiffness of " +
              expected + ", got " + four_digits(stiffness[k]));
    }
  }
  const std::lock_guard<std::mutex> lock(wanting_);
  wanted_.write({++count_, stiffness});
}

FrameStiffness FrameImpedance::followed() const noexcept {return loaded(followed_);}

FrameStiffness FrameImpedance::in_force() const noexcept {return loaded(in_force_);}

bool FrameImpedance::waits() const noexcept {return waits_.load(std::memory_order_relaxed);}

void FrameImpedance::activate() noexcept
{
  std::copy_n(law_.initial_memory, law_.memory, memory_.begin());
  before_ = wanted_.read().count;
}

void FrameImpedance::begin_anew() noexcept
{
  std::copy_n(law_.initial_memory, law_.anew, memory_.begin());
}

void FrameImpedance::elapse(double time) noexcept
{
  const Wanted & wanted = wanted_.read();
  stiffness_ = wanted.count > before_ ? wanted.stiffness : of_library(law_);
  const double * const tank = &memory_[law_.tank];
  bool grows = false;
  for (std::size_t k = 0; k < stiffness_.size(); ++k) {
    const double now = memory_[law_.in_force + 7 * k];
    grows = grows || now < (1.0 - EMPTY) * stiffness_[k];
    followed_[k].store(stiffness_[k], std::memory_order_relaxed);
    in_force_[k].store(now, std::memory_order_relaxed);
  }
  waits_.store(grows && tank[0] <= EMPTY * tank[1], std::memory_order_relaxed);
  std::copy(memory_.begin(), memory_.end(), before_torque_.begin());
  elapsed_ = time;
}

void FrameImpedance::restore() noexcept
{
  std::copy(before_torque_.begin(), before_torque_.end(), memory_.begin());
}

bool FrameImpedance::add(
  const double * q, const double * qd, const double * q_desired, const double * qd_desired, const double * inputs,
  double * tau) noexcept
{
  return law_.torque(q, qd, q_desired, qd_desired, inputs, stiffness_.data(), &elapsed_, memory_.data(), tau);
}

}  // namespace robot_dynamics_controllers
