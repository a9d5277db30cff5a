"""Replaces the middleware for nodes of one process and one thread: records their rclpy objects and calls callbacks.

This module does not depend on the nodes: it records every subscription, publisher, service and timer where a node
creates it, and gives the modules of the nodes ``Time`` and ``Threads`` instead of ``time`` and ``threading``.
"""

import inspect
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from rclpy.clock_type import ClockType
from rclpy.lifecycle.managed_entity import SimpleManagedEntity
from rclpy.lifecycle.node import LifecycleNodeMixin
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.time import Time as RosTime

SECOND = 1_000_000_000
EPOCH = 1_800_000_000 * SECOND
"""System time of the steady time 0, ns."""
NAMESPACE = '/fuzzed'


class Time:
    """Stand-in for the module ``time``: ``steady`` and ``system`` (ns) are constant, and ``sleep`` advances them."""

    def __init__(self):
        self.steady, self.system = 0, EPOCH
        self.pass_by = None  # called with ns
        self.monotonic = self.perf_counter = lambda: self.steady / SECOND
        self.monotonic_ns = self.perf_counter_ns = lambda: self.steady
        self.time, self.time_ns = (lambda: self.system / SECOND), (lambda: self.system)
        self.sleep = lambda duration: self.pass_by(round(duration * SECOND))

    def __getattr__(self, name: str):
        return getattr(time, name)


class InertThread(threading.Thread):
    """A thread that is never started, since the caller delivers messages; ``join`` runs its target, which then ends."""

    def start(self) -> None:
        pass

    def join(self, timeout=None) -> None:
        target, self._target = self._target, None
        if target is not None:
            target(*self._args)

    def is_alive(self) -> bool:
        return self._target is not None


class Threads:
    """Stand-in for the module ``threading``."""

    Thread = InertThread

    def __getattr__(self, name: str):
        return getattr(threading, name)


@contextmanager
def stand_ins(middleware):
    """Patch modules of the nodes with the clocks of ``middleware`` and inert threads, and nodes with its methods."""
    replaced = {id(time): middleware.clocks, id(threading): Threads()}
    with ExitStack() as stack:
        for kind, methods in methods_of(middleware).items():
            for name, method in methods.items():
                stack.enter_context(patch.object(kind, name, method))
        for name, module in list(sys.modules.items()):
            if name.startswith('robot_dynamics_ros.nodes'):
                for attribute, value in list(vars(module).items()):
                    if id(value) in replaced:
                        stack.enter_context(patch.object(module, attribute, replaced[id(value)]))
        yield


def system_clock(clocks: Time):
    """Return a node's clock where no simulated time is used: the system's, as ``clocks`` has it."""
    return SimpleNamespace(
        clock_type=ClockType.ROS_TIME,
        ros_time_is_active=False,
        now=lambda: RosTime(nanoseconds=clocks.system, clock_type=ClockType.ROS_TIME),
        create_jump_callback=lambda *_, **__: SimpleNamespace(unregister=lambda: None),
    )


class Publisher(SimpleManagedEntity):
    """A publisher whose messages are recorded as bytes."""

    event_handlers = ()

    def __init__(self, middleware, node, kind, topic: str, qos, lifecycle: bool):
        super().__init__()
        self._middleware = middleware
        self.node, self.kind, self.topic, self.latched = node, kind, topic, _latched(qos)
        self.topic_name = topic if topic.startswith('/') else f'{NAMESPACE}/{topic}'
        self.handle = SimpleNamespace(publish_raw=self._send, publish=self.publish, pointer=id(self))
        self._enabled = not lifecycle
        self.last: bytes | None = None

    def publish(self, message) -> None:
        if self.is_activated:
            self._send(message if isinstance(message, bytes) else serialize_message(message))

    def _send(self, data) -> None:
        self.last = bytes(data)
        self._middleware.published(self, self.last)

    wait_for_all_acked = get_subscription_count = destroy = lambda *_: True


