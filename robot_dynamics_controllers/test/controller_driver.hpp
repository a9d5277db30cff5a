// SPDX-License-Identifier: Apache-2.0
// Functions in C through which test/support/stand_in_manager.py drives what a controller does without types of ROS.
#include <optional>

#include "../src/ramp_topic.hpp"
#include "../src/server_wait.hpp"

namespace
{

/// What the class of ros2_control owns.
struct Controller
{
  std::shared_ptr<EffortLaw> law;
  ReferenceValues references;
  std::optional<EffortCycle> cycle;
};

struct RampMessage
{
  Body after;
  std::int64_t start, duration;
  bool operator==(const RampMessage & other) const
  {
    return after.mass == other.after.mass && start == other.start && duration == other.duration;
  }
};

struct Topic
{
  EffortLaw * law;
  RampTopic<RampMessage> messages{"payload_state"};
  auto apply(std::int64_t now)
  {
    return [this, now](const RampMessage & it) {return law->take(PayloadRamp{it.after, {}, it.start, it.duration}, now);};
  }
};

ServerTopic server_topic(const int * flags)
{
  return {"topic", flags[0] != 0, flags[1] != 0, flags[2] != 0, flags[3] ? "topic: wrong" : ""};
}

}  // namespace

extern "C" {

/// A controller that takes over the law; nullptr with a message for wrong interfaces.
void * controller_new(
  EffortLaw * law, const char * joints, const char * interfaces, double torque_scale, char * message, std::size_t size)
{
  auto controller = std::make_unique<Controller>();
  controller->law.reset(law);
  return made(
    [&]() -> void * {
      controller->references.configure(lines(joints), lines(interfaces));
      controller->cycle.emplace(
        controller->law, controller->references, std::vector<double>(lines(joints).size(), torque_scale));
      return controller.release();
    }, message, size);
}

void controller_delete(Controller * it) {delete it;}
double * controller_reference(Controller * it, int k) {return it->references.value(static_cast<std::size_t>(k));}
double * controller_positions(Controller * it) {return it->cycle->positions();}
double * controller_velocities(Controller * it) {return it->cycle->velocities();}
double * controller_commands(Controller * it) {return it->cycle->commands();}
int controller_activate(Controller * it, std::int64_t now, int simulated) {return it->cycle->activate(now, simulated != 0);}
void controller_deactivate(Controller * it, std::int64_t now) {it->cycle->deactivate(now);}
void controller_chained(Controller * it, int chained) {it->cycle->set_chained_mode(chained != 0);}
int controller_gave_up(Controller * it) {return it->cycle->gave_up();}
int controller_update(Controller * it, std::int64_t time, double period, std::int64_t now)
{
  return static_cast<int>(it->cycle->update(time, period, now));
}
void controller_unused(Controller * it, char * message, std::size_t size)
{
  say(message, size, it->cycle->unused_references());
}

void * topic_new(EffortLaw * law) {return new Topic{law};}
void topic_delete(Topic * it) {delete it;}
/// Writes the line for the log.
void topic_receive(
  Topic * it, double mass, std::int64_t start, std::int64_t duration, std::int64_t now, char * message, std::size_t size)
{
  Body after;
  after.mass = mass;
  say(message, size, it->messages.receive(RampMessage{after, start, duration}, it->apply(now)));
}
void topic_retry(Topic * it, std::int64_t now, char * message, std::size_t size)
{
  say(message, size, it->messages.retry(it->apply(now)));
}
int topic_is_applied(Topic * it) {return it->messages.is_applied();}

/// Topics by four flags each: a publisher is known, a message is in force, it is settled, the last one was refused.
int server_waits(const int * topic, const int * other, double since_participant, double since_begin)
{
  return ServerWait::waits(server_topic(topic), server_topic(other), since_participant, since_begin);
}
void server_texts(const int * topic, char * message, std::size_t size)
{
  const ServerTopic it = server_topic(topic);
  say(message, size, ServerWait::warning(it) + "\n" + ServerWait::lacks(it));
}

}  // extern "C"
