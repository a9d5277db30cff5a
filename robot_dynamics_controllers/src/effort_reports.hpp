// SPDX-License-Identifier: Apache-2.0
#ifndef EFFORT_REPORTS_HPP_
#define EFFORT_REPORTS_HPP_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "core/effort_cycle.hpp"
#include "frame_commands.hpp"
#include "parameter_check.hpp"
#include "payload_gravity_input.hpp"
#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "reference_input.hpp"
#include "robot_dynamics_controllers/cycle_counts.hpp"
#include "robot_dynamics_controllers/dynamics_library.hpp"
#include "robot_dynamics_controllers/effort_law.hpp"
#include "robot_dynamics_interfaces/msg/torque_info.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace robot_dynamics_controllers
{

/// `~/info`, `/diagnostics` and `~/reset` of a controller, with the messages and fields of the torque nodes.
///
/// All methods are called in the callbacks of one node, one at a time.
class EffortReports
{
public:
  struct Subject
  {
    DynamicsLibrary library;
    std::shared_ptr<EffortLaw> law;
    std::shared_ptr<EffortCycle> cycle;
    std::shared_ptr<PayloadGravityInput> payload_gravity;
    std::shared_ptr<ReferenceInput> references;
    std::shared_ptr<FrameCommands> commands;
    std::shared_ptr<CycleCounts> counts;
    std::vector<double> torque_scale, rate_limit;
  };

  /// Publishes the first info. `node` outlives this object.
  EffortReports(rclcpp_lifecycle::LifecycleNode & node, Subject subject);

  /// Publishes the info after an activation and after a change of payload or gravity; to be called every 20 ms or so.
  void look();

  /// Publishes the status; to be called once a second.
  void publish_diagnostics();

private:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  void publish_info();
  Fields fields() const;
  std::string limited_joints() const;
  std::vector<std::string> warnings();

  rclcpp_lifecycle::LifecycleNode & node_;
  Subject of_;
  ParametersInUse in_use_;
  std::string changed_, unused_, open_;  // parameters, references and loops that were logged last
  std::uint64_t changes_ = 0, activations_ = 0, slowed_ = 0, updates_ = 0;
  // base class pointers: a lifecycle publisher would publish nothing while the controller is inactive
  std::shared_ptr<rclcpp::Publisher<robot_dynamics_interfaces::msg::TorqueInfo>> info_;
  std::shared_ptr<rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>> diagnostics_;
  std::shared_ptr<rclcpp::Service<std_srvs::srv::Trigger>> reset_;
};

}  // namespace robot_dynamics_controllers

#endif  // EFFORT_REPORTS_HPP_
