"""Coupled nodes of one graph with their watches: how they are started, configured, activated and ended."""

from pathlib import Path

import torques
from load import SECOND, TOPICS
from messages import Messages
from node_settings import CONTROLLER, DESCRIBED, DESCRIPTION_TOPIC, FEEDFORWARD, FURTHER, GRAVITY_NODE, SERVER
from rclpy.serialization import serialize_message
from robots import DESCRIPTION
from server_watch import ServerWatch
from std_msgs.msg import String
from torque_watch import LooseWatch, TorqueWatch

from coupled_nodes.following_watch import ControllerWatch, FeedforwardWatch
from robot_dynamics_ros.nodes.inputs.held_topic import TOPIC as HELD


class NotUpError(Exception):
    """A node can't be activated: this episode ends."""


class Graph:
    """Nodes, and what watches them: ``watches`` of the torque nodes, and ``parts`` of all."""

    def __init__(self, nodes, found, messages: Messages, folder: Path):
        """Use ``nodes``, still empty; ``folder`` is for their files."""
        self.nodes, self.found, self.messages, self.random = nodes, found, messages, messages.random
        self.settings, self.arm = nodes.settings, nodes.settings.arm
        nodes.received = self.received
        nodes.failed = lambda name, error: found.check('CALLBACK', False, f'{name}: {error!r}')
        forward = FeedforwardWatch(FEEDFORWARD, nodes, found)
        self.watches: dict[str, TorqueWatch] = {
            FEEDFORWARD: forward,
            GRAVITY_NODE: TorqueWatch(GRAVITY_NODE, nodes, found),
            CONTROLLER: ControllerWatch(CONTROLLER, nodes, found, forward),
        }
        for name in [name for name in self.settings.nodes if name not in self.watches]:
            self.watches[name] = (TorqueWatch if name == DESCRIBED else LooseWatch)(name, nodes, found)
        self.server = ServerWatch(nodes, found, self.messages)
        self.parts = {**self.watches, SERVER: self.server}
        self._file = {'payload_file': str(folder / 'payload.yaml')} if self.settings.payload_file else {}

    def received(self, name: str, topic: str, message) -> None:
        """Record that a node received a payload or gravity, or that the arm is held."""
        watch = self.watches.get(name)
        if topic == HELD and isinstance(watch, FeedforwardWatch):
            watch.arm_is_held()
        if watch is not None and watch.configured and topic in TOPICS:
            watch.follow_load(topic, message)
            self.server.known_to_nodes(topic, message)

    def make(self, name: str) -> None:
        """Start a node's process."""
        parameters = {**self.settings.parameters(name), **(self._file if name == SERVER else {})}
        self.nodes.make(name, parameters, *FURTHER.get(name, ())[:1])
        self.nodes.take(name)

    def bring_up(self, name: str) -> None:
        """Configure and activate a node."""
        self.parts[name].configure()
        if name == DESCRIBED:
            self.nodes.give(name, DESCRIPTION_TOPIC, serialize_message(String(data=DESCRIPTION)))
        else:
            self.transition(name, 'configure', 'inactive')
        if name != SERVER:
            for topic in TOPICS:
                message = self.nodes.known(name, topic)
                if message is not None:
                    self.received(name, topic, message)
        self.activate(name)

    def activate(self, name: str) -> None:
        """Activate a node; it must not publish a torque for it."""
        self.nodes.take(name)
        if name != SERVER:
            self.watches[name].reset()
        held = self.held()
        if name != DESCRIBED:  # which is up, once it is described
            self.transition(name, 'activate', 'active')
        sent = self.nodes.take(name)
        if name == SERVER:
            heard = {topic: [] for topic in held} if self.nodes.delayed else held
            self.server.activated({topic for topic, *_ in sent}, heard)
        else:
            self.watches[name].active = True
            self.found.check('TERMS', not torques.read(sent), f'{name} published a torque at activation')

    def held(self) -> dict[str, list]:
        """Return the payloads and gravities that were set and that nodes hold, by topic."""
        loads = [watch.load for watch in self.watches.values() if watch.configured]
        return {topic: [it.ramps[topic].after for it in loads if topic in it.is_set] for topic in TOPICS}

    def described(self, name: str) -> None:
        """Check a node that has another description: it goes on, follows nothing, and publishes no torque for it."""
        sent = self.nodes.take(name)
        if name == SERVER:
            self.server.compute()
            return
        self.watches[name].go_on()
        self.found.check('TERMS', not torques.read(sent), f'{name} published a torque for a description')

    def deactivate(self, name: str) -> None:
        """Deactivate a node, which ends with what ``on_deactivate`` says."""
        part, steady = self.parts[name], self.nodes.steady
        if not part.active:
            return
        self.nodes.take(name)
        begun = 0.0 if name == SERVER else part.time
        part.active = False
        self.transition(name, 'deactivate', 'inactive')
        if name != SERVER:
            part.deactivated(torques.read(self.nodes.take(name)), begun, steady)

    def transition(self, name: str, transition: str, state: str) -> None:
        """Cause a transition of a node, which must succeed."""
        self.found.index += 1
        self.found.counts[transition] += 1
        self.nodes.transition(name, transition)
        came = self.nodes.state(name)
        if not self.found.check('CALLBACK', came == state, lambda: f'{transition}: {came}, {self.nodes.why(name)}'):
            raise NotUpError

    def pass_by(self, duration: float) -> None:
        """Advance the time by so many s."""
        self.nodes.pass_by(round(duration * SECOND))
