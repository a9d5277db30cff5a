"""The nodes in this process, with callable inputs, recorded outputs and clocks that the caller sets."""

import inspect
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from middleware import EPOCH, Threads
from rclpy.clock_type import ClockType
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter
from rclpy.time import Time
from std_msgs.msg import String

from broken_messages.bytes import serialized, understood
from broken_messages.oracle import DESCRIPTION
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.torque_controller import TorqueController

AGE = 0.1
"""age_limit of the nodes that set it, s."""
RATE = 50.0
"""rate_limit of the nodes that set it, N m/s."""
RAMP = 0.5
"""ramp_time of the nodes with ramp_to_zero, s."""
STIFFNESS = np.array([300.0, 400.0, 300.0, 60.0, 60.0, 60.0])
LONGEST = 1.0
"""Age limit of a node without age_limit until it has estimated one, s."""
KNOWN = 1.0
"""Steady time after which nodes assume that their load has no publisher, s."""
AGED = {'age_limit': AGE}
LIMITED = {**AGED, 'rate_limit': [RATE] * len(STIFFNESS)}
PD = {
    'control_law': 'pd_feedforward',
    'stiffness': STIFFNESS.tolist(),
    'damping': [30.0, 40.0, 30.0, 4.0, 4.0, 4.0],
    'state_rate': 500.0,
}
MEASURED = {'evaluate_at': 'measured'}
CARRIED, DOWN = {'on_stale': 'gravity_only'}, {'on_stale': 'ramp_to_zero', 'ramp_time': RAMP}
REFERENCE = {'source': 'controller_state', 'reference_age_limit': AGE, 'reference_cutoff': 20.0}
DESCRIBED = {'description_topic': 'robot_description', 'binding': 'generic', 'autostart': True}  # nothing to compile
ANY_LOAD = {'payload_limit': 1e6, 'gravity_limit': 1000.0, 'load_ramp_time': 0.0}
NODES = {
    'gravity': (GravityCompensationNode, 'gravity', AGED),
    'gravity, rate limited': (GravityCompensationNode, 'gravity', LIMITED),
    'gravity, carried': (GravityCompensationNode, 'gravity', {**AGED, **CARRIED}),
    'gravity, down, rate limited': (GravityCompensationNode, 'gravity', {**LIMITED, **DOWN}),
    'gravity, described': (GravityCompensationNode, 'gravity', {**AGED, **DESCRIBED}),
    'feedforward': (FeedforwardNode, 'feedforward', {}),
    'feedforward, rate limited': (FeedforwardNode, 'feedforward', {**LIMITED, **MEASURED}),
    'feedforward, down': (FeedforwardNode, 'feedforward', {**AGED, **DOWN}),
    'feedforward of a reference': (FeedforwardNode, 'reference', {**AGED, **REFERENCE}),
    'controller': (TorqueController, 'controller', {**AGED, **PD}),
    'controller, rate limited': (TorqueController, 'controller', {**LIMITED, **PD}),
    'controller, carried, rate limited': (TorqueController, 'controller', {**LIMITED, **CARRIED, **PD}),
    'server': (DynamicsServer, 'server', ANY_LOAD),
}
OUTPUTS = {
    'gravity': ('gravity_torque', 'gravity_torque/commands'),
    'feedforward': ('feedforward_torque', 'feedforward_torque/commands'),
    'reference': ('feedforward_torque', 'feedforward_torque/commands'),
    'controller': ('effort_commands',),
    'server': (),
}
WEIGHTS = {
    'gravity': {'joint_states': 1.0},
    'feedforward': {'joint_states': 0.8, 'joint_trajectory': 0.2},
    'reference': {'joint_states': 0.5, 'controller_state': 0.5},
    'controller': {'joint_states': 0.6, 'joint_trajectory': 0.15, 'feedforward_torque': 0.25},
    'server': {},
}

LOADS = {'payload_state': 0.03, 'gravity_state': 0.02}


class Steady:
    """Stand-in for the module ``time``: the steady clock is constant at ``now``, s."""

    now = 0.0

    def monotonic(self) -> float:
        """Return the time, s."""
        return self.now

    perf_counter = monotonic

    def monotonic_ns(self) -> int:
        """Return the time, ns."""
        return round(self.now * 1e9)

    def time_ns(self) -> int:
        """Return the system time, a constant, ns."""
        return EPOCH

    def __getattr__(self, name: str):
        """Return anything else of the real module."""
        return getattr(time, name)


class Kept:
    """A publisher whose serialized messages are kept instead of sent."""

    def __init__(self, publisher, send):
        """Send by ``send``, and be ``publisher`` otherwise."""
        self.publisher, self.handle = publisher, SimpleNamespace(publish_raw=send)

    def __getattr__(self, name: str):
        """Return anything else of the publisher."""
        return getattr(self.publisher, name)