class Subscription:
    """A subscription whose callback is called by the caller."""

    event_handlers = ()

    def __init__(self, kind, topic: str, callback, raw: bool, qos):
        self.newest, self.publisher, self.has_joined = None, None, False  # newest message, and who published it
        self.kind = self.msg_type = kind
        self.topic = self.topic_name = topic
        self.callback, self.raw, self.latched = callback, raw, _latched(qos)
        self.qos_profile = qos if isinstance(qos, QoSProfile) else QoSProfile(depth=qos)
        self.handle = SimpleNamespace(take_message=lambda *_: None, pointer=id(self))
        try:
            inspect.signature(callback).bind(None)
            self._takes_info = False
        except TypeError:  # as rclpy finds out
            self._takes_info = True

    def give(self, data: bytes, received: int, gid: bytes = b'') -> None:
        """Call the callback with what it asks for."""
        message = data if self.raw else deserialize_message(data, self.kind)
        info = {'source_timestamp': received, 'received_timestamp': received, 'from_intra_process': False}
        if gid:
            info['publisher_gid'] = {'data': gid, 'implementation_identifier': 'rmw_fastrtps_cpp'}
        self.callback(*((message, info) if self._takes_info else (message,)))

    def destroy(self) -> None:
        pass


class Timer:
    """A timer that is due by the steady clock."""

    def __init__(self, period: float, callback, clocks: Time):
        self.timer_period_ns, self.callback, self._clocks = round(period * SECOND), callback, clocks
        self.reset()

    def reset(self) -> None:
        self.canceled, self.due = False, self._clocks.steady + self.timer_period_ns

    def cancel(self) -> None:
        self.canceled = True

    def is_canceled(self) -> bool:
        return self.canceled

    destroy = cancel


def methods_of(middleware) -> dict:
    """Return, by class of rclpy, the methods of nodes that ``middleware`` replaces; rclpy's own destroy the objects."""
    count = middleware.count

    def create_subscription(self, kind, topic, callback, qos, *_, raw=False, **__):
        self._subscriptions.append(Subscription(kind, topic, callback, raw, qos))
        return self._subscriptions[-1]

    def create_publisher(self, kind, topic, qos, *_, lifecycle=False, **__):
        further = self.get_namespace().removeprefix(NAMESPACE)[1:]
        topic = f'{further}/{topic}' if further and not topic.startswith('/') else topic
        self._publishers.append(Publisher(middleware, self, kind, topic, qos, lifecycle))
        return self._publishers[-1]

    def create_lifecycle_publisher(self, kind, topic, qos, *_, **__):
        made = create_publisher(self, kind, topic, qos, lifecycle=True)
        self._managed_entities.add(made)
        return made

    def create_service(self, kind, name, callback, **__):
        served = name.removeprefix(f'{self.get_name()}/').removeprefix('~/')
        self._services.append(SimpleNamespace(srv_name=served, srv_type=kind, callback=callback, destroy=lambda: None))
        return self._services[-1]

    def create_timer(self, period, callback, *_, **__):
        self._timers.append(Timer(period, callback, middleware.clocks))
        return self._timers[-1]

    def publishers_info(self, topic, *_, **__):
        return [SimpleNamespace(node_name='', topic_type='', endpoint_gid=[])] * count(topic)

    return {
        Node: {
            'create_subscription': create_subscription,
            'create_publisher': create_publisher,
            'create_service': create_service,
            'create_timer': create_timer,
            'count_publishers': lambda self, topic: count(topic),
            'get_publishers_info_by_topic': publishers_info,
            'get_subscriptions_info_by_topic': lambda self, topic: [],
            'get_clock': lambda self: self._clock if middleware.simulated_time else system_clock(middleware.clocks),
        },
        LifecycleNodeMixin: {'create_lifecycle_publisher': create_lifecycle_publisher},
    }


def _latched(qos) -> bool:
    return isinstance(qos, QoSProfile) and qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
