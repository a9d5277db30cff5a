// SPDX-License-Identifier: Apache-2.0
#ifndef RAMP_TOPIC_HPP_
#define RAMP_TOPIC_HPP_

#include <optional>
#include <string>
#include <utility>

#include "robot_dynamics_controllers/payload_gravity.hpp"

namespace robot_dynamics_controllers
{

/// The messages of one topic with ramps: which one is in force, which one is early, why the last one was refused.
///
/// `apply` gives a message to the law, and returns what became of it. Methods that call it return a line for the log, ''
/// for none; each refusal is logged once, however often the message is tried again.
template<typename Message>
class RampTopic
{
public:
  explicit RampTopic(std::string name)
  : name_(std::move(name)) {}

  const std::string & name() const {return name_;}
  bool is_applied() const {return applied_.has_value();}
  const std::optional<Message> & in_force() const {return applied_;}
  /// Why the last message was refused; '' where it was not.
  const std::string & refusal() const {return refusal_;}

  template<typename Apply>
  std::string receive(const Message & message, Apply apply)
  {
    early_.reset();
    return applied_ == message ? "" : tried(message, apply, false);
  }

  /// Tries a message again that was early.
  template<typename Apply>
  std::string retry(Apply apply)
  {
    return early_ ? tried(*std::exchange(early_, std::nullopt), apply, true) : "";
  }

private:
  template<typename Apply>
  std::string tried(const Message & message, Apply apply, bool again)
  {
    const Taken taken = apply(message);
    if (taken.accepted) {
      applied_ = message;
      refusal_.clear();
      return taken.message.empty() ? "" : name_ + ": " + taken.message;
    }
    const bool known = again && taken.early;  // how early it is changes all the time
    const std::string before = std::exchange(refusal_, name_ + ": " + taken.message);
    if (taken.early) {
      early_ = message;
    }
    return known || refusal_ == before ? "" : "refused: " + refusal_;
  }

  std::string name_, refusal_;
  std::optional<Message> applied_, early_;
};

}  // namespace robot_dynamics_controllers

#endif  // RAMP_TOPIC_HPP_
