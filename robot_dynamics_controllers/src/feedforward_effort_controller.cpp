// SPDX-License-Identifier: Apache-2.0
#include "feedforward_effort_controller.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "library_path.hpp"
#include "parameter_check.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "robot_dynamics_controllers/rehearsal.hpp"

namespace robot_dynamics_controllers
{
namespace
{

using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;

constexpr std::chrono::milliseconds LOOK_PERIOD{20};
constexpr std::chrono::seconds DIAGNOSTICS_PERIOD{1};
/// Longest time from a deactivation to an activation in one switch of the chained mode.
constexpr std::chrono::milliseconds SWITCH{100};

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
  const Reference * const reference = any_reference() ? &reference_ : nullptr;
  const Outcome outcome = law_->update(
    time.nanoseconds(), passed(period), {q_.data(), qd_.data()}, reference, effort_.data());
  drop_references();
  counts_->add(outcome, write_efforts());
  const auto is_zero = [](double effort) {return effort == 0.0;};
  const bool gave_up = outcome == Outcome::state_lost && std::all_of(effort_.begin(), effort_.end(), is_zero);
  return gave_up ? return_type::ERROR : return_type::OK;
}

void FeedforwardEffortController::read_states()
{
  const std::size_t n = q_.size();
  for (std::size_t i = 0; i < n; ++i) {
    q_[i] = value_of(state_interfaces_[i]);
  }
  for (std::size_t i = 0; law_->reads_velocities() && i < n; ++i) {
    qd_[i] = value_of(state_interfaces_[n + i]);
  }
}

/// The time since the last cycle, s, by the steady clock: the system clock of the manager may be set.
double FeedforwardEffortController::passed(const rclcpp::Duration & period)
{
  const auto last = std::exchange(cycle_, std::chrono::steady_clock::now());
  const bool measured = !simulated_ && last != std::chrono::steady_clock::time_point{};
  return measured ? std::chrono::duration<double>(cycle_ - last).count() : period.seconds();
}

void FeedforwardEffortController::references_from_topic()
{
  if (const double * numbers = topic_->newest()) {
    std::copy_n(numbers, reference_count(), references());
  }
}

bool FeedforwardEffortController::write_efforts()
{
  bool written = true;
  for (std::size_t i = 0; i < effort_.size(); ++i) {
    written = set_value(command_interfaces_[i], effort_[i] / torque_scale_[i]) && written;
  }
  return written;
}

void FeedforwardEffortController::forget_references()
{
  drop_references();
  (void)topic_->newest();
}

FeedforwardEffortController::CallbackReturn FeedforwardEffortController::on_activate(const rclcpp_lifecycle::State &)
{
  forget_references();
  simulated_ = get_node()->get_clock()->ros_time_is_active();
  cycle_ = {};
  if (std::exchange(switches_, false) && std::chrono::steady_clock::now() - deactivated_ < SWITCH) {
    law_->resume();
    (void)write_efforts();
    return CallbackReturn::SUCCESS;
  }
  for (std::size_t i = 0; i < effort_.size(); ++i) {
    effort_[i] = value_of(command_interfaces_[i]) * torque_scale_[i];
  }
  law_->activate(effort_.data());
  counts_->activations.add(true);
  return CallbackReturn::SUCCESS;
}

FeedforwardEffortController::CallbackReturn FeedforwardEffortController::on_deactivate(const rclcpp_lifecycle::State &)
{
  law_->deactivate();
  switches_ = false;
  deactivated_ = std::chrono::steady_clock::now();
  if (parameters_.on_deactivate == "zero") {
    for (auto & command : command_interfaces_) {
      (void)set_value(command, 0.0);
    }
  }
  return CallbackReturn::SUCCESS;
}

/// The manager deactivates an active controller before it switches the chained mode, and activates it at once after.
bool FeedforwardEffortController::on_set_chained_mode(bool)
{
  switches_ = true;
  forget_references();
  return true;
}

// --- everything else is prepared before

FeedforwardEffortController::CallbackReturn FeedforwardEffortController::on_init()
{
  try {
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
  law_ = std::make_shared<EffortLaw>(library, settings());
  counts_ = std::make_shared<CycleCounts>();
  const std::size_t n = joints_.size();
  for (std::vector<double> * numbers : {&q_, &qd_, &effort_, &zeros_}) {
    numbers->assign(n, 0.0);
  }
  torque_scale_ = scales_of(parameters_.torque_scale, n);
  prepare_references();
  rehearse(library, settings());
  start_background(library);
}

Settings FeedforwardEffortController::settings() const
{
  Settings settings;
  settings.joints = joints_;
  settings.preset = parameters_.preset;
  settings.gravity_owner = parameters_.gravity_owner;
  settings.compensation = parameters_.compensation;
  settings.evaluate_at_measured = parameters_.evaluate_at == "measured";
  settings.stiffness = parameters_.stiffness;
  settings.damping = parameters_.damping;
  settings.effort_limit = parameters_.effort_limit;
  settings.rate_limit = parameters_.rate_limit;
  settings.fade_in_time = parameters_.fade_in_time;
  settings.ramp_time = parameters_.ramp_time;
  settings.reference_timeout = parameters_.reference_timeout;
  settings.update_rate = get_update_rate();
  settings.model_digest = parameters_.model_digest;
  return settings;
}

void FeedforwardEffortController::prepare_references()
{
  const std::vector<std::string> & interfaces = parameters_.reference_interfaces;
  const auto has = [&](const char * name) {
      return std::find(interfaces.begin(), interfaces.end(), name) != interfaces.end();
    };
  const bool effort_alone = interfaces == std::vector<std::string>{"effort"};
  if (!has("position") && !effort_alone) {
    throw std::invalid_argument("reference_interfaces: expected position among them, or effort alone");
  }
  const auto above_zero = [](const std::vector<double> & gains) {
      return std::any_of(gains.begin(), gains.end(), [](double gain) {return gain > 0.0;});
    };
  if (!has("position") && (above_zero(parameters_.stiffness) || above_zero(parameters_.damping))) {
    throw std::invalid_argument("stiffness, damping: expected position among reference_interfaces");
  }
  const auto place = [&](const char * name) {
      const auto found = std::find(interfaces.begin(), interfaces.end(), name);
      return references() + (found - interfaces.begin()) * static_cast<std::ptrdiff_t>(joints_.size());
    };
  const auto place_or_zeros = [&](const char * name) {return has(name) ? place(name) : zeros_.data();};
  reference_ = Reference{};
  if (!effort_alone) {
    reference_ = {place("position"), place_or_zeros("velocity"), place_or_zeros("acceleration"), nullptr};
  }
  reference_.effort = has("effort") ? place("effort") : nullptr;
  topic_ = ReferenceInput::create(*get_node(), joints_, interfaces, parameters_.reference_timeout);
  name_references(names_of(joints_, interfaces));
}

void FeedforwardEffortController::start_background(const DynamicsLibrary & library)
{
  auto & node = *get_node();
  const auto payload_gravity = PayloadGravityInput::create(node, law_, parameters_.await_load);
  EffortReports reports(
    node, {library, law_, payload_gravity, topic_, counts_, torque_scale_,
      rate_limits(parameters_.rate_limit, joints_)});
  const auto law = law_;
  ClockWatch clock_watch(node.get_clock(), [law](std::int64_t before, std::int64_t after) {law->clock_set(before, after);});
  background_ = std::make_shared<Background>(
    Background{
      law, std::move(clock_watch), payload_gravity, RampService::create(node, law), std::move(reports)});
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
  law_.reset();
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
