// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/torque_limiter.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace robot_dynamics_controllers
{
namespace
{

std::vector<double> for_each(
  const std::string & name, const std::vector<double> & values, const std::vector<std::string> & joints)
{
  const bool length = values.size() == 1 || values.size() == joints.size();
  const auto at_least_zero = [](double value) {return value >= 0.0;};  // NaN is not
  if (!length || !std::all_of(values.begin(), values.end(), at_least_zero)) {
    std::string got;
    for (double value : values) {
      got += (got.empty() ? "" : ", ") + std::to_string(value);
    }
    throw std::invalid_argument(
            name + ": expected one number >= 0 or " + std::to_string(joints.size()) + ", got [" + got + "]");
  }
  return values.size() == 1 ? std::vector<double>(joints.size(), values[0]) : values;
}

constexpr auto ANY_ORDER = std::memory_order_relaxed;

}  // namespace

TorqueLimiter::TorqueLimiter(
  const robot_dynamics_library & library, std::vector<double> effort_limit, std::vector<double> rate_limit)
: library_(library), effort_limit_(std::move(effort_limit)), rate_limit_(std::move(rate_limit)),
  last_(effort_limit_.size()), limited_(effort_limit_.size()), by_joint_(effort_limit_.size())
{
}

bool TorqueLimiter::limit_effort(double * tau) noexcept
{
  return counted(library_.limit_effort(effort_limit_.data(), limited_.data(), tau)) < NOT_FINITE;
}

bool TorqueLimiter::apply(double * tau, double elapsed) noexcept
{
  if (!limit_effort(tau)) {
    return false;
  }
  counted(library_.limit_rate(rate_limit_.data(), last_.data(), limited_.data(), tau, elapsed));
  return true;
}

double TorqueLimiter::counted(double largest) noexcept
{
  if (largest > 0.0) {
    count();
  }
  return largest;
}

void TorqueLimiter::count() noexcept
{
  unsigned found = 0u;
  for (std::size_t k = 0; k < limited_.size(); ++k) {
    const auto flags = static_cast<unsigned>(limited_[k]);
    by_joint_[k].fetch_or(flags, ANY_ORDER);
    found |= flags;
  }
  for (const auto & [flag, counter] : {
      std::pair<unsigned, std::atomic<std::uint64_t> *>{EFFORT, &effort_}, {RATE, &rate_},
      {NOT_FINITE, &not_finite_}})
  {
    if (found & flag) {
      counter->fetch_add(1, ANY_ORDER);
    }
  }
}

void TorqueLimiter::set_last(const double * tau) noexcept
{
  std::copy_n(tau, last_.size(), last_.begin());
}

unsigned TorqueLimiter::limited(std::size_t joint) const noexcept
{
  return by_joint_[joint].load(ANY_ORDER);
}

std::uint64_t TorqueLimiter::count(Limited flag) const noexcept
{
  const auto & counter = flag == EFFORT ? effort_ : flag == RATE ? rate_ : not_finite_;
  return counter.load(ANY_ORDER);
}

void TorqueLimiter::reset() noexcept
{
  for (auto & flags : by_joint_) {
    flags.store(0u, ANY_ORDER);
  }
  for (auto * counter : {&effort_, &rate_, &not_finite_}) {
    counter->store(0, ANY_ORDER);
  }
}

std::vector<double> effort_limits(
  const std::vector<double> & stated, const double * known, const std::vector<std::string> & joints)
{
  std::vector<double> limits = for_each("effort_limit", stated, joints);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    limits[i] = limits[i] > 0.0 ? limits[i] : known[i];
    if (!(limits[i] > 0.0)) {
      throw std::invalid_argument(
              "joint '" + joints[i] +
              "': no effort limit is known; set the parameter effort_limit (.inf: no limit)");
    }
  }
  return limits;
}

std::vector<double> rate_limits(
  const std::vector<double> & stated, const std::vector<std::string> & joints)
{
  return for_each("rate_limit", stated, joints);
}

}  // namespace robot_dynamics_controllers
