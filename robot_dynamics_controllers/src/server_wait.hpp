// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_WAIT_HPP_
#define SERVER_WAIT_HPP_

#include <string>

namespace robot_dynamics_controllers
{

/// What is known of one topic of a dynamics_server.
struct ServerTopic
{
  std::string name;
  bool has_publisher;
  bool applied;         ///< one of its messages is in force
  bool settled;         ///< nodes hold no other value than that message, which the server may only assume
  std::string refusal;  ///< why the last message was refused, '' for none
};

/// When a configuration goes on, and when an activation is refused, while payload or gravity is not known.
///
/// A controller that is active and computes nothing lets its arm fall, so nothing waits then: what is not known is that of
/// the export, and messages that come later are blended. The wait lies before: configuring takes as long as discovery of
/// a server and the delivery of its messages do.
class ServerWait
{
public:
  /// s from the creation of the process's participant in which a publisher on the graph may not be known yet.
  static constexpr double DISCOVERY = 0.5;
  /// s for the message of a publisher that is known.
  static constexpr double DELIVERY = 1.0;
  /// s in which a server has heard what nodes hold (PATIENCE in nodes/tasks/held_values.py), and its message has come.
  static constexpr double SETTLING = 4.0;

  /// Whether configuring has to wait for a topic, `since_participant` s after the participant was created and
  /// `since_begin` s after configuring began. `other`: the other topic of the same server.
  static bool waits(const ServerTopic & topic, const ServerTopic & other, double since_participant, double since_begin)
  {
    if (topic.applied && !topic.settled) {
      return since_begin < SETTLING;
    }
    if (topic.applied || !topic.refusal.empty()) {
      return false;
    }
    if (topic.has_publisher) {
      return since_begin < DELIVERY;
    }
    // of a server that has just been discovered one topic may be known before the other
    return since_participant < DISCOVERY || (other.has_publisher && since_begin < DISCOVERY);
  }

  /// What the controller does without a message of a topic that has a publisher; '' where nothing is missing.
  static std::string warning(const ServerTopic & topic)
  {
    const bool silent = topic.has_publisher && !topic.applied && topic.refusal.empty();
    return silent ? topic.name + " has a publisher, but no message came; that of the export counts: activate "
           "dynamics_server" : "";
  }

  /// Why an activation is refused that requires a message (await_payload_gravity); '' where it is not.
  static std::string lacks(const ServerTopic & topic)
  {
    if (topic.applied) {
      return topic.settled ? "" :
             topic.name + ": dynamics_server has just started, and nodes may hold what was set before";
    }
    if (!topic.refusal.empty()) {
      return "refused: " + topic.refusal;
    }
    return topic.name + " is awaited (await_payload_gravity), but no message came: activate dynamics_server";
  }
};

}  // namespace robot_dynamics_controllers

#endif  // SERVER_WAIT_HPP_
