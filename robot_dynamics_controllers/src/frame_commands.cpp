// SPDX-License-Identifier: Apache-2.0
#include "frame_commands.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "clock_watch.hpp"

namespace robot_dynamics_controllers
{
namespace
{

/// Messages that wait for a busy executor: after a stop each of them says that wrenches have gone on.
constexpr std::size_t MOST_WAITING = 1000;

FrameNumbers numbers_of(const geometry_msgs::msg::Wrench & wrench)
{
  const auto & rotation = wrench.torque, & translation = wrench.force;
  return {rotation.x, rotation.y, rotation.z, translation.x, translation.y, translation.z};
}

}  // namespace

std::shared_ptr<FrameCommands> FrameCommands::create(
  rclcpp_lifecycle::LifecycleNode & node, const std::shared_ptr<EffortLaw> & law)
{
  std::shared_ptr<FrameCommands> self(new FrameCommands(node, law));
  self->stiffness_ = subscribed<WrenchStamped>(
    node, "~/target_stiffness", rclcpp::QoS(1), self,
    [](FrameCommands & it, const WrenchStamped & message, const rclcpp::MessageInfo &) {
      it.stiffnesses_.judge(
        it.node_, [&] {it.law_->want_stiffness(message.header.frame_id, numbers_of(message.wrench));});
    });
  self->wrench_ = subscribed<WrenchStamped>(
    node, "~/target_wrench", rclcpp::QoS(MOST_WAITING), self,
    [](FrameCommands & it, const WrenchStamped & message, const rclcpp::MessageInfo & info) {
      it.wrenches_.judge(it.node_, [&] {it.follow_wrench(message, info);});
    });
  return self;
}

FrameCommands::FrameCommands(rclcpp_lifecycle::LifecycleNode & node, const std::shared_ptr<EffortLaw> & law)
: node_(node), law_(law)
{
}

/// The executor may come to a message late: what counts is when it was received.
void FrameCommands::follow_wrench(const WrenchStamped & message, const rclcpp::MessageInfo & info)
{
  const std::int64_t received = info.get_rmw_message_info().received_timestamp;  // of the system clock; 0: unknown
  const std::int64_t waited = received == 0 ? 0 : std::max<std::int64_t>(0, rclcpp::Clock().now().nanoseconds() - received);
  const std::int64_t now = node_.get_clock()->now().nanoseconds(), steady = steady_now();
  const std::int64_t stamp = rclcpp::Time(message.header.stamp).nanoseconds();
  law_->want_wrench(
    message.header.frame_id, numbers_of(message.wrench),
    {(node_.get_clock()->ros_time_is_active() ? now : steady) - waited, steady - waited, waited, stamp == 0 ? 0 : now - stamp});
}

std::vector<std::string> FrameCommands::warnings() const
{
  std::vector<std::string> found;
  for (const auto & [topic, kind] : {std::pair{stiffness_, "stiffness"}, {wrench_, "wrench"}}) {
    const std::size_t count = node_.count_publishers(topic->get_topic_name());
    if (count > 1) {
      found.push_back(
        std::to_string(count) + " publishers of " + topic->get_topic_name() + ": the newest " + kind +
        " counts, whoever sent it; stop the others");
    }
  }
  return found;
}

}  // namespace robot_dynamics_controllers
