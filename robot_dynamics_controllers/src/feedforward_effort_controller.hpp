// SPDX-License-Identifier: Apache-2.0
#ifndef FEEDFORWARD_EFFORT_CONTROLLER_HPP_
#define FEEDFORWARD_EFFORT_CONTROLLER_HPP_

#include <memory>
#include <string>
#include <vector>

#include "clock_watch.hpp"
#include "distributions.hpp"
#include "core/effort_cycle.hpp"
#include "effort_reports.hpp"
#include "frame_commands.hpp"
#include "payload_gravity_input.hpp"
#include "ramp_service.hpp"
#include "reference_input.hpp"
#include "robot_dynamics_controllers/cycle_counts.hpp"
#include "robot_dynamics_controllers/effort_law.hpp"
#include "robot_dynamics_controllers/feedforward_effort_controller_parameters.hpp"

namespace robot_dynamics_controllers
{

/// Efforts that a desired motion needs, or gravity compensation without one: an EffortCycle behind the interfaces of
/// ros2_control, with parameters, topics and services.
///
/// References of each joint, from a controller above or from `~/reference`: those of the parameter reference_interfaces.
/// States: position and velocity. Command: effort.
class FeedforwardEffortController : public ReferencedController
{
public:
  using CallbackReturn = controller_interface::CallbackReturn;

  CallbackReturn on_init() override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State & previous) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State & previous) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State & previous) override;
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State & previous) override;

  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;

protected:
  bool on_set_chained_mode(bool chained) override;
  void references_from_topic() override;
  [[gnu::hot]] controller_interface::return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;

private:
  /// What the timers call; another thread may clean up meanwhile.
  struct Background
  {
    std::shared_ptr<EffortLaw> law;
    ClockWatch clock_watch;
    std::shared_ptr<PayloadGravityInput> payload_gravity;
    std::shared_ptr<RampService> ramp;
    std::shared_ptr<FrameCommands> commands;
    EffortReports reports;

    void look();
  };

  void configure();
  Settings settings() const;
  void start_background(
    const DynamicsLibrary & library, const std::shared_ptr<EffortLaw> & law, const std::vector<double> & torque_scale);
  [[gnu::hot]] void read_states();
  [[gnu::hot]] bool write_commands();

  std::shared_ptr<feedforward_effort_controller::ParamListener> listener_;
  std::shared_ptr<void> parameter_check_;
  feedforward_effort_controller::Params parameters_;
  std::vector<std::string> joints_;
  std::shared_ptr<EffortCycle> cycle_;
  std::shared_ptr<ReferenceInput> topic_;
  std::shared_ptr<CycleCounts> counts_;
  std::shared_ptr<Background> background_;
  std::vector<std::shared_ptr<rclcpp::TimerBase>> timers_;
};

}  // namespace robot_dynamics_controllers

#endif  // FEEDFORWARD_EFFORT_CONTROLLER_HPP_
