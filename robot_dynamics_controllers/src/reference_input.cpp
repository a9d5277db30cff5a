// SPDX-License-Identifier: Apache-2.0
#include "reference_input.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace robot_dynamics_controllers
{
namespace
{

using trajectory_msgs::msg::JointTrajectory;

const std::vector<double> & field(
  const trajectory_msgs::msg::JointTrajectoryPoint & point, const std::string & interface)
{
  return interface == "position" ? point.positions :
         interface == "velocity" ? point.velocities :
         interface == "acceleration" ? point.accelerations : point.effort;
}

}  // namespace

std::shared_ptr<ReferenceInput> ReferenceInput::create(
  rclcpp_lifecycle::LifecycleNode & node, const std::vector<std::string> & joints,
  const std::vector<std::string> & interfaces, double timeout)
{
  std::shared_ptr<ReferenceInput> self(new ReferenceInput(node, joints, interfaces, timeout));
  self->subscription_ = subscribed<JointTrajectory>(
    node, "~/reference", rclcpp::QoS(1), self,
    [](ReferenceInput & it, const JointTrajectory & message, const rclcpp::MessageInfo &) {
      it.verdicts_.judge(it.node_, [&] {it.receive(message);});
    });
  return self;
}

ReferenceInput::ReferenceInput(
  rclcpp_lifecycle::LifecycleNode & node, const std::vector<std::string> & joints,
  const std::vector<std::string> & interfaces, double timeout)
: node_(node), joints_(joints), interfaces_(interfaces), timeout_(timeout)
{
}

const double * ReferenceInput::newest() noexcept
{
  const Values & values = values_.read();
  if (values.count == read_) {
    return nullptr;
  }
  read_ = values.count;
  return values.numbers.data();
}

void ReferenceInput::receive(const JointTrajectory & message)
{
  Values values = values_of(message);
  values.count = ++received_;
  values_.write(values);
}

/// Returns the numbers of a message in the controller's order; std::invalid_argument names the field that is wrong.
ReferenceInput::Values ReferenceInput::values_of(const JointTrajectory & message) const
{
  if (message.points.size() != 1) {
    throw std::invalid_argument("points: expected one, got " + std::to_string(message.points.size()));
  }
  const rclcpp::Time stamp(message.header.stamp, node_.get_clock()->get_clock_type());
  const double age = (node_.get_clock()->now() - stamp).seconds();
  if (stamp.nanoseconds() != 0 && !(std::abs(age) <= timeout_)) {
    throw std::invalid_argument(
            "header.stamp: " + std::to_string(age) + " s ago, beyond reference_timeout; 0: not checked");
  }
  Values values{};
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const auto & names = message.joint_names;
    const auto found = std::find(names.begin(), names.end(), joints_[j]);
    if (found == names.end() || std::find(found + 1, names.end(), joints_[j]) != names.end()) {
      throw std::invalid_argument("joint_names: expected '" + joints_[j] + "' once");
    }
    const auto place = static_cast<std::size_t>(found - names.begin());
    for (std::size_t k = 0; k < interfaces_.size(); ++k) {
      const std::vector<double> & numbers = field(message.points[0], interfaces_[k]);
      if (numbers.size() != names.size() || !std::isfinite(numbers[place])) {
        throw std::invalid_argument(
                interfaces_[k] + ": expected " + std::to_string(names.size()) + " numbers, finite ones for joint '" +
                joints_[j] + "'");
      }
      values.numbers[k * joints_.size() + j] = numbers[place];
    }
  }
  return values;
}

}  // namespace robot_dynamics_controllers
