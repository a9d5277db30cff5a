"""The coupled nodes in this process and one thread, with messages delivered one by one and constant clocks."""

import importlib
from contextlib import ExitStack
from pathlib import Path

import support.graph  # noqa: F401, sets the domain before anything imports rclpy

import rclpy
from geometry_msgs.msg import Vector3Stamped
from middleware import EPOCH, NAMESPACE, SECOND, Kept, Publisher, Time, stand_ins
from rclpy.clock_type import ClockType
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time as RosTime

from coupled_nodes.settings import CONTROLLER, FEEDFORWARD, GRAVITY_NODE, SERVER, Settings
from robot_dynamics_interfaces.srv import GetInverseDynamics

NODES = {
    SERVER: 'DynamicsServer',
    FEEDFORWARD: 'FeedforwardNode',
    GRAVITY_NODE: 'GravityCompensationNode',
    CONTROLLER: 'TorqueController',
}
BEGINNING = 1000 * SECOND
"""Simulated time at which a graph begins, ns."""
HANDED_OVER = ('payload_state', 'gravity_state', 'feedforward_torque/info', 'gravity_torque/info')
"""Topics that are delivered to other nodes immediately; the caller delivers all others."""


def node_class(name: str):
    """Return the class of a node."""
    return getattr(importlib.import_module(f'robot_dynamics_ros.nodes.{name}'), NODES[name])


