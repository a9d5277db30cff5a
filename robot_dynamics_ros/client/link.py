"""A client's place in the graph: context, node and thread of its own, and the newest messages of one arm."""

import math
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.context import Context
from rclpy.exceptions import InvalidHandle, InvalidNamespaceException, NameValidationException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from rclpy.serialization import serialize_message
from rclpy.validate_namespace import validate_namespace
from rclpy.validate_node_name import validate_node_name
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.client.errors import ClientError, EndedError, UnavailableError
from robot_dynamics_ros.client.node_status import Kind, NodeStatus
from robot_dynamics_ros.client.stop_watch import StopWatch
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.inputs.trajectory_input import TOPIC as TRAJECTORY
from robot_dynamics_ros.nodes.process.discovery import use_profiles

PATIENCE = 5.0
"""Longest time until a node in the graph is discovered and its diagnostics have come, s."""
LEAVING = 0.1
"""Time between a stop and the end of the participant, s: acknowledgements would take up to 3 s."""
STOP = serialize_message(JointTrajectory())
"""A trajectory without points."""
GONE = InvalidHandle, _rclpy.RCLError
"""What rclpy raises where the context was shut down, by its handler of SIGINT for instance."""


class Link:
    """Messages from and to the torque_controller ``target``, a full name.

    ``status`` is the node's newest status, ``stops`` knows the stops of others, ``sent`` says when the last message of
    a kind was sent (steady, s). The thread of the link writes; ``wait`` waits for it.
    """

    def __init__(self, name: str, namespace: str, arguments: Sequence[str] = ()):
        """Join the graph for the node ``name`` in ``namespace``; ``arguments`` are those of ROS, such as remappings."""
        _check_names(name, namespace)
        use_profiles()
        self._place = namespace, list(arguments)
        self.node = _node(*self._place)
        self.target = f'{self.node.get_namespace().rstrip("/")}/{name}'
        self.status: NodeStatus | None = None
        self.stops = StopWatch(STOP)
        self.sent: dict[Kind, float] = {}
        self._changed, self._failure = threading.Condition(), ''
        self._publishers: dict = {}
        self._states, self._is_closed = None, False
        self.subscribe(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self.subscribe(JointTrajectory, TRAJECTORY, self.stops.on_trajectory, 10, raw=True)
        self.publisher(TRAJECTORY, JointTrajectory)  # a stop waits for nothing
        self._executor = SingleThreadedExecutor(context=self.node.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, name='client of an arm', daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether messages may still be sent and received."""
        return self.node.context.ok()

    def close(self) -> None:
        """Leave the graph, unless that is done."""
        if self._is_closed:
            return
        self._is_closed = True
        self._executor.shutdown()
        self._thread.join()
        time.sleep(max(0.0, self.stops.last + LEAVING - time.monotonic()))
        self.node.destroy_node()
        self.node.context.try_shutdown()

    def subscribe(self, kind, topic: str, callback: Callable, qos: QoSProfile | int, **options):
        """Call ``callback(message)`` in the thread of the link; after an exception in it each ``wait`` raises."""

        def guarded(message) -> None:
            try:
                with self._changed:
                    callback(message)
                    self._changed.notify_all()
            except Exception as error:  # the thread goes on
                self._failure = f'internal error of the client: {error!r}'

        return self.node.create_subscription(kind, topic, guarded, qos, **options)

    def listen(self, topic: str, kind, callback: Callable[[bytes], object]) -> None:
        """Call ``callback(data)`` with each state on ``topic``, as bytes, instead of the one before."""
        if self._states is not None:
            self.node.destroy_subscription(self._states)
        self._states = self.subscribe(kind, topic, callback, qos_profile_sensor_data, raw=True)

    def notify(self) -> None:
        """Let ``wait`` look at its condition."""
        with self._changed:
            self._changed.notify_all()

    def publisher(self, topic: str, kind):
        """Return the publisher of a topic, made at its first use: the node warns of two publishers of a topic."""
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(kind, topic, 10)
        return self._publishers[topic]

    def wait(self, condition: Callable[[], object], timeout: float):
        """Wait until ``condition()`` holds, ``timeout`` s at most; return its value.

        ClientError where nothing can come any more.
        """

        def is_over():
            return condition() or self._failure or not self.is_open

        with self._changed:
            self._changed.wait_for(is_over, timeout)
            found = condition()
        if not found and (self._failure or not self.is_open):
            raise ClientError(
                self._failure or 'the client has left the graph: it was closed, or its context was shut down'
            )
        return found

    def await_subscription(self, topic: str, kind) -> None:
        """Wait until the node subscribes to ``topic``; UnavailableError where it does not."""
        publisher = self.publisher(topic, kind)
        began = time.monotonic()
        while not self._is_received(self.node, publisher):
            waited = time.monotonic() - began
            if waited > PATIENCE and not publisher.get_subscription_count():
                raise UnavailableError(f'{self.target} does not subscribe to {publisher.topic_name}')
            if waited > PATIENCE:
                return  # another subscription has a QoS that does not fit
            self.wait(lambda: False, 0.02)

    def publish(self, topic: str, message, kind: Kind, since: float) -> None:
        """Publish a message, unless a stop was sent ``since`` a steady time (s): EndedError."""
        data, publisher = serialize_message(message), self.publisher(topic, type(message))
        with self._changed:  # no stop comes between
            if reason := self.stops.since(since):
                raise EndedError(f'the motion has not begun: {reason}')
            if topic == TRAJECTORY:
                self.stops.know(data)
            publisher.publish(data)
        self.sent[kind] = time.monotonic()

    def is_alone(self, topic: str) -> bool:
        """Return whether no other node publishes a topic."""
        return self.node.count_publishers(topic) <= 1

    def stop(self) -> None:
        """Publish a stop; where the context was shut down, by another participant, which needs up to a second."""
        self.sent[Kind.MOTION] = time.monotonic()  # one that is refused counts
        try:
            with self._changed:
                self.stops.know(STOP)
                self._publishers[TRAJECTORY].publish(STOP)
        except GONE:
            self._publish_anew(TRAJECTORY, JointTrajectory, STOP)

    def insist(self, topic: str, message, kind: Kind) -> None:
        """Publish a message whatever was stopped, as ``stop`` does."""
        try:
            self.publish(topic, message, kind, math.inf)
        except GONE:
            self._publish_anew(topic, type(message), serialize_message(message))

    def is_in_graph(self) -> bool:
        """Return whether the node is there."""
        there = self.node.get_node_names_and_namespaces()
        return self.target in {f'{namespace.rstrip("/")}/{name}' for name, namespace in there}

    def _is_received(self, node: Node, publisher) -> bool:
        """Return whether the target is matched with a publisher of ``node``, and so are all other subscriptions."""
        there = node.get_subscriptions_info_by_topic(publisher.topic_name)
        names = {f'{it.node_namespace.rstrip("/")}/{it.node_name}' for it in there}
        return self.target in names and publisher.get_subscription_count() >= len(there)

    def _publish_anew(self, topic: str, kind, data: bytes) -> None:
        """Publish ``data`` by another participant: the context of this one was shut down."""
        node = _node(*self._place)
        try:
            publisher = node.create_publisher(kind, topic, 10)
            deadline = time.monotonic() + PATIENCE
            while not self._is_received(node, publisher) and time.monotonic() < deadline:
                time.sleep(0.01)
            publisher.publish(data)
            time.sleep(LEAVING)
        finally:
            node.destroy_node()
            node.context.try_shutdown()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == self.target:
                self.status = NodeStatus(status, time.monotonic(), self.status)

    def _spin(self) -> None:
        with suppress(ExternalShutdownException, *GONE):
            self._executor.spin()
        self.notify()


def _check_names(name: str, namespace: str) -> None:
    """Raise ArgumentError for a name or namespace that ROS does not allow."""
    try:
        validate_node_name(name)
        validate_namespace(f'/{namespace.strip("/")}')
    except NameValidationException as error:
        which = 'namespace' if isinstance(error, InvalidNamespaceException) else 'name'
        raise ArgumentError(f'{which}: {str(error).splitlines()[0]}') from None


def _node(namespace: str, arguments: list[str]) -> Node:
    """Return a node of a new context, which takes no argument of the command line."""
    context = Context()
    try:
        context.init(args=['--ros-args', *arguments] if arguments else [])
    except RuntimeError as error:
        raise ArgumentError(f'arguments: {str(error).splitlines()[0]}') from None
    name = f'arm_client_{uuid.uuid4().hex[:8]}'
    return Node(name, context=context, namespace=namespace or None, enable_rosout=False, start_parameter_services=False)
