// SPDX-License-Identifier: Apache-2.0
// FeedforwardEffortController, loaded as a plugin, in the controller manager of a ROS installation.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "controller_manager/controller_manager.hpp"
#include "distributions.hpp"
#include "geometry_msgs/msg/wrench_stamped.hpp"
#include "rclcpp/rclcpp.hpp"
#include "robot_dynamics_interfaces/msg/gravity_state.hpp"
#include "robot_dynamics_interfaces/msg/payload_state.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace
{

using controller_interface::interface_configuration_type;
using controller_interface::return_type;
using controller_manager::ControllerManager;
using robot_dynamics_controllers::set_value;
using robot_dynamics_controllers::value_of;
using std::chrono::milliseconds;

constexpr double Q = 0.4, GRAVITY = 9.81 * std::cos(Q);  // rad; N m of a pendulum with m l = 1 kg m
constexpr int RATE = 100;  // Hz, the default of the manager
const std::string NAME = "below", JOINT = "joint", ABOVE = "above";  // NOLINT

const char * const DESCRIPTION =
  R"(<robot name="pendulum"><link name="base"/><link name="bob"/>
  <joint name="joint" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/>
  <limit effort="100" velocity="10"/></joint>
  <ros2_control name="mock" type="system"><hardware><plugin>mock_components/GenericSystem</plugin></hardware>
  <joint name="joint"><command_interface name="effort"><param name="initial_value">0.0</param></command_interface>
  <state_interface name="position"><param name="initial_value">0.4</param></state_interface>
  <state_interface name="velocity"><param name="initial_value">0.0</param></state_interface>
  <state_interface name="effort"/></joint></ros2_control></robot>)";

/// Writes what it is told to one reference, and records what it finds there, as a joint_trajectory_controller does.
class ControllerAbove : public controller_interface::ControllerInterface
{
public:
  double effort = 0.0;
  int not_finite = 0;

  CallbackReturn on_init() {return CallbackReturn::SUCCESS;}
  controller_interface::InterfaceConfiguration command_interface_configuration() const override
  {
    return {interface_configuration_type::INDIVIDUAL, {NAME + "/" + JOINT + "/effort"}};
  }
  controller_interface::InterfaceConfiguration state_interface_configuration() const override
  {
    return {interface_configuration_type::NONE, {}};
  }
  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override {return CallbackReturn::SUCCESS;}
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override {return CallbackReturn::SUCCESS;}
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override {return CallbackReturn::SUCCESS;}
  return_type update(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    not_finite += !std::isfinite(value_of(command_interfaces_[0]));
    (void)set_value(command_interfaces_[0], effort);
    return return_type::OK;
  }
};

/// Records the efforts that the hardware has got.
class Recorder : public controller_interface::ControllerInterface
{
public:
  std::vector<double> efforts;

  CallbackReturn on_init() {return CallbackReturn::SUCCESS;}
  controller_interface::InterfaceConfiguration command_interface_configuration() const override
  {
    return {interface_configuration_type::NONE, {}};
  }
  controller_interface::InterfaceConfiguration state_interface_configuration() const override
  {
    return {interface_configuration_type::INDIVIDUAL, {JOINT + "/effort"}};
  }
  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override {return CallbackReturn::SUCCESS;}
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override {return CallbackReturn::SUCCESS;}
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override {return CallbackReturn::SUCCESS;}
  return_type update(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    efforts.push_back(value_of(state_interfaces_[0]));
    return return_type::OK;
  }
};

/// Makes a controller manager with the mock hardware, by the constructor of the distribution.
template<typename Manager>
std::shared_ptr<Manager> made(const std::shared_ptr<rclcpp::Executor> & executor)
{
  if constexpr (std::is_constructible_v<Manager, std::shared_ptr<rclcpp::Executor>, std::string, bool, std::string>) {
    return std::make_shared<Manager>(executor, std::string(DESCRIPTION), true, std::string("controller_manager"));
  } else {  // Humble
    return std::make_shared<Manager>(
      std::make_unique<hardware_interface::ResourceManager>(DESCRIPTION), executor, "controller_manager");
  }
}

class InControllerManager : public testing::Test
{
protected:
  InControllerManager()
  {
    manager_ = made<ControllerManager>(executor_);
    executor_->add_node(manager_);
    executor_->add_node(node_);
    spinning_ = std::thread([this] {executor_->spin();});
    add(recorder_, "recorder");
    switched({"recorder"}, {});
  }

  ~InControllerManager() override
  {
    executor_->cancel();
    spinning_.join();
  }

