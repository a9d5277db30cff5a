"""DDS participant of a node's process, created before the process imports what its nodes compute with.

DDS needs up to 0.44 s to discover the publishers that exist, dynamics_server among them, and uses threads of its own.
The rest of the start takes place meanwhile:

1. ``nodes/__init__``: SIGINT ends the process; rclpy is imported, and ``create`` called
2. the module of the executable: NumPy, ``Robot``, laws, messages
3. ``process.run``: signal handlers, and the nodes with their subscriptions to payload and gravity
4. configuring: model, inputs and outputs; activating
5. the first torque, once payload and gravity are known
"""

import sys
from contextlib import contextmanager

import rclpy
from rclpy.context import Context
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_default_context

from robot_dynamics_ros.nodes.process import discovery

STARTING = '_starting'
"""Name of a node that keeps the participant until the nodes of the process do; ROS 2 commands hide it."""

_keepers: list = []


@contextmanager
def one_line(kind: type[Exception]):
    """End the process with one line at an exception of a ``kind`` that wrong ROS arguments raise."""
    try:
        yield
    except kind as error:
        sys.exit(' '.join(f'not started: {error}'.split()))


def create() -> None:
    """Initialise ROS and create the participant, unless that is done; wrong ROS arguments end the process."""
    context = get_default_context()
    if context.ok():
        return
    discovery.use_profiles()
    with one_line(RuntimeError):
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        with context.handle:
            _keepers.append(_node(STARTING, context))


def hand_over() -> None:
    """Let the nodes of the process alone keep the participant."""
    while _keepers:
        _keepers.pop().destroy_when_not_in_use()


def _node(name: str, context: Context):
    """Return a node of rcl without topics, services and arguments: only a node makes rmw create a participant."""
    arguments = name, '', context.handle, None, False, False
    try:
        return _rclpy.Node(*arguments, QoSProfile(depth=1).get_c_qos_profile())
    except TypeError:  # Humble and Jazzy: no profile of the log's topic, which it does not have
        return _rclpy.Node(*arguments)
