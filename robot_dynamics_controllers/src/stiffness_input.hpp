// SPDX-License-Identifier: Apache-2.0
#ifndef STIFFNESS_INPUT_HPP_
#define STIFFNESS_INPUT_HPP_

#include <memory>
#include <string>

#include "geometry_msgs/msg/wrench_stamped.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "robot_dynamics_controllers/effort_law.hpp"

namespace robot_dynamics_controllers
{

/// Stiffnesses of the topic `~/target_stiffness` for an impedance: force has that of translation, torque that of rotation.
class StiffnessInput
{
public:
  /// Subscribes. `node` outlives this object.
  static std::shared_ptr<StiffnessInput> create(
    rclcpp_lifecycle::LifecycleNode & node, const std::shared_ptr<EffortLaw> & law);

  /// Why the last message was refused that was, '' for none; for callbacks of the node.
  const std::string & refused_last() const {return refused_last_;}

private:
  StiffnessInput(rclcpp_lifecycle::LifecycleNode & node, const std::shared_ptr<EffortLaw> & law);
  void receive(const geometry_msgs::msg::WrenchStamped & message);

  rclcpp_lifecycle::LifecycleNode & node_;
  std::shared_ptr<EffortLaw> law_;
  std::string refused_last_;
  std::shared_ptr<rclcpp::Subscription<geometry_msgs::msg::WrenchStamped>> subscription_;
};

}  // namespace robot_dynamics_controllers

#endif  // STIFFNESS_INPUT_HPP_
