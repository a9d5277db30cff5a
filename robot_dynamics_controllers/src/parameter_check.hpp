// SPDX-License-Identifier: Apache-2.0
#ifndef PARAMETER_CHECK_HPP_
#define PARAMETER_CHECK_HPP_

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rclcpp_lifecycle/lifecycle_node.hpp"

namespace robot_dynamics_controllers
{

/// Refuses NaN, which passes every check of bounds.
inline rcl_interfaces::msg::SetParametersResult refuse_nan(const std::vector<rclcpp::Parameter> & parameters)
{
  rcl_interfaces::msg::SetParametersResult result;
  result.successful = true;
  for (const rclcpp::Parameter & parameter : parameters) {
    std::vector<double> numbers;
    if (parameter.get_type() == rclcpp::PARAMETER_DOUBLE) {
      numbers = {parameter.as_double()};
    } else if (parameter.get_type() == rclcpp::PARAMETER_DOUBLE_ARRAY) {
      numbers = parameter.as_double_array();
    }
    if (std::any_of(numbers.begin(), numbers.end(), [](double number) {return std::isnan(number);})) {
      result.successful = false;
      result.reason = parameter.get_name() + ": expected numbers, got " + parameter.value_to_string();
    }
  }
  return result;
}

/// The parameters of a node as they were when this object was made: those that a configured controller uses.
class ParametersInUse
{
public:
  explicit ParametersInUse(const rclcpp_lifecycle::LifecycleNode & node)
  : values_(node.get_parameters(node.list_parameters({}, 0).names)) {}

  /// Names of parameters that have other values now, which are used from the next configure on; "" for none.
  std::string changed(const rclcpp_lifecycle::LifecycleNode & node) const
  {
    std::string names;
    for (const rclcpp::Parameter & used : values_) {
      if (used.get_name() != "use_sim_time" && node.get_parameter(used.get_name()) != used) {
        names += (names.empty() ? "" : ", ") + used.get_name();
      }
    }
    return names;
  }

private:
  std::vector<rclcpp::Parameter> values_;
};

}  // namespace robot_dynamics_controllers

#endif  // PARAMETER_CHECK_HPP_
