// SPDX-License-Identifier: Apache-2.0
#include "effort_reports.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "diagnostic_msgs/msg/diagnostic_status.hpp"
#include "diagnostic_msgs/msg/key_value.hpp"

namespace robot_dynamics_controllers
{
namespace
{

using diagnostic_msgs::msg::DiagnosticArray;
using diagnostic_msgs::msg::DiagnosticStatus;
using diagnostic_msgs::msg::KeyValue;
using robot_dynamics_interfaces::msg::TorqueInfo;
using std_srvs::srv::Trigger;

std::string text_of(double number)
{
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  return text;
}

std::string joined(const std::vector<std::string> & parts, const std::string & between)
{
  std::string text;
  for (const std::string & part : parts) {
    text += (text.empty() || part.empty() ? "" : between) + part;
  }
  return text;
}

template<typename Numbers>
std::string numbers(const Numbers & values)
{
  std::vector<std::string> parts;
  for (const double value : values) {
    parts.push_back(text_of(value));
  }
  return joined(parts, " ");
}

/// Rotation and translation of both.
std::array<std::string, 4> in_parts(const FrameNumbers & a, const FrameNumbers & b)
{
  const auto part = [](const double * from) {return numbers(std::array{from[0], from[1], from[2]});};
  return {part(&a[0]), part(&a[3]), part(&b[0]), part(&b[3])};
}

robot_dynamics_interfaces::msg::Payload message_of(const Body & body)
{
  robot_dynamics_interfaces::msg::Payload message;
  message.frame = body.frame;
  message.mass = body.mass;
  message.com = body.com;
  message.inertia = body.inertia;
  return message;
}

/// Whether an outcome is what a controller without a fault does.
bool as_wanted(Outcome outcome, bool followed_before)
{
  const bool waits = outcome == Outcome::gravity_only || outcome == Outcome::held;
  return outcome == Outcome::sent || (waits && !followed_before);
}

}  // namespace

EffortReports::EffortReports(rclcpp_lifecycle::LifecycleNode & node, Subject subject)
: node_(node), of_(std::move(subject)), in_use_(node),
  info_(node.create_publisher<TorqueInfo>("~/info", rclcpp::QoS(1).reliable().transient_local())),
  diagnostics_(node.create_publisher<DiagnosticArray>("/diagnostics", rclcpp::QoS(10)))
{
  const auto reset = [law = of_.law, counts = of_.counts](
    const std::shared_ptr<Trigger::Request>, const std::shared_ptr<Trigger::Response> response) {
      law->limiter().reset();
      counts->reset();
      response->success = true;
      response->message = "reasons and counts are cleared";
    };
  reset_ = node.create_service<Trigger>("~/reset", reset);
  publish_info();
}

void EffortReports::look()
{
  const std::uint64_t changes = of_.payload_gravity->changes(), activations = of_.counts->activations.value();
  if (changes != changes_ || activations != activations_) {
    changes_ = changes;
    activations_ = activations;
    publish_info();
  }
}

void EffortReports::publish_info()
{
  const CompensationPolicy & policy = of_.law->policy();
  TorqueInfo info;
  info.header.stamp = node_.get_clock()->now();
  info.header.frame_id = of_.library->base_link;
  info.joint_names = of_.library.joint_names();
  info.terms = policy.terms.names();
  info.gravity_owner = policy.gravity_owner;
  for (const double limit : of_.law->limiter().effort_limit()) {
    info.effort_limits.push_back(std::isfinite(limit) ? limit : 0.0);
  }
  info.torque_scale = of_.torque_scale;
  info.model_digest = of_.library->model_digest;
  const auto gravity = of_.law->gravity();
  info.gravity.x = gravity[0];
  info.gravity.y = gravity[1];
  info.gravity.z = gravity[2];
  for (const Body & body : of_.law->payloads()) {
    info.payloads.push_back(message_of(body));
  }
  info.source = "reference";
  info_->publish(info);
}

void EffortReports::publish_diagnostics()
{
  const Outcome outcome = of_.law->outcome();
  const std::vector<std::string> refused = of_.payload_gravity->refused();
  const std::vector<std::string> warnings = this->warnings();
  DiagnosticStatus status;
  status.level = !refused.empty() ? DiagnosticStatus::ERROR :
    warnings.empty() && as_wanted(outcome, of_.counts->followed.value() > 0) ? DiagnosticStatus::OK : DiagnosticStatus::WARN;
  status.name = node_.get_fully_qualified_name();
  status.hardware_id = of_.library->robot;
  status.message = joined({outcome == Outcome::sent ? "" : robot_dynamics_controllers::text_of(outcome), joined(refused, "; "), joined(warnings, "; ")}, "; ");
  if (status.message.empty()) {
    status.message = "publishing";
  }
  for (const auto & [key, value] : fields()) {
    KeyValue field;
    field.key = key;
    field.value = value;
    status.values.push_back(field);
  }
  DiagnosticArray array;
  array.header.stamp = node_.get_clock()->now();
  array.status.push_back(status);
  diagnostics_->publish(array);
}

std::vector<std::string> EffortReports::warnings()
{
  std::vector<std::string> found = of_.payload_gravity->warnings();
  const std::string changed = in_use_.changed(node_);
  if (!changed.empty()) {
    found.push_back("set, but used from the next configure on: " + changed);
  }
  if (!changed.empty() && changed != changed_) {
    RCLCPP_WARN(
      node_.get_logger(), "%s: deactivate, clean up, configure and activate this controller", found.back().c_str());
  }
  changed_ = changed;
  const std::string unused = of_.cycle->unused_references();
  if (!unused.empty()) {
    found.push_back(unused);
  }
  if (!unused.empty() && unused != unused_) {
    RCLCPP_WARN(
      node_.get_logger(), "%s; %s meanwhile", unused.c_str(),
      of_.law->frame_law() != nullptr ? "the arm is held" : "gravity compensation");
  }
  unused_ = unused;
  const std::string open = of_.law->recent_loop_fault();
  if (!open.empty()) {
    found.push_back(open);
  }
  if (!open.empty() && open != open_) {
    RCLCPP_WARN(node_.get_logger(), "%s", open.c_str());
  }
  open_ = open;
  const std::uint64_t slowed = of_.law->limiter().count(TorqueLimiter::RATE), updates = of_.counts->updates.value();
  if (of_.law->holds() && slowed > slowed_ && slowed - slowed_ > (updates - updates_) / 10) {
    found.push_back("rate_limit slows the efforts that hold the arm, which may swing: raise it");
  }
  slowed_ = slowed;
  updates_ = updates;
  if (const FrameLaw * law = of_.law->frame_law()) {
    const double cycle = of_.law->cycle();
    if (cycle > law->longest_period()) {
      found.push_back("cycles last " + text_of(cycle) + " s: the gains of the library are stable below " +
        text_of(law->longest_period()) + " s");
    }
    if (const std::string limited = law->warning(); !limited.empty()) {
      found.push_back(limited);
    }
  }
  const std::vector<std::string> several = of_.commands->warnings();
  found.insert(found.end(), several.begin(), several.end());
  return found;
}

EffortReports::Fields EffortReports::fields() const
{
  EffortLaw & law = *of_.law;
  const CycleCounts & counts = *of_.counts;
  double mass = 0.0;
  for (const Body & body : law.payloads()) {
    mass += body.mass;
  }
  // what messages command, empty without: of rotation and translation, wanted and in force; in the axes of base and frame
  std::array<std::string, 4> stiffness, wrench;
  const FrameLaw * const frame_law = law.frame_law();
  if (frame_law != nullptr && frame_law->takes_commands()) {
    const FrameLaw::Commands commands = frame_law->commands();
    stiffness = in_parts(commands.stiffness, commands.stiffness_in_force);
    wrench = in_parts(commands.of_base, commands.of_frame);
  }
  return {
    {"model", of_.library->robot},
    {"model digest", of_.library->model_digest},
    {"kernels", "exported"},
    {"joints", joined(of_.library.joint_names(), " ")},
    {"updates", std::to_string(counts.updates.value())},
    {"updates with a reference", std::to_string(counts.followed.value())},
    {"references refused", std::to_string(counts.references_refused.value())},
    {"reference refused last", of_.references->verdicts().refused_last()},
    {"states refused", std::to_string(counts.states_refused.value())},
    {"efforts not written", std::to_string(counts.not_written.value())},
    {"torques saturated", std::to_string(law.limiter().count(TorqueLimiter::EFFORT))},
    {"torques rate-limited", std::to_string(law.limiter().count(TorqueLimiter::RATE))},
    {"torques, reasons since reset", limited_joints()},
    {"control law", frame_law != nullptr ? frame_law->name() : "pd_feedforward"},
    {"rotational stiffness wanted, N m/rad", stiffness[0]},
    {"translational stiffness wanted, N/m", stiffness[1]},
    {"rotational stiffness in force, N m/rad", stiffness[2]},
    {"translational stiffness in force, N/m", stiffness[3]},
    {"stiffnesses taken", std::to_string(of_.commands->stiffnesses().taken())},
    {"stiffnesses refused", std::to_string(of_.commands->stiffnesses().refused())},
    {"stiffness refused last", of_.commands->stiffnesses().refused_last()},
    {"force in force, axes of base; of frame, N", joined({wrench[1], wrench[3]}, "; ")},
    {"moment in force, axes of base; of frame, N m", joined({wrench[0], wrench[2]}, "; ")},
    {"wrenches taken", std::to_string(of_.commands->wrenches().taken())},
    {"wrenches refused", std::to_string(of_.commands->wrenches().refused())},
    {"wrench refused last", of_.commands->wrenches().refused_last()},
    {"torque blends", law.blends() ? "true" : "false"},
    {"gravity owner", law.policy().gravity_owner},
    {"compensation", joined(law.policy().terms.names(), "+")},
    {"effort limits, N m", numbers(law.limiter().effort_limit())},
    {"rate limits, N m/s", numbers(of_.rate_limit)},
    {"torque scale", numbers(of_.torque_scale)},
    {"payload, kg", text_of(mass)},
    {"gravity, m/s^2", numbers(law.gravity())},
    {"payload or gravity message rejected", of_.payload_gravity->refused_last()},
    {"publishers of payload_state", std::to_string(of_.payload_gravity->publishers_of_payload())},
    {"publishers of gravity_state", std::to_string(of_.payload_gravity->publishers_of_gravity())},
  };
}

std::string EffortReports::limited_joints() const
{
  const std::vector<std::string> joints = of_.library.joint_names();
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const unsigned flags = of_.law->limiter().limited(i);
    const std::string reasons = joined(
      {flags & TorqueLimiter::EFFORT ? "beyond the effort limit" : "",
        flags & TorqueLimiter::RATE ? "faster than the rate limit" : "",
        flags & TorqueLimiter::NOT_FINITE ? "not finite" : ""}, ", ");
    if (!reasons.empty()) {
      lines.push_back(joints[i] + ": " + reasons);
    }
  }
  return joined(lines, "; ");
}

}  // namespace robot_dynamics_controllers
