// SPDX-License-Identifier: Apache-2.0
#include "feedforward_effort_controller.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "library_path.hpp"
#include "parameter_check.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace robot_dynamics_controllers
{
namespace
{

using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;

constexpr std::chrono::milliseconds LOOK_PERIOD{20};
constexpr std::chrono::seconds DIAGNOSTICS_PERIOD{1};

using SteadyClock = std::chrono::steady_clock;

/// s since the first controller of the process was initialised: its participant is older.
double since_participant()
{
  static const SteadyClock::time_point first = SteadyClock::now();
  return std::chrono::duration<double>(SteadyClock::now() - first).count();
}

/// Names 'JOINT/INTERFACE', those of all joints of the first interface first.
std::vector<std::string> names_of(
  const std::vector<std::string> & joints, const std::vector<std::string> & interfaces)
{
  std::vector<std::string> names;
  for (const std::string & interface : interfaces) {
    for (const std::string & joint : joints) {
      names.push_back(joint + "/" + interface);
    }
  }
  return names;
}

bool is_stated(const std::vector<std::string> & names) {return !names.empty() && names != std::vector<std::string>{""};}

bool any_above_zero(const std::vector<double> & gains)
{
  return std::any_of(gains.begin(), gains.end(), [](double gain) {return gain > 0.0;});
}

std::vector<double> scales_of(const std::vector<double> & stated, std::size_t joints)
{
  const bool usable = std::all_of(stated.begin(), stated.end(), [](double scale) {return std::isfinite(scale);});
  if (!usable || (stated.size() != 1 && stated.size() != joints)) {
    throw std::invalid_argument("torque_scale: expected one finite number or " + std::to_string(joints));
  }
  return stated.size() == joints ? stated : std::vector<double>(joints, stated.front());
}

}  // namespace

// --- the real-time thread

return_type FeedforwardEffortController::update_and_write_commands(
  const rclcpp::Time & time, const rclcpp::Duration & period)
{
  read_states();
  const Outcome outcome = cycle_->update(time.nanoseconds(), period.seconds(), steady_now());
  counts_->add(outcome, write_commands());
  return cycle_->gave_up() ? return_type::ERROR : return_type::OK;
}

void FeedforwardEffortController::read_states()
{
  const std::size_t n = joints_.size();
  for (std::size_t i = 0; i < n; ++i) {
    cycle_->positions()[i] = value_of(state_interfaces_[i]);
  }
  for (std::size_t i = 0; cycle_->reads_velocities() && i < n; ++i) {
    cycle_->velocities()[i] = value_of(state_interfaces_[n + i]);
  }
}

void FeedforwardEffortController::references_from_topic()
{
  if (const double * numbers = topic_->newest()) {
    references_.write(numbers);
  }
}

bool FeedforwardEffortController::write_commands()
{
  bool written = true;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    written = set_value(command_interfaces_[i], cycle_->commands()[i]) && written;
  }
  return written;
}

FeedforwardEffortController::CallbackReturn FeedforwardEffortController::on_activate(const rclcpp_lifecycle::State &)
{
  const std::string missing = background_->payload_gravity->missing();
  if (!missing.empty()) {
    RCLCPP_ERROR(get_node()->get_logger(), "not activated: %s", missing.c_str());
    return CallbackReturn::FAILURE;
  }
  (void)topic_->newest();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    cycle_->commands()[i] = value_of(command_interfaces_[i]);
  }
  if (cycle_->activate(steady_now(), get_node()->get_clock()->ros_time_is_active())) {
    (void)write_commands();
  } else {
    counts_->activations.add(true);
  }
  return CallbackReturn::SUCCESS;
}

FeedforwardEffortController::CallbackReturn FeedforwardEffortController::on_deactivate(const rclcpp_lifecycle::State &)
{
  cycle_->deactivate(steady_now());
  if (parameters_.on_deactivate == "zero") {
    for (auto & command : command_interfaces_) {
      (void)set_value(command, 0.0);
    }
  }
  return CallbackReturn::SUCCESS;
}

bool FeedforwardEffortController::on_set_chained_mode(bool chained)
{
  if (cycle_) {
    cycle_->set_chained_mode(chained);
    (void)topic_->newest();
  }
  return true;
}

// --- everything else is prepared before

