// SPDX-License-Identifier: Apache-2.0
#include "effort_cycle.hpp"

#include <algorithm>
#include <utility>

namespace robot_dynamics_controllers
{
namespace
{

// culprits that are no reference
constexpr std::size_t NOT_WRITTEN = ReferenceValues::MOST + 1, ITS_TORQUE = ReferenceValues::NONE;

}  // namespace

EffortCycle::EffortCycle(
  std::shared_ptr<EffortLaw> law, ReferenceValues & references, std::vector<double> torque_scale)
: law_(std::move(law)), references_(references), q_(torque_scale.size()), qd_(q_), effort_(q_), command_(q_),
  torque_scale_(std::move(torque_scale))
{
}

bool EffortCycle::activate(std::int64_t now, bool simulated) noexcept
{
  references_.drop();
  simulated_ = simulated;
  began_ = false;
  unused_ = 0.0;
  if (switch_.continues(now)) {
    law_->resume();
    for (std::size_t i = 0; i < effort_.size(); ++i) {
      command_[i] = effort_[i] / torque_scale_[i];
    }
    return true;
  }
  for (std::size_t i = 0; i < effort_.size(); ++i) {
    effort_[i] = command_[i] * torque_scale_[i];
  }
  law_->activate(effort_.data());
  return false;
}

void EffortCycle::deactivate(std::int64_t now) noexcept
{
  law_->deactivate();
  switch_.deactivated(now);
  is_unused_.store(false, std::memory_order_relaxed);
}

void EffortCycle::set_chained_mode(bool chained) noexcept
{
  switch_.set(chained);
  references_.drop();
}

Outcome EffortCycle::update(std::int64_t time, double period, std::int64_t now) noexcept
{
  const Reference * const reference = references_.read();
  const double since = passed(period, now);
  outcome_ = law_->update(time, simulated_ ? time : now, since, {q_.data(), qd_.data()}, reference, effort_.data());
  for (std::size_t i = 0; i < effort_.size(); ++i) {
    command_[i] = effort_[i] / torque_scale_[i];
  }
  watch_references(reference != nullptr && outcome_ != Outcome::reference_refused, reference != nullptr, since);
  return outcome_;
}

/// The time since the last update, s, by the steady clock: the system clock of the manager may be set.
double EffortCycle::passed(double period, std::int64_t now) noexcept
{
  const std::int64_t last = std::exchange(cycle_, now);
  const bool measured = !simulated_ && std::exchange(began_, true);
  return measured ? 1e-9 * static_cast<double>(now - last) : period;
}

bool EffortCycle::gave_up() const noexcept
{
  const auto is_zero = [](double effort) {return effort == 0.0;};
  return outcome_ == Outcome::state_lost && std::all_of(effort_.begin(), effort_.end(), is_zero);
}

void EffortCycle::watch_references(bool usable, bool any, double period) noexcept
{
  if (usable || !switch_.chained()) {
    unused_ = 0.0;
  } else {
    unused_ += std::max(0.0, period);
  }
  const bool unused = unused_ > PATIENCE;
  if (unused != is_unused_.load(std::memory_order_relaxed)) {
    culprit_.store(any ? references_.first_not_finite() : NOT_WRITTEN, std::memory_order_relaxed);
    is_unused_.store(unused, std::memory_order_release);
  }
}

std::string EffortCycle::unused_references() const
{
  if (!is_unused_.load(std::memory_order_acquire)) {
    return "";
  }
  const std::size_t culprit = culprit_.load(std::memory_order_relaxed);
  if (culprit == NOT_WRITTEN) {
    return "no reference for more than 1 s, although a controller above is active: check that it writes all of "
           "reference_interfaces";
  }
  const std::string name = culprit == ITS_TORQUE ? "the torque of the references" : "reference " + references_.names()[culprit];
  return name + " was NaN or inf for more than 1 s: check the controller above, which writes the references";
}

}  // namespace robot_dynamics_controllers