class Watched:
    """Mixin of a node class that records the node's subscriptions, services, timers and diagnostics."""

    def __init__(self, law: str, parameters: dict, steady, **options):
        """Make the node and start it."""
        self.law, self.outputs = law, OUTPUTS[law]
        self.serves, self.controls, self.always = (law == kind for kind in ('server', 'controller', 'gravity'))
        self.rate_limited = 'rate_limit' in parameters
        self.oldest = round(parameters.get('age_limit', LONGEST) * 1e9)  # that is answered, ns
        self.on_stale = parameters.get('on_stale', 'silent')
        self.described = 'description_topic' in parameters
        # generic kernels let any link carry something, which the nodes' usual ones do not
        self.weights = WEIGHTS[law] if self.serves or self.described else {**WEIGHTS[law], **LOADS}
        self.sent: list[tuple[str, bytes]] = []
        self.announced: list = []
        self.refused = ''
        self.called: dict = {}
        self._ticks: list = []
        self.diagnosed: list = []
        overrides = {'model': 'aubo_i5', 'use_sim_time': True, 'autostart': False, **parameters}
        super().__init__(
            parameter_overrides=[Parameter(name, value=value) for name, value in overrides.items()],
            enable_rosout=False,
            **options,
        )
        self.get_logger().set_level(LoggingSeverity.FATAL)
        steady.now = KNOWN
        if self.described:
            self.give('robot_description', serialized(String(data=DESCRIPTION)))
        else:
            self.start()
        assert self.active, self.silence

    def give(self, topic: str, data: bytes):
        """Call the callback for a message; return its response, else True, or None if rclpy rejects the bytes."""
        kind, callback, raw, answer = self.called[topic]
        info = {'source_timestamp': EPOCH, 'received_timestamp': EPOCH}
        if raw:
            callback(*((data,) if _takes_one(callback) else (data, info)))
            return True
        message = understood(data, kind)
        if message is None:
            return None
        if answer is not None:
            return callback(message, answer())
        callback(*((message,) if _takes_one(callback) else (message, info)))
        return True

    @property
    def reason(self) -> str:
        """The present reason for which the node publishes nothing."""
        running = self.active and hasattr(self.task, 'pipeline')
        return self.task.pipeline.silence if running else self.silence

    def settle(self) -> None:
        """Run the timers of an active node."""
        for tick in list(self._ticks):
            tick()
        self.diagnosed.clear()

    def on_activate(self, state):
        """Finish the discovery that a node waits for after activation."""
        result = super().on_activate(state)
        self.settle()
        return result

    def set_time(self, now: int) -> None:
        """Set the node's clock, ns."""
        self.get_clock().set_ros_time_override(Time(nanoseconds=now, clock_type=ClockType.ROS_TIME))

    def pause(self) -> None:
        """Run the timeout of the hot path."""
        if self.task._hot_path._on_pause is not None:
            self.task._hot_path._on_pause()

    def down(self) -> None:
        """Deactivate and clean up the node."""
        if self.active:
            self.trigger_deactivate()
        if self.robot is not None:
            self.trigger_cleanup()

    def diagnose(self):
        """Return the DiagnosticStatus that is published next."""
        for tick in list(self._ticks):
            tick()
        (status,) = self.diagnosed[-1].status
        self.diagnosed.clear()
        return status

    def create_subscription(self, kind, topic, callback, *arguments, raw=False, **options):
        """Record the callback."""
        self.called[topic] = kind, callback, raw, None
        return super().create_subscription(kind, topic, callback, *arguments, raw=raw, **options)

    def create_service(self, kind, name, callback, **options):
        """Record the callback."""
        service = super().create_service(kind, name, callback, **options)
        self.called[name.removeprefix(f'{self.get_name()}/')] = kind.Request, service.callback, False, kind.Response
        return service

    def create_timer(self, period, callback, **options):
        """Record the callback."""
        timer = super().create_timer(period, callback, **options)
        self._timed = {**getattr(self, '_timed', {}), timer: callback}
        self._ticks = list(self._timed.values())
        return timer

    def destroy_timer(self, timer):
        """Forget the callback."""
        self._timed.pop(timer, None)
        self._ticks = list(self._timed.values())
        return super().destroy_timer(timer)

    def create_publisher(self, kind, topic, *arguments, **options):
        """Record the diagnostics."""
        publisher = super().create_publisher(kind, topic, *arguments, **options)
        if topic == '/diagnostics':
            publisher.publish = self.diagnosed.append
        return publisher

    def create_lifecycle_publisher(self, kind, topic, *arguments, **options):
        """Record torques, and messages that are not torques."""
        publisher = super().create_lifecycle_publisher(kind, topic, *arguments, **options)
        publisher.publish = self.announced.append
        if topic.endswith('/info'):
            return Kept(publisher, self.announced.append)
        return Kept(publisher, lambda data: self.sent.append((topic, bytes(data))))

    def destroy_lifecycle_publisher(self, kept):
        """Destroy the publisher."""
        return super().destroy_lifecycle_publisher(kept.publisher)

    def refuse(self, reason):
        """Record the reason."""
        self.refused = reason
        super().refuse(reason)


def _takes_one(callback) -> bool:
    """Return whether a callback has the message as its only argument, as rclpy determines it."""
    try:
        inspect.signature(callback).bind(None)
    except TypeError:
        return False
    return True


@contextmanager
def watched():
    """Make a node of each of ``NODES``, started, by its name there, and a steady clock for them; rclpy is up."""
    made: dict = {}
    steady = Steady()
    try:
        with ExitStack() as stack:
            for name, module in list(sys.modules.items()):
                for real, stand_in in ((time, steady), (threading, Threads())):
                    if name.startswith('robot_dynamics_ros.nodes') and getattr(module, real.__name__, None) is real:
                        stack.enter_context(patch.object(module, real.__name__, stand_in))
            for number, (name, (node_class, law, parameters)) in enumerate(NODES.items()):
                kind = type(f'Watched{node_class.__name__}', (Watched, node_class), {})
                steady.now = 0.0
                made[name] = kind(
                    law, parameters, steady, namespace=f'fuzz_{number}', enable_communication_interface=False
                )
            yield made, steady
    finally:
        for node in made.values():
            node.fall_silent()
            node.destroy_node()
