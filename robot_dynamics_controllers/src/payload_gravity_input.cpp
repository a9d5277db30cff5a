// SPDX-License-Identifier: Apache-2.0
#include "payload_gravity_input.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace robot_dynamics_controllers
{
namespace
{

using robot_dynamics_interfaces::msg::GravityState;
using robot_dynamics_interfaces::msg::PayloadState;
using std::chrono::milliseconds;

/// Time from the subscriptions' creation in which a publisher on the graph may not be known yet.
constexpr milliseconds DISCOVERY{500};
/// Time from the subscriptions' creation after which the reason names a server that publishes nothing.
constexpr milliseconds PATIENCE{5000};

template<typename Message>
Body body_of(const Message & message)
{
  Body body;
  body.frame = message.frame;
  body.mass = message.mass;
  std::copy(message.com.begin(), message.com.end(), body.com.begin());
  std::copy(message.inertia.begin(), message.inertia.end(), body.inertia.begin());
  return body;
}

PayloadRamp ramp_of(const PayloadState & message)
{
  PayloadRamp ramp;
  ramp.after = body_of(message);
  for (const auto & body : message.before) {
    ramp.before.push_back(body_of(body));
  }
  ramp.start = rclcpp::Time(message.stamp).nanoseconds();
  ramp.duration = ramp_duration(message.ramp_time);
  return ramp;
}

GravityRamp ramp_of(const GravityState & message)
{
  GravityRamp ramp;
  ramp.frame = message.header.frame_id;
  ramp.after = {message.gravity.x, message.gravity.y, message.gravity.z};
  ramp.before = {message.before.x, message.before.y, message.before.z};
  ramp.start = rclcpp::Time(message.header.stamp).nanoseconds();
  ramp.duration = ramp_duration(message.ramp_time);
  return ramp;
}

}  // namespace

std::shared_ptr<PayloadGravityInput> PayloadGravityInput::create(
  rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law, bool awaited)
{
  std::shared_ptr<PayloadGravityInput> self(new PayloadGravityInput(node, std::move(law), awaited));
  // an executor may call back as soon as there is a subscription
  const std::lock_guard<std::mutex> lock(self->changing_);
  subscribe(self, &PayloadGravityInput::payload_);
  subscribe(self, &PayloadGravityInput::gravity_);
  self->update();
  return self;
}

PayloadGravityInput::PayloadGravityInput(
  rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law, bool awaited)
: node_(node), law_(std::move(law)), awaited_(awaited)
{
  payload_.name = "payload_state";
  gravity_.name = "gravity_state";
}

template<typename Message>
void PayloadGravityInput::subscribe(
  const std::shared_ptr<PayloadGravityInput> & self, Topic<Message> PayloadGravityInput::* topic)
{
  const std::weak_ptr<PayloadGravityInput> weak = self;  // another thread may end the last use of this object
  ((*self).*topic).subscription = self->node_.create_subscription<Message>(
    ((*self).*topic).name, rclcpp::QoS(1).reliable().transient_local(),
    [weak, topic](const std::shared_ptr<const Message> message) {
      if (const auto input = weak.lock()) {
        const std::lock_guard<std::mutex> lock(input->changing_);
        input->receive((*input).*topic, *message);
        input->update();
      }
    });
}

void PayloadGravityInput::look()
{
  const std::lock_guard<std::mutex> lock(changing_);
  update();
}

void PayloadGravityInput::update()
{
  receive_early(payload_);
  receive_early(gravity_);
  if (!missing_.empty()) {
    missing_ = reason();
    law_->set_payload_gravity_known(missing_.empty());
  }
}

template<typename Message>
void PayloadGravityInput::receive(Topic<Message> & topic, const Message & message)
{
  topic.early.reset();
  if (topic.applied == message) {
    return;
  }
  Taken taken;
  try {
    taken = law_->take(ramp_of(message), node_.get_clock()->now().nanoseconds());
  } catch (const std::exception & error) {  // rclcpp::Time throws others for a stamp before zero
    taken = {false, false, error.what()};
  }
  if (!taken.accepted) {
    refuse(topic.refusal, topic.name, taken.message);
    if (taken.early) {
      topic.early = message;
    }
    return;
  }
  if (!taken.message.empty()) {
    RCLCPP_WARN(node_.get_logger(), "%s: %s", topic.name.c_str(), taken.message.c_str());
  }
  topic.applied = message;
  topic.refusal.clear();
  ++changes_;
}

template<typename Message>
void PayloadGravityInput::receive_early(Topic<Message> & topic)
{
  if (topic.early) {
    const Message message = *topic.early;
    receive(topic, message);
  }
}

void PayloadGravityInput::refuse(std::string & refusal, const std::string & topic, const std::string & why)
{
  const std::string text = topic + ": " + why;
  if (text != refusal) {
    RCLCPP_WARN(node_.get_logger(), "refused: %s", text.c_str());
  }
  refusal = refused_last_ = text;
}

template<typename Message>
std::size_t PayloadGravityInput::publishers(const Topic<Message> & topic) const
{
  return node_.count_publishers(topic.subscription->get_topic_name());
}

std::size_t PayloadGravityInput::publishers_of_payload() const {return publishers(payload_);}

std::size_t PayloadGravityInput::publishers_of_gravity() const {return publishers(gravity_);}

/// Why a topic without a message is waited for; '' where it is not.
template<typename Message>
std::string PayloadGravityInput::lacks(const Topic<Message> & topic) const
{
  const bool seen = publishers(topic) > 0;
  if (topic.applied || !(seen || awaited_)) {
    return "";
  }
  if (Clock::now() - created_ < PATIENCE) {
    return "waiting for " + topic.name;
  }
  return topic.name + (seen ? " has a publisher" : " is awaited (await_load)") +
         ", but no message came within 5 s: activate dynamics_server";
}

std::string PayloadGravityInput::reason()
{
  const std::string refusals[] = {
    payload_.applied ? "" : payload_.refusal, gravity_.applied ? "" : gravity_.refusal};
  for (const std::string & refusal : refusals) {
    if (!refusal.empty()) {
      return "refused: " + refusal;
    }
  }
  if (!first_seen_ && publishers(payload_) + publishers(gravity_) > 0) {
    first_seen_ = Clock::now();
  }
  for (const std::string & lacking : {lacks(payload_), lacks(gravity_)}) {
    if (!lacking.empty()) {
      return lacking;
    }
  }
  // of a server that has just been discovered one topic may be known before the other
  const auto since = std::max(created_, first_seen_.value_or(created_));
  const bool unknown = !payload_.applied || !gravity_.applied;
  if (unknown && Clock::now() - since < DISCOVERY) {
    return "waiting for " + (payload_.applied ? gravity_.name : payload_.name);
  }
  return "";
}

std::vector<std::string> PayloadGravityInput::refused() const
{
  std::vector<std::string> found;
  for (const std::string & refusal : {payload_.refusal, gravity_.refusal}) {
    if (!refusal.empty() && missing_.empty()) {
      found.push_back("refused, the value before stays: " + refusal);
    }
  }
  return found;
}

std::vector<std::string> PayloadGravityInput::warnings() const
{
  std::vector<std::string> found;
  const std::pair<std::string, std::size_t> counts[] = {
    {payload_.name, publishers(payload_)}, {gravity_.name, publishers(gravity_)}};
  for (const auto & [topic, count] : counts) {
    if (count > 1) {
      found.push_back(
        topic + " has " + std::to_string(count) +
        " publishers, and the newest message counts: end all instances of dynamics_server but one");
    }
  }
  return found;
}

}  // namespace robot_dynamics_controllers
