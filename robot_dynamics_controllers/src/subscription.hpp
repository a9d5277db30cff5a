// SPDX-License-Identifier: Apache-2.0
#ifndef SUBSCRIPTION_HPP_
#define SUBSCRIPTION_HPP_

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "rclcpp_lifecycle/lifecycle_node.hpp"

namespace robot_dynamics_controllers
{

/// Subscribes to a topic: `receive(input, message, info)` is called for each message. Another thread may end the last use of
/// `input` meanwhile.
template<typename Message, typename Input, typename Receive>
std::shared_ptr<rclcpp::Subscription<Message>> subscribed(
  rclcpp_lifecycle::LifecycleNode & node, const std::string & topic, const rclcpp::QoS & qos,
  const std::shared_ptr<Input> & input, Receive receive)
{
  return node.create_subscription<Message>(
    topic, qos,
    [weak = std::weak_ptr<Input>(input), receive](
      const std::shared_ptr<const Message> message, const rclcpp::MessageInfo & info) {
      if (const auto found = weak.lock()) {
        receive(*found, *message, info);
      }
    });
}

/// What became of the messages of one kind; for callbacks of one node.
class Verdicts
{
public:
  explicit Verdicts(const std::string & kind)
  : kind_(kind) {}

  /// Calls `follow`, whose exceptions refuse a message.
  template<typename Follow>
  void judge(const rclcpp_lifecycle::LifecycleNode & node, Follow follow)
  {
    try {
      follow();
      ++taken_;
    } catch (const std::exception & error) {  // rclcpp::Time throws others for a stamp before zero
      ++refused_;
      refused_last_ = error.what();
      RCLCPP_WARN_THROTTLE(
        node.get_logger(), *node.get_clock(), 1000, "%s refused: %s", kind_.c_str(), error.what());
    }
  }

  std::uint64_t taken() const {return taken_;}
  std::uint64_t refused() const {return refused_;}
  /// Why the last message was refused that was, '' for none.
  const std::string & refused_last() const {return refused_last_;}

private:
  std::string kind_, refused_last_;
  std::uint64_t taken_ = 0, refused_ = 0;
};

}  // namespace robot_dynamics_controllers

#endif  // SUBSCRIPTION_HPP_
