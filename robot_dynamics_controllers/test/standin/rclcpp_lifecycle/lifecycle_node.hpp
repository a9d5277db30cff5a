// SPDX-License-Identifier: Apache-2.0
// The part of rclcpp that parameter_check.hpp uses, for tests without a ROS installation.
#ifndef RCLCPP_LIFECYCLE__LIFECYCLE_NODE_HPP_
#define RCLCPP_LIFECYCLE__LIFECYCLE_NODE_HPP_

#include <string>
#include <utility>
#include <vector>

namespace rcl_interfaces::msg
{

struct SetParametersResult {bool successful = false; std::string reason;};
struct ListParametersResult {std::vector<std::string> names;};

}  // namespace rcl_interfaces::msg

namespace rclcpp
{

enum ParameterType {PARAMETER_STRING, PARAMETER_DOUBLE, PARAMETER_DOUBLE_ARRAY};

class Parameter
{
public:
  Parameter(std::string name, ParameterType type, std::vector<double> numbers)
  : name_(std::move(name)), type_(type), numbers_(std::move(numbers)) {}

  const std::string & get_name() const {return name_;}
  ParameterType get_type() const {return type_;}
  double as_double() const {return numbers_.at(0);}
  const std::vector<double> & as_double_array() const {return numbers_;}
  std::string value_to_string() const {return "its value";}
  bool operator!=(const Parameter & other) const {return numbers_ != other.numbers_;}

private:
  std::string name_;
  ParameterType type_;
  std::vector<double> numbers_;
};

}  // namespace rclcpp

namespace rclcpp_lifecycle
{

class LifecycleNode
{
public:
  std::vector<rclcpp::Parameter> parameters;

  rcl_interfaces::msg::ListParametersResult list_parameters(const std::vector<std::string> &, unsigned) const
  {
    rcl_interfaces::msg::ListParametersResult result;
    for (const rclcpp::Parameter & parameter : parameters) {
      result.names.push_back(parameter.get_name());
    }
    return result;
  }

  rclcpp::Parameter get_parameter(const std::string & name) const
  {
    for (const rclcpp::Parameter & parameter : parameters) {
      if (parameter.get_name() == name) {
        return parameter;
      }
    }
    return {"", rclcpp::PARAMETER_STRING, {}};
  }

  std::vector<rclcpp::Parameter> get_parameters(const std::vector<std::string> & names) const
  {
    std::vector<rclcpp::Parameter> found;
    for (const std::string & name : names) {
      found.push_back(get_parameter(name));
    }
    return found;
  }
};

}  // namespace rclcpp_lifecycle

#endif  // RCLCPP_LIFECYCLE__LIFECYCLE_NODE_HPP_
