// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/torque_transitions.hpp"

#include <algorithm>

namespace robot_dynamics_controllers
{

FadeIn::FadeIn(std::size_t joints, double duration)
: duration_(duration), elapsed_(duration), last_(joints)
{
}

void FadeIn::restart(const double * last) noexcept
{
  std::copy_n(last, last_.size(), last_.begin());
  elapsed_ = duration_ > 0.0 ? -1.0 : 0.0;
}

void FadeIn::apply(double * tau, double elapsed) noexcept
{
  if (elapsed_ >= duration_) {
    return;
  }
  elapsed_ = elapsed_ < 0.0 ? 0.0 : elapsed_ + elapsed;
  if (elapsed_ >= duration_) {
    return;
  }
  const double share = elapsed_ / duration_;
  for (std::size_t i = 0; i < last_.size(); ++i) {
    tau[i] = (tau[i] - last_[i]) * share + last_[i];
  }
}

Transition::Transition(std::size_t joints)
: difference_(joints)
{
}

void Transition::begin(const double * last, const double * target, double duration) noexcept
{
  duration_ = std::max(duration, duration_ - std::max(elapsed_, 0.0));
  for (std::size_t i = 0; i < difference_.size(); ++i) {
    difference_[i] = last[i] - target[i];
  }
  elapsed_ = -1.0;  // the first torque is the last one
}

void Transition::apply(double * tau, double elapsed) noexcept
{
  if (elapsed_ >= duration_) {
    return;
  }
  elapsed_ = elapsed_ < 0.0 ? 0.0 : elapsed_ + elapsed;
  if (elapsed_ >= duration_) {
    return;
  }
  const double share = 1.0 - elapsed_ / duration_;
  for (std::size_t i = 0; i < difference_.size(); ++i) {
    tau[i] += share * difference_[i];
  }
}

RampToZero::RampToZero(std::size_t joints, double duration)
: duration_(duration), initial_(joints)
{
}

void RampToZero::begin(const double * last) noexcept
{
  std::copy_n(last, initial_.size(), initial_.begin());
  elapsed_ = 0.0;
}

bool RampToZero::torque(double elapsed, double * tau) noexcept
{
  elapsed_ += elapsed;
  const double share = std::max(0.0, 1.0 - elapsed_ / duration_);
  for (std::size_t i = 0; i < initial_.size(); ++i) {
    tau[i] = initial_[i] * share;
  }
  return share == 0.0;
}

}  // namespace robot_dynamics_controllers