FeedforwardEffortController::CallbackReturn FeedforwardEffortController::on_init()
{
  try {
    (void)since_participant();
    listener_ = std::make_shared<feedforward_effort_controller::ParamListener>(get_node());
    parameter_check_ = get_node()->add_on_set_parameters_callback(refuse_nan);
  } catch (const std::exception & error) {
    RCLCPP_ERROR(rclcpp::get_logger("feedforward_effort_controller"), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

FeedforwardEffortController::CallbackReturn FeedforwardEffortController::on_configure(const rclcpp_lifecycle::State &)
{
  try {
    configure();
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "not configured: %s", error.what());
    return CallbackReturn::FAILURE;
  }
  return CallbackReturn::SUCCESS;
}

void FeedforwardEffortController::configure()
{
  parameters_ = listener_->get_params();
  const DynamicsLibrary library = DynamicsLibrary::open(library_path(parameters_.library));
  joints_ = is_stated(parameters_.joints) ? parameters_.joints : library.joint_names();
  references_.configure(joints_, parameters_.reference_interfaces);
  if (!references_.has_positions()) {
    if (any_above_zero(parameters_.stiffness) || any_above_zero(parameters_.damping)) {
      throw std::invalid_argument("stiffness, damping: expected position among reference_interfaces");
    }
    if (parameters_.control_law != "pd_feedforward") {
      throw std::invalid_argument(
              "control_law: " + parameters_.control_law + " needs position among reference_interfaces");
    }
  }
  const auto law = std::make_shared<EffortLaw>(library, settings());
  law->rehearse();
  counts_ = std::make_shared<CycleCounts>();
  const std::vector<double> torque_scale = scales_of(parameters_.torque_scale, joints_.size());
  topic_ = ReferenceInput::create(
    *get_node(), joints_, parameters_.reference_interfaces, parameters_.reference_timeout);
  cycle_ = std::make_shared<EffortCycle>(law, references_, torque_scale);
  start_background(library, law, torque_scale);
}

Settings FeedforwardEffortController::settings() const
{
  Settings settings;
  settings.joints = joints_;
  settings.preset = parameters_.preset;
  settings.gravity_owner = parameters_.gravity_owner;
  settings.compensation = parameters_.compensation;
  settings.control_law = parameters_.control_law;
  settings.evaluate_at_measured = parameters_.evaluate_at == "measured";
  settings.stiffness = parameters_.stiffness;
  settings.damping = parameters_.damping;
  settings.effort_limit = parameters_.effort_limit;
  settings.rate_limit = parameters_.rate_limit;
  settings.fade_in_time = parameters_.fade_in_time;
  settings.ramp_time = parameters_.ramp_time;
  settings.reference_timeout = parameters_.reference_timeout;
  settings.update_rate = get_update_rate();
  settings.torque_delay = parameters_.torque_delay;
  settings.model_digest = parameters_.model_digest;
  return settings;
}

void FeedforwardEffortController::start_background(
  const DynamicsLibrary & library, const std::shared_ptr<EffortLaw> & law, const std::vector<double> & torque_scale)
{
  auto & node = *get_node();
  const auto payload_gravity =
    PayloadGravityInput::create(node, law, parameters_.await_payload_gravity, since_participant());
  const auto commands = FrameCommands::create(node, law);
  EffortReports reports(
    node, {library, law, cycle_, payload_gravity, topic_, commands, counts_, torque_scale,
      rate_limits(parameters_.rate_limit, joints_)});
  ClockWatch clock_watch(node.get_clock(), [law](std::int64_t before, std::int64_t after) {law->clock_set(before, after);});
  background_ = std::make_shared<Background>(
    Background{
      law, std::move(clock_watch), payload_gravity, RampService::create(node, law), commands, std::move(reports)});
  const std::weak_ptr<Background> weak = background_;
  timers_ = {
    node.create_wall_timer(
      LOOK_PERIOD, [weak] {
        if (const auto background = weak.lock()) {
          background->look();
        }
      }),
    node.create_wall_timer(
      DIAGNOSTICS_PERIOD, [weak] {
        if (const auto background = weak.lock()) {
          background->reports.publish_diagnostics();
        }
      })};
}

void FeedforwardEffortController::Background::look()
{
  law->end_finished_ramps(clock_watch.look());
  payload_gravity->look();
  ramp->look();
  reports.look();
}

FeedforwardEffortController::CallbackReturn FeedforwardEffortController::on_cleanup(const rclcpp_lifecycle::State &)
{
  timers_.clear();
  background_.reset();
  topic_.reset();
  cycle_.reset();
  return CallbackReturn::SUCCESS;
}

InterfaceConfiguration FeedforwardEffortController::command_interface_configuration() const
{
  return {interface_configuration_type::INDIVIDUAL, names_of(joints_, {"effort"})};
}

InterfaceConfiguration FeedforwardEffortController::state_interface_configuration() const
{
  return {interface_configuration_type::INDIVIDUAL, names_of(joints_, {"position", "velocity"})};
}

}  // namespace robot_dynamics_controllers

PLUGINLIB_EXPORT_CLASS(
  robot_dynamics_controllers::FeedforwardEffortController, controller_interface::ChainableControllerInterface)
