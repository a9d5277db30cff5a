// SPDX-License-Identifier: Apache-2.0
#ifndef FRAME_COMMANDS_HPP_
#define FRAME_COMMANDS_HPP_

#include <memory>
#include <string>
#include <vector>

#include "geometry_msgs/msg/wrench_stamped.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "robot_dynamics_controllers/effort_law.hpp"
#include "subscription.hpp"

namespace robot_dynamics_controllers
{

/// Messages for a law of a frame: `~/target_stiffness`, whose force is the stiffness of translation and whose torque that of
/// rotation, and `~/target_wrench`, with the rules that it has in torque_controller (nodes/inputs/wrench_input.py of
/// robot_dynamics_ros).
class FrameCommands
{
public:
  /// Subscribes. `node` outlives this object.
  static std::shared_ptr<FrameCommands> create(
    rclcpp_lifecycle::LifecycleNode & node, const std::shared_ptr<EffortLaw> & law);

  // --- for callbacks of the node
  const Verdicts & stiffnesses() const {return stiffnesses_;}
  const Verdicts & wrenches() const {return wrenches_;}
  /// Topics with several publishers.
  std::vector<std::string> warnings() const;

private:
  using WrenchStamped = geometry_msgs::msg::WrenchStamped;

  FrameCommands(rclcpp_lifecycle::LifecycleNode & node, const std::shared_ptr<EffortLaw> & law);
  void follow_wrench(const WrenchStamped & message, const rclcpp::MessageInfo & info);

  rclcpp_lifecycle::LifecycleNode & node_;
  std::shared_ptr<EffortLaw> law_;
  Verdicts stiffnesses_{"stiffness"}, wrenches_{"wrench"};
  std::shared_ptr<rclcpp::Subscription<WrenchStamped>> stiffness_, wrench_;
};

}  // namespace robot_dynamics_controllers

#endif  // FRAME_COMMANDS_HPP_