  /// Loads the plugin with parameters.
  void load(const std::vector<rclcpp::Parameter> & more)
  {
    controller_interface::ControllerInterfaceBaseSharedPtr controller;
    cycles_until(
      [&] {
        controller = manager_->load_controller(NAME, "robot_dynamics_controllers/FeedforwardEffortController");
      });
    ASSERT_TRUE(controller);
    std::vector<rclcpp::Parameter> parameters = {
      {"library", PENDULUM}, {"update_rate", RATE}, {"ramp_time", 0.1}, {"preset", "effort_controller"},
      {"await_payload_gravity", false}};
    parameters.insert(parameters.end(), more.begin(), more.end());
    for (const auto & result : controller->get_node()->set_parameters(parameters)) {
      ASSERT_TRUE(result.successful) << result.reason;
    }
  }

  void configure(const std::string & name)
  {
    cycles_until([&] {EXPECT_EQ(manager_->configure_controller(name), return_type::OK);});
  }

  /// Adds a controller of this file, and configures it.
  template<typename Controller>
  void add(const std::shared_ptr<Controller> & controller, const std::string & name)
  {
    cycles_until([&] {EXPECT_TRUE(manager_->add_controller(controller, name, name));});
    configure(name);
  }

  void cycles(int count)
  {
    for (int k = 0; k < count; ++k) {
      const rclcpp::Duration period(milliseconds(1000 / RATE));
      manager_->read(time_, period);
      manager_->update(time_, period);
      manager_->write(time_, period);
      time_ = node_->get_clock()->now();
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  /// Runs cycles while another thread does something.
  void cycles_until(const std::function<void()> & done)
  {
    auto other = std::async(std::launch::async, done);
    while (other.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      cycles(1);
    }
    other.get();
  }

  void switched(const std::vector<std::string> & begin, const std::vector<std::string> & end)
  {
    constexpr int STRICT = 2;
    cycles_until(
      [&] {
        EXPECT_EQ(
          manager_->switch_controller(begin, end, STRICT, true, rclcpp::Duration(std::chrono::seconds(20))),
          return_type::OK);
      });
  }

  /// Publishes gravity and a payload at the bob's centre, as a dynamics_server does.
  void publish_payload(double mass)
  {
    const rclcpp::QoS qos = rclcpp::QoS(1).reliable().transient_local();
    robot_dynamics_interfaces::msg::PayloadState payload;
    payload.stamp = node_->get_clock()->now();
    payload.mass = mass;
    payload.com[0] = 1.0;
    robot_dynamics_interfaces::msg::GravityState gravity;
    gravity.header.stamp = payload.stamp;
    gravity.gravity.z = gravity.before.z = -9.81;
    payloads_ = node_->create_publisher<robot_dynamics_interfaces::msg::PayloadState>("payload_state", qos);
    gravities_ = node_->create_publisher<robot_dynamics_interfaces::msg::GravityState>("gravity_state", qos);
    payloads_->publish(payload);
    gravities_->publish(gravity);
  }

  void ramp_to_zero()
  {
    using Trigger = std_srvs::srv::Trigger;
    const auto client = node_->create_client<Trigger>("/" + NAME + "/ramp_to_zero");
    cycles_until(
      [&] {
        ASSERT_TRUE(client->wait_for_service(std::chrono::seconds(20)));
        auto response = client->async_send_request(std::make_shared<Trigger::Request>());
        ASSERT_EQ(response.wait_for(std::chrono::seconds(20)), std::future_status::ready);
        EXPECT_TRUE(response.get()->success);
      });
  }

  /// Efforts since the last call.
  std::vector<double> efforts() {return std::exchange(recorder_->efforts, {});}
  double effort()
  {
    cycles(2);
    return recorder_->efforts.back();
  }

  std::shared_ptr<rclcpp::executors::MultiThreadedExecutor> executor_ =
    std::make_shared<rclcpp::executors::MultiThreadedExecutor>();
  std::shared_ptr<rclcpp::Node> node_ = std::make_shared<rclcpp::Node>("observer");
  std::shared_ptr<ControllerManager> manager_;
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  std::shared_ptr<ControllerAbove> above_ = std::make_shared<ControllerAbove>();
  std::shared_ptr<rclcpp::Publisher<robot_dynamics_interfaces::msg::PayloadState>> payloads_;
  std::shared_ptr<rclcpp::Publisher<robot_dynamics_interfaces::msg::GravityState>> gravities_;
  std::thread spinning_;
  rclcpp::Time time_ = node_->get_clock()->now();  // that of ramps
};

TEST_F(InControllerManager, compensates_gravity_from_its_first_cycle_on)
{
  load({});
  configure(NAME);
  efforts();
  switched({NAME}, {});
  cycles(100);
  int zeros = 0, others = 0;
  for (const double effort : efforts()) {
    zeros += effort == 0.0 && others == 0;  // before the activation
    others += !(effort == 0.0 || std::isnan(effort)) && std::abs(effort - GRAVITY) < 1e-9;
  }
  EXPECT_GE(others, 99);
  EXPECT_NEAR(effort(), GRAVITY, 1e-9);
}

TEST_F(InControllerManager, knows_the_payload_of_a_server_from_its_first_cycle_on)
{
  publish_payload(3.0);
  load({});
  configure(NAME);
  efforts();
  switched({NAME}, {});
  cycles(20);
  const std::vector<double> all = efforts();
  const auto first = std::find_if(all.begin(), all.end(), [](double effort) {return std::abs(effort) > 0.0;});
  ASSERT_NE(first, all.end());
  EXPECT_NEAR(*first, 4.0 * GRAVITY, 1e-9);
}

TEST_F(InControllerManager, blends_to_the_payload_of_a_server_that_comes_later)
{
  load({});
  configure(NAME);
  switched({NAME}, {});
  cycles(20);
  efforts();
  cycles_until([this] {publish_payload(3.0);});
  for (int k = 0; k < 200 && std::abs(effort() - 4.0 * GRAVITY) > 1e-9; ++k) {
    cycles(10);
  }
  const std::vector<double> all = efforts();
  EXPECT_NEAR(all.front(), GRAVITY, 1e-9);
  EXPECT_NEAR(all.back(), 4.0 * GRAVITY, 1e-9);
  double largest = 0.0;
  for (std::size_t k = 1; k < all.size(); ++k) {
    largest = std::max(largest, std::abs(all[k] - all[k - 1]));
  }
  EXPECT_LT(largest, GRAVITY) << "a step";
}

TEST_F(InControllerManager, restarts_in_one_switch_after_a_ramp_to_zero)
{
  load({});
  configure(NAME);
  switched({NAME}, {});
  ramp_to_zero();
  EXPECT_EQ(effort(), 0.0);
  switched({NAME}, {NAME});
  EXPECT_NEAR(effort(), GRAVITY, 1e-9);
}

TEST_F(InControllerManager, adds_efforts_of_a_controller_above_and_leaves_it_numbers)
{
  load({rclcpp::Parameter("reference_interfaces", std::vector<std::string>{"effort"})});
  configure(NAME);
  add(above_, ABOVE);
  switched({NAME, ABOVE}, {});
  above_->effort = 3.0;
  cycles(200);
  EXPECT_NEAR(effort(), GRAVITY + 3.0, 1e-9);
  EXPECT_EQ(above_->not_finite, 0);
  switched({}, {ABOVE});
  cycles(300);
  EXPECT_NEAR(effort(), GRAVITY, 1e-9);
}

TEST_F(InControllerManager, keeps_zero_where_the_controller_above_stops_after_a_ramp_to_zero)
{
  load({rclcpp::Parameter("reference_interfaces", std::vector<std::string>{"effort"})});
  configure(NAME);
  add(above_, ABOVE);
  switched({NAME, ABOVE}, {});
  cycles(50);
  ramp_to_zero();
  switched({}, {ABOVE});
  cycles(50);
  EXPECT_EQ(effort(), 0.0);
}

TEST_F(InControllerManager, adds_a_wrench_to_an_arm_that_its_springs_hold_while_messages_come)
{
  load({{"control_law", "cartesian_impedance"}});
  configure(NAME);
  switched({NAME}, {});
  EXPECT_NEAR(effort(), GRAVITY, 1e-9);
  geometry_msgs::msg::WrenchStamped wrench;
  wrench.wrench.torque.y = -2.0;  // the joint turns about -y
  const auto wrenches = node_->create_publisher<geometry_msgs::msg::WrenchStamped>("/" + NAME + "/target_wrench", 10);
  for (int k = 0; k < 200 && std::abs(effort() - GRAVITY - 2.0) > 1e-9; ++k) {
    wrenches->publish(wrench);
    cycles(10);
  }
  EXPECT_NEAR(effort(), GRAVITY + 2.0, 1e-9);
  std::this_thread::sleep_for(milliseconds(300));
  cycles(100);
  EXPECT_NEAR(effort(), GRAVITY, 1e-9);
}

TEST_F(InControllerManager, is_not_activated_before_payload_and_gravity_that_are_required)
{
  load({rclcpp::Parameter("await_payload_gravity", true)});
  configure(NAME);
  cycles_until(
    [&] {
      constexpr int STRICT = 2;
      (void)manager_->switch_controller({NAME}, {}, STRICT, true, rclcpp::Duration(std::chrono::seconds(20)));
    });
  for (const auto & spec : manager_->get_loaded_controllers()) {
    if (spec.info.name == NAME) {
      EXPECT_EQ(spec.c->get_node()->get_current_state().label(), "inactive");
    }
  }
}

}  // namespace

int main(int argc, char ** argv)
{
  testing::InitGoogleTest(&argc, argv);
  rclcpp::init(argc, argv);
  const int result = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return result;
}
