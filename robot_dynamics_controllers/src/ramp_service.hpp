// SPDX-License-Identifier: Apache-2.0
#ifndef RAMP_SERVICE_HPP_
#define RAMP_SERVICE_HPP_

#include <memory>
#include <vector>

#include "rclcpp_lifecycle/lifecycle_node.hpp"
#include "robot_dynamics_controllers/effort_law.hpp"
#include "std_srvs/srv/trigger.hpp"

namespace robot_dynamics_controllers
{

/// The service `~/ramp_to_zero`: reduces the efforts to zero over ramp_time, and responds when they are zero.
class RampService
{
public:
  static std::shared_ptr<RampService> create(rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law);

  /// Responds to the requests that wait, once the efforts are zero; to be called every 20 ms or so.
  void look();

private:
  using Trigger = std_srvs::srv::Trigger;

  std::shared_ptr<EffortLaw> law_;
  std::shared_ptr<rclcpp::Service<Trigger>> service_;
  std::vector<std::shared_ptr<rmw_request_id_t>> waiting_;
};

}  // namespace robot_dynamics_controllers

#endif  // RAMP_SERVICE_HPP_
