// SPDX-License-Identifier: Apache-2.0
#include "robot_dynamics_controllers/torque_limiter.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace

TorqueLimiter::TorqueLimiter(std::vector<double> effort_limit, std::vector<double> rate_limit)
: effort_limit_(std::move(effort_limit)), rate_limit_(std::move(rate_limit)),
  last_(effort_limit_.size()), by_joint_(effort_limit_.size())
{
}

unsigned TorqueLimiter::apply(double * tau, double elapsed) noexcept
{
  constexpr auto relaxed = std::memory_order_relaxed;
  const std::size_t n = last_.size();
  unsigned found = 0u;
  for (std::size_t k = 0; k < n; ++k) {
    if (!std::isfinite(tau[k])) {
      by_joint_[k].fetch_or(NOT_FINITE, relaxed);
      found = NOT_FINITE;
    }
  }
  if (found) {
    not_finite_.fetch_add(1, relaxed);
    return found;
  }
  for (std::size_t k = 0; k < n; ++k) {
    unsigned flags = 0u;
    // |tau| <= limit
    if (std::abs(tau[k]) > effort_limit_[k]) {
      tau[k] = tau[k] > 0.0 ? effort_limit_[k] : -effort_limit_[k];
      flags |= EFFORT;
    }
    // |tau - last| <= rate elapsed
    const double step = rate_limit_[k] * elapsed;
    if (rate_limit_[k] > 0.0 && std::abs(tau[k] - last_[k]) > step) {
      tau[k] = tau[k] > last_[k] ? last_[k] + step : last_[k] - step;
      flags |= RATE;
    }
    last_[k] = tau[k];
    if (flags) {
      by_joint_[k].fetch_or(flags, relaxed);
      found |= flags;
    }
  }
  if (found & EFFORT) {
    effort_.fetch_add(1, relaxed);
  }
  if (found & RATE) {
    rate_.fetch_add(1, relaxed);
  }
  return found;
}

void TorqueLimiter::set_last(const double * tau) noexcept
{
  std::copy_n(tau, last_.size(), last_.begin());
}

unsigned TorqueLimiter::limited(std::size_t joint) const noexcept
{
  return by_joint_[joint].load(std::memory_order_relaxed);
}

std::uint64_t TorqueLimiter::count(Limited flag) const noexcept
{
  const auto & counter = flag == EFFORT ? effort_ : flag == RATE ? rate_ : not_finite_;
  return counter.load(std::memory_order_relaxed);
}

void TorqueLimiter::reset() noexcept
{
  for (auto & flags : by_joint_) {
    flags.store(0u, std::memory_order_relaxed);
  }
  for (auto * counter : {&effort_, &rate_, &not_finite_}) {
    counter->store(0, std::memory_order_relaxed);
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
