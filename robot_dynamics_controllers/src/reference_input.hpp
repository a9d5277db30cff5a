// SPDX-License-Identifier: Apache-2.0
#ifndef REFERENCE_INPUT_HPP_
#define REFERENCE_INPUT_HPP_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "core/reference_values.hpp"
#include "robot_dynamics_controllers/handover.hpp"
#include "subscription.hpp"
#include "trajectory_msgs/msg/joint_trajectory.hpp"

namespace robot_dynamics_controllers
{

/// References of the topic `~/reference`, for a controller without another one above: a JointTrajectory of one point,
/// which acts when it comes. It has to hold the fields of all interfaces, and each joint once; other joints are ignored.
class ReferenceInput
{
public:
  /// Subscribes; joints times interfaces are at most ReferenceValues::MOST. `node` outlives this object.
  static std::shared_ptr<ReferenceInput> create(
    rclcpp_lifecycle::LifecycleNode & node, const std::vector<std::string> & joints,
    const std::vector<std::string> & interfaces, double timeout);

  /// The references that came since the last call, those of all joints of the first interface first; nullptr: none. For
  /// the real-time thread.
  const double * newest() noexcept;

  /// For callbacks of the node.
  const Verdicts & verdicts() const {return verdicts_;}

private:
  struct Values
  {
    std::uint64_t count;
    std::array<double, ReferenceValues::MOST> numbers;
  };

  ReferenceInput(
    rclcpp_lifecycle::LifecycleNode & node, const std::vector<std::string> & joints,
    const std::vector<std::string> & interfaces, double timeout);
  void receive(const trajectory_msgs::msg::JointTrajectory & message);
  Values values_of(const trajectory_msgs::msg::JointTrajectory & message) const;

  rclcpp_lifecycle::LifecycleNode & node_;
  std::vector<std::string> joints_, interfaces_;
  double timeout_;  // s
  std::uint64_t received_ = 0, read_ = 0;
  Verdicts verdicts_{"reference"};
  Handover<Values> values_{Values{}};
  std::shared_ptr<rclcpp::Subscription<trajectory_msgs::msg::JointTrajectory>> subscription_;
};

}  // namespace robot_dynamics_controllers

#endif  // REFERENCE_INPUT_HPP_
