// SPDX-License-Identifier: Apache-2.0
// What parameter_check.hpp says of parameters, a line each.
#include "parameter_check.hpp"

#include <cstdio>
#include <limits>

using namespace robot_dynamics_controllers;

int main()
{
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const rclcpp::Parameter cases[] = {
    {"number", rclcpp::PARAMETER_DOUBLE, {1.0}}, {"number", rclcpp::PARAMETER_DOUBLE, {nan}},
    {"array", rclcpp::PARAMETER_DOUBLE_ARRAY, {1.0, inf}}, {"array", rclcpp::PARAMETER_DOUBLE_ARRAY, {1.0, nan}},
    {"array", rclcpp::PARAMETER_DOUBLE_ARRAY, {}}, {"text", rclcpp::PARAMETER_STRING, {}}};
  for (const rclcpp::Parameter & parameter : cases) {
    const auto result = refuse_nan({parameter, {"after", rclcpp::PARAMETER_DOUBLE, {0.0}}});
    std::printf("%s '%s'\n", result.successful ? "accepted" : "refused", result.reason.c_str());
  }
  rclcpp_lifecycle::LifecycleNode node;
  for (const char * name : {"first", "second", "use_sim_time"}) {
    node.parameters.emplace_back(name, rclcpp::PARAMETER_DOUBLE, std::vector<double>{1.0});
  }
  const ParametersInUse used(node);
  std::printf("'%s'\n", used.changed(node).c_str());
  node.parameters[1] = {"second", rclcpp::PARAMETER_DOUBLE, {2.0}};
  node.parameters[2] = {"use_sim_time", rclcpp::PARAMETER_DOUBLE, {2.0}};
  std::printf("'%s'\n", used.changed(node).c_str());
  node.parameters[0] = {"first", rclcpp::PARAMETER_DOUBLE, {2.0}};
  std::printf("'%s'\n", used.changed(node).c_str());
}
