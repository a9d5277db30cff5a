// SPDX-License-Identifier: Apache-2.0
#include "reference_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace robot_dynamics_controllers
{
namespace
{

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void ReferenceValues::configure(const std::vector<std::string> & joints, const std::vector<std::string> & interfaces)
{
  if (joints.size() * interfaces.size() > MOST) {
    throw std::invalid_argument(
            "reference_interfaces: expected at most " + std::to_string(MOST) + " references, got " +
            std::to_string(joints.size() * interfaces.size()));
  }
  const auto place = [&](const char * name) {
      const auto found = std::find(interfaces.begin(), interfaces.end(), name);
      return static_cast<std::size_t>(found - interfaces.begin()) * joints.size();
    };
  const std::size_t count = joints.size() * interfaces.size();
  has_positions_ = place("position") < count;
  if (!has_positions_ && interfaces != std::vector<std::string>{"effort"}) {
    throw std::invalid_argument("reference_interfaces: expected position among them, or effort alone");
  }
  names_.clear();
  for (const std::string & interface : interfaces) {
    for (const std::string & joint : joints) {
      names_.push_back(joint + "/" + interface);
    }
  }
  zeros_.assign(joints.size(), 0.0);
  efforts_ = place("effort");
  const auto values = [&](const char * name) {return place(name) < count ? &read_[place(name)] : zeros_.data();};
  reference_ = Reference{};
  if (has_positions_) {
    reference_ = {values("position"), values("velocity"), values("acceleration"), nullptr};
  }
  reference_.effort = efforts_ < count ? values("effort") : nullptr;
  drop();
}

void ReferenceValues::write(const double * numbers) noexcept
{
  std::copy_n(numbers, names_.size(), values_.begin());
}

void ReferenceValues::drop() noexcept
{
  for (std::size_t i = 0; i < names_.size(); ++i) {
    values_[i] = i - efforts_ < zeros_.size() ? UNWRITTEN : NOT_A_NUMBER;
  }
}

const Reference * ReferenceValues::read() noexcept
{
  bool any = false;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const bool adds = i - efforts_ < zeros_.size();
    const bool written = adds ? values_[i] != UNWRITTEN : !std::isnan(values_[i]);
    read_[i] = written ? values_[i] : NOT_A_NUMBER;
    any = any || written;
  }
  drop();
  return any ? &reference_ : nullptr;
}

std::size_t ReferenceValues::first_not_finite() const noexcept
{
  const auto end = read_.begin() + static_cast<std::ptrdiff_t>(names_.size());
  const auto found = std::find_if(read_.begin(), end, [](double value) {return !std::isfinite(value);});
  return found == end ? NONE : static_cast<std::size_t>(found - read_.begin());
}

}  // namespace robot_dynamics_controllers