class InProcess:
    """A graph of nodes.

    ``told(node, topic, message)`` is called for each message on ``HANDED_OVER`` to a node, ``failed(node, error)`` for
    an exception that leaves a callback.
    """

    real_time, lag = False, 0.0

    told = failed = staticmethod(lambda *_: None)

    def __init__(self, settings: Settings, folder: Path):
        """Create an empty graph; ``folder`` is unused."""
        self.settings = settings
        self.simulated_time = settings.simulated_time
        self.clocks = Time()
        self.clocks.pass_by = self._sleep
        self._ros, self.ros_rate = BEGINNING, 1.0  # time, ns, and its speed: it may crawl or stand still
        self.nodes: dict = {}
        self.foreign: set[str] = set()  # topics with a publisher that is none of these nodes
        self._kept: dict[int, Kept] = {}
        self._sent: dict[str, list] = {name: [] for name in NODES}
        self._diagnosed: list = []
        self._queue: list = []
        self._busy = False
        self._stack = ExitStack()
        self._gravity_kind = getattr(
            importlib.import_module('robot_dynamics_ros.messages.payload_gravity'), 'GravityState', Vector3Stamped
        )

    def __enter__(self):
        """Replace the middleware."""
        for name in NODES:
            node_class(name)  # imported before modules are looked through
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self._stack.callback(rclpy.try_shutdown)
        self._stack.enter_context(stand_ins(self))
        return self

    def __exit__(self, *_):
        """End all nodes."""
        for name in list(self.nodes):
            self.destroy(name)
        self._stack.close()

    @property
    def now(self) -> int:
        """ROS time, ns."""
        return self._ros if self.simulated_time else self.clocks.system

    @property
    def steady(self) -> float:
        """Steady time, s."""
        return self.clocks.steady / SECOND

    def make(self, name: str, parameters: dict) -> None:
        """Make a node, unconfigured."""
        overrides = [Parameter(key, value=value) for key, value in {'model': 'aubo_i5', **parameters}.items()]
        node = node_class(name)(
            namespace=NAMESPACE,
            parameter_overrides=overrides,
            enable_rosout=False,
            enable_communication_interface=False,
        )
        node.get_logger().set_level(LoggingSeverity.FATAL)
        self.nodes[name] = node
        self._set_times()
        for subscription in list(self.kept(node).subscriptions):
            if subscription.latched:
                self._hand_over_latched(name, subscription)
        self._flush()

    def destroy(self, name: str) -> None:
        """Destroy a node as the end of its process would."""
        node = self.nodes.pop(name)
        self._call(name, node.fall_silent)
        self._call(name, node.destroy_node)
        self._kept.pop(id(node), None)
        self._flush()

    def state(self, name: str) -> str:
        """Return a node's lifecycle state."""
        return self.nodes[name]._state_machine.current_state[1]

    def transition(self, name: str, transition: str) -> bool:
        """Configure, activate, deactivate or clean up a node; return whether it did."""
        before = self.state(name)
        known = set(self.kept(self.nodes[name]).subscriptions)
        self._call(name, getattr(self.nodes[name], f'trigger_{transition}'))
        self._flush()
        for subscription in self.kept(self.nodes[name]).subscriptions:
            if subscription not in known and subscription.latched:
                self._hand_over_latched(name, subscription)
        return self.state(name) != before

    def why(self, name: str) -> str:
        """Return why a node is silent, for a report."""
        return str(getattr(self.nodes[name], 'silence', ''))

    def pass_by(self, duration: int) -> None:
        """Advance the time by so many ns."""
        self._sleep(duration)
        for name, node in self.nodes.items():
            for timer in list(self.kept(node).timers):
                if not timer.canceled and timer.due <= self.clocks.steady:
                    timer.reset()
                    self._call(name, timer.callback)
        self._diagnosed.clear()
        self._flush()

    def set_back(self, duration: int) -> None:
        """Set the ROS time back by so many ns."""
        if self.simulated_time:
            self._ros -= duration
        else:
            self.clocks.system -= duration
        self._set_times()

    def give(self, name: str, topic: str, data: bytes, late: int = 0, gid: bytes = b'') -> None:
        """Deliver a message of the publisher ``gid`` to a node, ``late`` ns after the middleware received it."""
        for subscription in list(self.kept(self.nodes[name]).subscriptions):
            if subscription.topic == topic:
                received = self.clocks.system - late
                self._call(name, lambda: subscription.give(data, received, gid))  # noqa: B023, called at once
        self._flush()

    def give_state(self, name: str, data: bytes, answered: bool) -> None:
        """Deliver a joint state to an active node, which publishes immediately or not at all."""
        self.give(name, 'joint_states', data)

    def gravity_torque(self, q) -> list:
        """Return the gravity torque that the server computes."""
        request = GetInverseDynamics.Request(
            positions=q.tolist(), velocities=[0.0] * len(q), accelerations=[0.0] * len(q)
        )
        request.joint_names = list(self.settings.arm.names)
        return self.request(SERVER, 'get_inverse_dynamics', request).gravity

    @property
    def fills_before(self) -> bool:
        """Whether the server fills PayloadState.before: releases before gravity had a message of its own did not."""
        return not issubclass(self._gravity_kind, Vector3Stamped)

    def request(self, name: str, service: str, request):
        """Return the response of a node's service."""
        kind, callback = self.kept(self.nodes[name]).services[service]
        response = self._call(name, lambda: callback(request, kind.Response()))
        self._flush()
        return response

    def pause(self, name: str) -> None:
        """Run the timeout of a node."""
        pause = on_pause(self.nodes[name])
        if pause is not None:
            self._call(name, pause)
        self._flush()

    def diagnose(self, name: str):
        """Return a node's DiagnosticStatus, None where it publishes none."""
        self._diagnosed.clear()
        for timer in list(self.kept(self.nodes[name]).timers):
            self._call(name, timer.callback)
        self._flush()
        return self._diagnosed[-1].status[0] if self._diagnosed else None

    def diagnosed(self, name: str, field: str) -> str:
        """Return a field of a node's diagnostics."""
        status = self.diagnose(name)
        return {value.key: value.value for value in status.values}.get(field, '') if status else ''

    def settle(self) -> None:
        """Finish the discovery of a node that was activated; immediate in this process."""

    def take(self, name: str) -> list:
        """Return a node's messages since the last call: topic, bytes, steady time in s."""
        sent, self._sent[name] = self._sent[name], []
        return sent

    def count(self, topic: str) -> int:
        """Return the number of publishers of a topic."""
        topic = topic.removeprefix(f'{NAMESPACE}/')
        kept = sum(made.topic == topic for node in self._kept.values() for made in node.publishers)
        return kept + (topic in self.foreign)

    def latched(self, topic: str):
        """Return the message that a late joiner gets on a topic, None for none."""
        for node in self._kept.values():
            for publisher in node.publishers:
                if publisher.topic == topic and publisher.last is not None and publisher.latched:
                    return deserialize_message(publisher.last, publisher.kind)
        return None

    def inject(self, name: str, topic: str, message) -> None:
        """Deliver a message of another publisher to one node only."""
        for subscription in list(self.kept(self.nodes[name]).subscriptions):
            if subscription.topic == topic:
                self._hand_over(name, subscription, None, serialize_message(message))
        self._flush()

    def subscribed(self, name: str, topic: str) -> float:
        """Return when a node subscribed to a topic, s of the steady clock."""
        return max(made.created for made in self.kept(self.nodes[name]).subscriptions if made.topic == topic) / SECOND

    def known(self, name: str, topic: str):
        """Return the newest message that a subscription has brought to a node whose publisher is still there."""
        for made in self.kept(self.nodes[name]).subscriptions:
            alive = made.publisher is None or any(made.publisher in kept.publishers for kept in self._kept.values())
            if made.topic == topic and made.newest is not None and alive:
                return made.newest
        return None

    def kind(self, name: str, topic: str):
        """Return the type that a node expects on a topic, None where it does not subscribe."""
        kinds = [made.kind for made in self.kept(self.nodes[name]).subscriptions if made.topic == topic]
        return kinds[0] if kinds else None

    def kept(self, node) -> Kept:
        """Return the record of a node's rclpy objects."""
        return self._kept.setdefault(id(node), Kept())

    def published(self, publisher: Publisher, data: bytes) -> None:
        """Record a published message."""
        if publisher.topic == '/diagnostics':
            self._diagnosed.append(deserialize_message(data, publisher.kind))
        elif publisher.topic in HANDED_OVER:
            self._queue.append((publisher, data))
        if publisher.topic != '/diagnostics' and not publisher.topic.startswith('/'):
            self._sent[publisher.node.get_name()].append((publisher.topic, data, self.steady))

    def _flush(self) -> None:
        """Deliver the messages between nodes."""
        while self._queue:
            publisher, data = self._queue.pop(0)
            for name, node in self.nodes.items():
                for subscription in list(self.kept(node).subscriptions):
                    if subscription.topic == publisher.topic:
                        self._hand_over(name, subscription, publisher, data)

    def _hand_over_latched(self, name: str, subscription) -> None:
        for node in list(self._kept.values()):
            for publisher in node.publishers:
                if publisher.topic == subscription.topic and publisher.latched and publisher.last is not None:
                    self._hand_over(name, subscription, publisher, publisher.last)

    def _hand_over(self, name: str, subscription, publisher, data: bytes) -> None:
        subscription.newest = deserialize_message(data, subscription.kind)
        subscription.publisher = publisher
        self.told(name, subscription.topic, subscription.newest)
        self._call(name, lambda: subscription.give(data, self.clocks.system))

    def _call(self, name: str, callback):
        """Call a node; no exception may leave it (R18)."""
        try:
            return callback()
        except Exception as error:  # any at all
            self.failed(name, error)
            return None

    def _sleep(self, duration: int) -> None:
        self.clocks.steady += duration
        self.clocks.system += duration
        self._ros += round(self.ros_rate * duration)
        self._set_times()

    def _set_times(self) -> None:
        if self.simulated_time:
            time = RosTime(nanoseconds=self._ros, clock_type=ClockType.ROS_TIME)
            for node in self.nodes.values():
                node.get_clock().set_ros_time_override(time)


def on_pause(node):
    """Return the timeout function of a node, None if it has none."""
    path = getattr(getattr(node, 'task', node), '_hot_path', None)
    return getattr(path, '_on_pause', None)


__all__ = ['EPOCH', 'InProcess']
