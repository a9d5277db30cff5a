"""Nodes in this process and one thread, with messages delivered one by one and clocks that stand still meanwhile."""

import importlib
from contextlib import ExitStack

from support.nodes import graph  # sets the domain before anything imports rclpy

import numpy as np
import rclpy
from middleware import NAMESPACE, SECOND, Publisher, Time, stand_ins
from node_settings import EXTERNAL, FEEDFORWARD, SERVER, TORQUE_NODES
from rclpy.clock_type import ClockType
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time as RosTime
from std_msgs.msg import String

KINDS = SERVER, *TORQUE_NODES, EXTERNAL
BEGINNING = 1000 * SECOND
"""Simulated time at which a graph begins, ns."""
HANDED_OVER = (
    *('payload_state', 'gravity_state', 'payload_in_force', 'gravity_in_force'),
    *('feedforward_torque/info', 'gravity_torque/info', 'feedforward_torque/held'),
)
"""Topics that are delivered to other nodes immediately; the caller delivers all others."""
WORDS = HANDED_OVER[2:4]
"""Those on which nodes say what they hold."""


def node_class(kind: str):
    return getattr(
        importlib.import_module(f'robot_dynamics_ros.nodes.executables.{kind}'), kind.title().replace('_', '')
    )


class InProcess:
    """A graph of nodes, by name.

    ``received(node, topic, message)`` is called for each message on ``HANDED_OVER`` to a node, ``failed(node, error)``
    for an exception that leaves a callback.
    """

    received = failed = staticmethod(lambda *_: None)
    delayed: tuple[str, ...] = ()
    """Topics of ``HANDED_OVER`` whose messages wait."""

    def __init__(self, settings):
        self.settings, self.simulated_time = settings, settings.simulated_time
        self.clocks = Time()
        self.clocks.pass_by = self.sleep
        self._ros, self.ros_rate = BEGINNING, 1.0  # time, ns, and its speed: it may crawl or stand still
        self.nodes: dict = {}
        self._sent: dict[str, list] = {}
        self._diagnosed: list = []
        self._queue: list = []
        self._stack = ExitStack()

    def __enter__(self):
        for kind in KINDS:
            node_class(kind)  # imported before modules are looked through
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        self._stack.callback(rclpy.try_shutdown)
        self._stack.enter_context(stand_ins(self))
        return self

    def __exit__(self, *_):
        for name in list(self.nodes):
            self.destroy(name)
        self._stack.close()

    @property
    def now(self) -> int:
        return self._ros if self.simulated_time else self.clocks.system

    @property
    def steady(self) -> float:
        return self.clocks.steady / SECOND

    def make(self, name: str, parameters: dict, kind: str = '') -> None:
        """Make a node, unconfigured; ``kind`` is its executable, where its topics are not those of the graph."""
        node = node_class(kind or name)(
            namespace=f'{NAMESPACE}/{name}' if kind else NAMESPACE,
            parameter_overrides=[
                Parameter(key, value=value) for key, value in {'model': 'aubo_i5', **parameters}.items()
            ],
            enable_rosout=False,
            enable_communication_interface=False,
        )
        node.get_logger().set_level(LoggingSeverity.FATAL)
        self.nodes[name], self._sent[name] = node, []
        self._set_times()
        self._flush()

    def destroy(self, name: str) -> None:
        node = self.nodes.pop(name)
        self._call(name, node.fall_silent)
        self._call(name, node.destroy_node)
        self._flush()

    def state(self, name: str) -> str:
        return self.nodes[name]._state_machine.current_state[1]

    def transition(self, name: str, transition: str) -> None:
        """Configure, activate, deactivate or clean up a node."""
        self._call(name, getattr(self.nodes[name], f'trigger_{transition}'))
        self._flush()

    def why(self, name: str) -> str:
        """Return why a node publishes nothing."""
        node = self.nodes[name]
        return node.task.pipeline.silence if node.active and name != SERVER else node.silence

    def follows(self, name: str) -> int | None:
        """Return the start (ns) of the trajectory that a node says it follows, or announces; None for none."""
        if name == FEEDFORWARD:
            info = None if self.why(name) else self.latched('feedforward_torque/info')
            return None if info is None or not info.trajectory else graph.nanoseconds(info.trajectory_start)
        plan = self.nodes[name].task.trajectory._follower.plan
        return None if plan is None or plan.dropped is not None else plan.start

    def dropped(self, name: str) -> str:
        """Return why a node does not follow the trajectory that is due, '' where it does or there is none."""
        trajectory = self.nodes[name].task.trajectory
        return trajectory.dropped or trajectory._follower.unreached

    def reference(self, name: str) -> np.ndarray:
        """Return position, velocity and acceleration (3, n) that a node follows along its trajectory."""
        return self.nodes[name].task.trajectory._follower.start._desired.copy()

    def pass_by(self, duration: int) -> None:
        """Advance the time by so many ns."""
        self.sleep(duration)
        for name, node in self.nodes.items():
            for timer in list(node.timers):
                if not timer.canceled and timer.due <= self.clocks.steady:
                    timer.reset()
                    self._call(name, timer.callback)
        self._diagnosed.clear()
        self._flush()

    def set_back(self, duration: int) -> None:
        if self.simulated_time:
            self._ros -= duration
        else:
            self.clocks.system -= duration
        self._set_times()

    def give(self, name: str, topic: str, data: bytes, late: int = 0, gid: bytes = b'') -> None:
        """Deliver a message of the publisher ``gid`` to a node, ``late`` ns after the middleware received it."""
        received = self.clocks.system - late
        for subscription in self.subscriptions(name, topic):
            self._call(name, lambda subscription=subscription: subscription.give(data, received, gid))
            if topic == 'joint_trajectory':
                self._read_trajectories(name)
        self._flush()

    def _read_trajectories(self, name: str) -> None:
        """Do what the thread of a node that reads trajectories does."""
        task = self.nodes[name].task
        while task is not None and self._call(name, task.trajectory._handle_next):
            pass

    def give_state(self, name: str, data: bytes) -> None:
        if self.nodes[name].task._hot_path._thread is not None:
            self.give(name, 'joint_states', data)

    def describe(self, name: str, text: str) -> None:
        """Deliver a robot description to a node, whatever its topic."""
        self._call(name, lambda: self.nodes[name].description.on_message(String(data=text)))
        self._flush()

    def request(self, name: str, service: str, request):
        """Return the response of a node's service."""
        (made,) = [each for each in self.nodes[name].services if each.srv_name == service]
        response = self._call(name, lambda: made.callback(request, made.srv_type.Response()))
        self._flush()
        return response

    def pause(self, name: str) -> None:
        """Run the timeout of a node."""
        on_pause = self.nodes[name].task._hot_path._on_pause
        if on_pause is not None:
            self._call(name, on_pause)
        self._flush()

    def diagnose(self, name: str):
        """Run the timers of a node; return its DiagnosticStatus and fields, None where it publishes none."""
        self._diagnosed.clear()
        for timer in list(self.nodes[name].timers):
            self._call(name, timer.callback)
        self._flush()
        for message in self._diagnosed[-1:]:
            return message.status[0], {value.key: value.value for value in message.status[0].values}
        return None, {}

    def take(self, name: str) -> list:
        sent, self._sent[name] = self._sent.get(name, []), []
        return sent

    def count(self, topic: str) -> int:
        topic, last = topic.removeprefix(f'{NAMESPACE}/'), topic.rpartition('/')[2]
        # remapped payload_state and gravity_state have the same content
        topic = last if last in HANDED_OVER[:2] else topic
        return sum(made.topic == topic for made in self._publishers())

    def latched(self, topic: str):
        """Return the message that a late joiner gets on a topic, None for none."""
        return next((deserialize_message(made.last, made.kind) for made in self._latching(topic)), None)

    def known(self, name: str, topic: str):
        """Return the newest message that a subscription has brought to a node whose publisher is still there."""
        found = (made.newest for made in self.subscriptions(name, topic) if made.publisher in self._publishers())
        return next(found, None)

    def subscriptions(self, name: str, topic: str) -> list:
        return [made for made in self.nodes[name].subscriptions if made.topic == topic]

    def _publishers(self) -> list[Publisher]:
        return [made for node in self.nodes.values() for made in node.publishers]

    def published(self, publisher: Publisher, data: bytes) -> None:
        """Record a published message."""
        if publisher.topic == '/diagnostics':
            self._diagnosed.append(deserialize_message(data, publisher.kind))
            return
        if publisher.topic in HANDED_OVER:
            self._queue.append((publisher, data))
        name = next((name for name, node in self.nodes.items() if node is publisher.node), '')
        if name and not publisher.topic.startswith('/'):
            self._sent[name].append((publisher.topic, data, self.steady))

    def _flush(self) -> None:
        """Deliver latched messages to new subscriptions, then the messages in the queue."""
        for name, node in list(self.nodes.items()):
            for subscription in list(node.subscriptions):
                if subscription.latched and not subscription.has_joined and subscription.topic not in self.delayed:
                    subscription.has_joined = True
                    for publisher in self._latching(subscription.topic):
                        self._hand_over(name, subscription, publisher, publisher.last)
        while waiting := [each for each in self._queue if each[0].topic not in self.delayed]:
            self._queue.remove(waiting[0])
            publisher, data = waiting[0]
            for name in list(self.nodes):
                for subscription in self.subscriptions(name, publisher.topic):
                    self._hand_over(name, subscription, publisher, data)

    def _latching(self, topic: str) -> list[Publisher]:
        return [made for made in self._publishers() if made.topic == topic and made.latched and made.last is not None]

    def _hand_over(self, name: str, subscription, publisher, data: bytes) -> None:
        subscription.newest = deserialize_message(data, subscription.kind)
        subscription.publisher = publisher
        self.received(name, subscription.topic, subscription.newest)
        gid = str(id(publisher)).encode() if publisher.topic in WORDS else b''
        self._call(name, lambda: subscription.give(data, self.clocks.system, gid))

    def _call(self, name: str, callback):
        try:
            return callback()
        except Exception as error:  # any at all
            self.failed(name, error)
            return None

    def sleep(self, duration: int) -> None:
        """Advance all clocks by so many ns, but run no timers."""
        self.clocks.steady += duration
        self.clocks.system += duration
        self._ros += round(self.ros_rate * duration)
        self._set_times()

    def _set_times(self) -> None:
        if self.simulated_time:
            time = RosTime(nanoseconds=self._ros, clock_type=ClockType.ROS_TIME)
            for node in self.nodes.values():
                node.get_clock().set_ros_time_override(time)
