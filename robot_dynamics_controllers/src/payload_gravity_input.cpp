// SPDX-License-Identifier: Apache-2.0
#include "payload_gravity_input.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "subscription.hpp"

namespace robot_dynamics_controllers
{
namespace
{

using robot_dynamics_interfaces::msg::GravityState;
using robot_dynamics_interfaces::msg::PayloadState;
using std::chrono::milliseconds;

constexpr milliseconds POLL_PERIOD{5};

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
  rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law, bool required, double since_participant)
{
  std::shared_ptr<PayloadGravityInput> self(new PayloadGravityInput(node, std::move(law), required));
  subscribe(self, &PayloadGravityInput::payload_);
  subscribe(self, &PayloadGravityInput::gravity_);
  self->wait(since_participant);
  return self;
}

PayloadGravityInput::PayloadGravityInput(
  rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law, bool required)
: node_(node), law_(std::move(law)), required_(required)
{
}

template<typename Message>
void PayloadGravityInput::subscribe(
  const std::shared_ptr<PayloadGravityInput> & self, Topic<Message> PayloadGravityInput::* topic)
{
  // an executor may call back as soon as there is a subscription
  const std::lock_guard<std::mutex> lock(self->changing_);
  ((*self).*topic).subscription = subscribed<Message>(
    self->node_, ((*self).*topic).messages.name(), rclcpp::QoS(1).reliable().transient_local(), self,
    [topic](PayloadGravityInput & it, const Message & message, const rclcpp::MessageInfo &) {
      const std::lock_guard<std::mutex> lock(it.changing_);
      it.receive(it.*topic, message);
    });
}

/// Takes messages itself: the executor may be the thread that configures.
void PayloadGravityInput::wait(double since_participant)
{
  const auto began = Clock::now();
  for (bool waits = true; waits; ) {
    {
      const std::lock_guard<std::mutex> lock(changing_);
      poll(payload_);
      poll(gravity_);
      const double since_begin = std::chrono::duration<double>(Clock::now() - began).count();
      const ServerTopic payload = status(payload_), gravity = status(gravity_);
      waits = ServerWait::waits(payload, gravity, since_participant + since_begin, since_begin) ||
        ServerWait::waits(gravity, payload, since_participant + since_begin, since_begin);
    }
    if (waits) {
      std::this_thread::sleep_for(POLL_PERIOD);
    }
  }
}

template<typename Message>
void PayloadGravityInput::poll(Topic<Message> & topic)
{
  Message message;
  rclcpp::MessageInfo info;
  while (topic.subscription->take(message, info)) {
    receive(topic, message);
  }
}

void PayloadGravityInput::look()
{
  const std::lock_guard<std::mutex> lock(changing_);
  report(payload_, payload_.messages.retry([this](const PayloadState & message) {return applied(message);}));
  report(gravity_, gravity_.messages.retry([this](const GravityState & message) {return applied(message);}));
}

template<typename Message>
void PayloadGravityInput::receive(Topic<Message> & topic, const Message & message)
{
  report(topic, topic.messages.receive(message, [this](const Message & newest) {return applied(newest);}));
}

template<typename Message>
Taken PayloadGravityInput::applied(const Message & message)
{
  try {
    const Taken taken = law_->take(ramp_of(message), node_.get_clock()->now().nanoseconds());
    changes_ += taken.accepted ? 1u : 0u;
    return taken;
  } catch (const std::exception & error) {  // rclcpp::Time throws others for a stamp before zero
    return {false, false, error.what()};
  }
}

template<typename Message>
void PayloadGravityInput::report(const Topic<Message> & topic, const std::string & line)
{
  if (!topic.messages.refusal().empty()) {
    refused_last_ = topic.messages.refusal();
  }
  if (!line.empty()) {
    RCLCPP_WARN(node_.get_logger(), "%s", line.c_str());
  }
}

template<typename Message>
std::size_t PayloadGravityInput::publishers(const Topic<Message> & topic) const
{
  return node_.count_publishers(topic.subscription->get_topic_name());
}

std::size_t PayloadGravityInput::publishers_of_payload() const {return publishers(payload_);}

std::size_t PayloadGravityInput::publishers_of_gravity() const {return publishers(gravity_);}

template<typename Message>
ServerTopic PayloadGravityInput::status(const Topic<Message> & topic) const
{
  const RampTopic<Message> & messages = topic.messages;
  const std::optional<Message> & last = messages.in_force();
  const bool settled = !last || !last->assumed || last->settled;
  return {messages.name(), publishers(topic) > 0, messages.is_applied(), settled, messages.refusal()};
}

std::string PayloadGravityInput::missing() const
{
  if (!required_) {
    return "";
  }
  const std::lock_guard<std::mutex> lock(changing_);
  for (const ServerTopic & topic : {status(payload_), status(gravity_)}) {
    const std::string lacking = ServerWait::lacks(topic);
    if (!lacking.empty()) {
      return lacking;
    }
  }
  return "";
}

std::vector<std::string> PayloadGravityInput::refused() const
{
  const std::lock_guard<std::mutex> lock(changing_);
  std::vector<std::string> found;
  for (const std::string & refusal : {payload_.messages.refusal(), gravity_.messages.refusal()}) {
    if (!refusal.empty()) {
      found.push_back("refused, the value before stays: " + refusal);
    }
  }
  return found;
}

std::vector<std::string> PayloadGravityInput::warnings() const
{
  const std::lock_guard<std::mutex> lock(changing_);
  std::vector<std::string> found;
  for (const ServerTopic & topic : {status(payload_), status(gravity_)}) {
    const std::string warning = ServerWait::warning(topic);
    if (!warning.empty()) {
      found.push_back(warning);
    }
  }
  const std::pair<std::string, std::size_t> counts[] = {
    {payload_.messages.name(), publishers(payload_)}, {gravity_.messages.name(), publishers(gravity_)}};
  for (const auto & [topic, count] : counts) {
    if (count > 1) {
      found.push_back(
        topic + " has " + std::to_string(count) +
        " publishers, and the newest message counts: end all instances of dynamics_server but one");
    }
  }
  return found;
}

std::string PayloadGravityInput::refused_last() const
{
  const std::lock_guard<std::mutex> lock(changing_);
  return refused_last_;
}

std::uint64_t PayloadGravityInput::changes() const
{
  const std::lock_guard<std::mutex> lock(changing_);
  return changes_;
}

}  // namespace robot_dynamics_controllers
