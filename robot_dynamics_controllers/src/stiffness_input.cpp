// SPDX-License-Identifier: Apache-2.0
#include "stiffness_input.hpp"

#include <stdexcept>

namespace robot_dynamics_controllers
{

using geometry_msgs::msg::WrenchStamped;

std::shared_ptr<StiffnessInput> StiffnessInput::create(
  rclcpp_lifecycle::LifecycleNode & node, const std::shared_ptr<EffortLaw> & law)
{
  std::shared_ptr<StiffnessInput> self(new StiffnessInput(node, law));
  const std::weak_ptr<StiffnessInput> weak = self;
  self->subscription_ = node.create_subscription<WrenchStamped>(
    "~/target_stiffness", rclcpp::QoS(1),
    [weak](const std::shared_ptr<const WrenchStamped> message) {
      if (const auto input = weak.lock()) {
        input->receive(*message);
      }
    });
  return self;
}

StiffnessInput::StiffnessInput(rclcpp_lifecycle::LifecycleNode & node, const std::shared_ptr<EffortLaw> & law)
: node_(node), law_(law)
{
}

void StiffnessInput::receive(const WrenchStamped & message)
{
  const auto & rotation = message.wrench.torque, & translation = message.wrench.force;
  try {
    law_->want_stiffness(
      message.header.frame_id,
      {rotation.x, rotation.y, rotation.z, translation.x, translation.y, translation.z});
  } catch (const std::invalid_argument & error) {
    refused_last_ = error.what();
    RCLCPP_WARN_THROTTLE(
      node_.get_logger(), *node_.get_clock(), 1000, "stiffness refused: %s", error.what());
  }
}

}  // namespace robot_dynamics_controllers
