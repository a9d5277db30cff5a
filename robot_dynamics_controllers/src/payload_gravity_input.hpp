// SPDX-License-Identifier: Apache-2.0
#ifndef PAYLOAD_GRAVITY_INPUT_HPP_
#define PAYLOAD_GRAVITY_INPUT_HPP_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "robot_dynamics_controllers/effort_law.hpp"
#include "robot_dynamics_interfaces/msg/gravity_state.hpp"
#include "robot_dynamics_interfaces/msg/payload_state.hpp"

namespace robot_dynamics_controllers
{

/// Payload and gravity of `payload_state` and `gravity_state`, which a dynamics_server publishes, with the meaning that
/// they have in the nodes (nodes/payload_gravity_input.py of robot_dynamics_ros): the newest valid message counts, a wrong
/// one is refused and changes nothing, and without a publisher there is no payload and gravity is the library's.
///
/// All methods but `create` are called in the callbacks of one node, one at a time.
class PayloadGravityInput
{
public:
  /// Subscribes; `awaited`: both messages are required, even without a publisher. `node` outlives this object.
  static std::shared_ptr<PayloadGravityInput> create(
    rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law, bool awaited);

  /// Tells the law once nothing is missing, and takes a ramp that was early; to be called every 20 ms or so.
  void look();

  /// '' once payload and gravity are known, else why no effort may be computed.
  const std::string & missing() const {return missing_;}
  /// Messages that were refused and not replaced since.
  std::vector<std::string> refused() const;
  /// Topics with more than one publisher.
  std::vector<std::string> warnings() const;
  const std::string & refused_last() const {return refused_last_;}
  std::size_t publishers_of_payload() const;
  std::size_t publishers_of_gravity() const;
  /// Grows with each change of payload or gravity.
  std::uint64_t changes() const {return changes_;}

private:
  using Clock = std::chrono::steady_clock;

  template<typename Message>
  struct Topic
  {
    std::string name;
    std::shared_ptr<rclcpp::Subscription<Message>> subscription;
    std::optional<Message> applied, early;
    std::string refusal;
  };

  PayloadGravityInput(rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law, bool awaited);

  template<typename Message>
  static void subscribe(
    const std::shared_ptr<PayloadGravityInput> & self, Topic<Message> PayloadGravityInput::* topic);
  void update();
  template<typename Message>
  void receive(Topic<Message> & topic, const Message & message);
  template<typename Message>
  void receive_early(Topic<Message> & topic);
  template<typename Message>
  std::size_t publishers(const Topic<Message> & topic) const;
  template<typename Message>
  std::string lacks(const Topic<Message> & topic) const;
  std::string reason();
  void refuse(std::string & refusal, const std::string & topic, const std::string & why);

  rclcpp_lifecycle::LifecycleNode & node_;
  std::shared_ptr<EffortLaw> law_;
  bool awaited_;
  std::mutex changing_;  // `create` runs beside the callbacks
  Topic<robot_dynamics_interfaces::msg::PayloadState> payload_;
  Topic<robot_dynamics_interfaces::msg::GravityState> gravity_;
  Clock::time_point created_ = Clock::now();
  std::optional<Clock::time_point> first_seen_;  // when a publisher was seen first
  std::string missing_ = "not configured", refused_last_;
  std::uint64_t changes_ = 0;
};

}  // namespace robot_dynamics_controllers

#endif  // PAYLOAD_GRAVITY_INPUT_HPP_
