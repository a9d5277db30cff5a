// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/closed_loops.hpp"

#include <cstring>

namespace robot_dynamics_controllers
{
namespace
{

/// Calls to a position: each goes 0.16 rad.
constexpr int MOST_CALLS = 200;

}  // namespace

ClosedLoops::ClosedLoops(const robot_dynamics_library & library)
: library_(library), mechanism_(library.mechanism),
  memory_(mechanism_ == nullptr ? 0 : (mechanism_->memory + sizeof(double) - 1) / sizeof(double)),
  home_(library.velocities), torque_(library.velocities)
{
  if (mechanism_ != nullptr) {
    home_.assign(mechanism_->home, mechanism_->home + library.velocities);
  }
  restart();
}

void ClosedLoops::restart() noexcept
{
  if (mechanism_ != nullptr) {
    std::memcpy(memory_.data(), mechanism_->initial_memory, mechanism_->memory);
  }
}

bool ClosedLoops::measure(const double * q, double time) noexcept
{
  return mechanism_ == nullptr || mechanism_->measure(q, time, memory_.data());
}

bool ClosedLoops::arrive(const double * q) noexcept
{
  for (int k = 0; k < MOST_CALLS && mechanism_ != nullptr; ++k) {
    if (library_.gravity_torque(q, library_.default_inputs, memory(), torque_.data())) {
      return true;
    }
    if (fault().fault != ROBOT_DYNAMICS_FAR) {
      return false;
    }
  }
  return mechanism_ == nullptr;
}

LoopFault ClosedLoops::fault() const noexcept
{
  LoopFault found;
  if (mechanism_ != nullptr) {
    std::uint32_t constraint = 0;
    found.fault = mechanism_->fault(memory_.data(), &constraint);
    found.constraint = static_cast<std::uint16_t>(constraint);
  }
  return found;
}

std::string ClosedLoops::text_of(const LoopFault & fault) const
{
  if (mechanism_ == nullptr || fault.constraint >= mechanism_->constraints) {
    return "";
  }
  const std::string loop = (fault.of_reference ? "reference: " : "") + std::string(mechanism_->loops[fault.constraint]);
  switch (fault.fault) {
    case ROBOT_DYNAMICS_CLOSED: return "";
    case ROBOT_DYNAMICS_NOT_FINITE: return loop + ": a number is not finite or far too large";
    case ROBOT_DYNAMICS_FAR: return loop + ": the position is far from the last one, and approached";
    case ROBOT_DYNAMICS_FAST:
      return loop + ": a joint has jumped farther than it can have moved, or moved far in one cycle: where it does not come "
                    "back, check its encoder, then activate again";
    case ROBOT_DYNAMICS_OPEN: return loop + " cannot be closed: check the positions and the model";
    case ROBOT_DYNAMICS_SINGULAR:
      return loop + ": the mechanism is at a singular position, or near it: move it away";
    case ROBOT_DYNAMICS_PASSED:
      return loop + ": the mechanism was at a singular position, or beyond, or can have been there in a pause: see that it "
                    "is in its assembly mode, then activate again";
  }
  return "";
}

}  // namespace robot_dynamics_controllers
