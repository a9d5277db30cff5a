// SPDX-License-Identifier: Apache-2.0
#ifndef PAYLOAD_GRAVITY_INPUT_HPP_
#define PAYLOAD_GRAVITY_INPUT_HPP_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ramp_topic.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "robot_dynamics_controllers/effort_law.hpp"
#include "robot_dynamics_interfaces/msg/gravity_state.hpp"
#include "robot_dynamics_interfaces/msg/payload_state.hpp"
#include "server_wait.hpp"

namespace robot_dynamics_controllers
{

/// Payload and gravity of `payload_state` and `gravity_state`, which a dynamics_server publishes, with the meaning that
/// they have in the nodes (nodes/inputs/payload_gravity_input.py of robot_dynamics_ros): the newest valid message counts, and a
/// wrong one is refused and changes nothing. Without a message those of the library count.
///
/// Methods may be called by several threads.
class PayloadGravityInput
{
public:
  /// Subscribes, and waits for the messages of a dynamics_server that is on the graph, as ServerWait says;
  /// `since_participant`: s since the process's participant was created. `required`: an activation needs both messages.
  /// `node` outlives this object.
  static std::shared_ptr<PayloadGravityInput> create(
    rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law, bool required, double since_participant);

  /// Tries a ramp again that was early; to be called every 20 ms or so.
  void look();

  /// Why an activation is refused; '' where it is not.
  std::string missing() const;
  /// Messages that were refused and not replaced since.
  std::vector<std::string> refused() const;
  /// Topics with more than one publisher, or with one that says nothing.
  std::vector<std::string> warnings() const;
  std::string refused_last() const;
  std::size_t publishers_of_payload() const;
  std::size_t publishers_of_gravity() const;
  /// Grows with each change of payload or gravity.
  std::uint64_t changes() const;

private:
  using Clock = std::chrono::steady_clock;

  template<typename Message>
  struct Topic
  {
    RampTopic<Message> messages;
    std::shared_ptr<rclcpp::Subscription<Message>> subscription;
  };

  PayloadGravityInput(rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law, bool required);

  template<typename Message>
  static void subscribe(
    const std::shared_ptr<PayloadGravityInput> & self, Topic<Message> PayloadGravityInput::* topic);
  void wait(double since_participant);
  template<typename Message>
  void poll(Topic<Message> & topic);
  template<typename Message>
  void receive(Topic<Message> & topic, const Message & message);
  template<typename Message>
  Taken applied(const Message & message);
  template<typename Message>
  void report(const Topic<Message> & topic, const std::string & line);
  template<typename Message>
  std::size_t publishers(const Topic<Message> & topic) const;
  template<typename Message>
  ServerTopic status(const Topic<Message> & topic) const;

  rclcpp_lifecycle::LifecycleNode & node_;
  std::shared_ptr<EffortLaw> law_;
  const bool required_;
  mutable std::mutex changing_;
  Topic<robot_dynamics_interfaces::msg::PayloadState> payload_{
    RampTopic<robot_dynamics_interfaces::msg::PayloadState>("payload_state"), nullptr};
  Topic<robot_dynamics_interfaces::msg::GravityState> gravity_{
    RampTopic<robot_dynamics_interfaces::msg::GravityState>("gravity_state"), nullptr};
  std::string refused_last_;
  std::uint64_t changes_ = 0;
};

}  // namespace robot_dynamics_controllers

#endif  // PAYLOAD_GRAVITY_INPUT_HPP_
