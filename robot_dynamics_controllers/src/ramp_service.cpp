// SPDX-License-Identifier: Apache-2.0
#include "ramp_service.hpp"

#include <utility>

#include "clock_watch.hpp"

namespace robot_dynamics_controllers
{

std::shared_ptr<RampService> RampService::create(
  rclcpp_lifecycle::LifecycleNode & node, std::shared_ptr<EffortLaw> law)
{
  const auto self = std::make_shared<RampService>();
  self->law_ = std::move(law);
  const std::weak_ptr<RampService> weak = self;
  self->service_ = node.create_service<Trigger>(
    "~/ramp_to_zero",
    [weak](const std::shared_ptr<rmw_request_id_t> header, const std::shared_ptr<Trigger::Request>) {
      if (const auto service = weak.lock()) {
        service->law_->request_stop(steady_now());
        service->waiting_.push_back(header);
      }
    });
  return self;
}

void RampService::look()
{
  if (waiting_.empty() || !law_->stopped()) {
    return;
  }
  Trigger::Response response;
  response.success = law_->outcome() == Outcome::stopped;
  response.message = response.success ? "" : "the last command stays: ";
  response.message += text_of(law_->outcome());
  for (const auto & header : waiting_) {
    service_->send_response(*header, response);
  }
  waiting_.clear();
}

}  // namespace robot_dynamics_controllers
