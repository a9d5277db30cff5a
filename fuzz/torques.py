"""Published torques, read from the bytes of all topics of a node, and what holds for each of them alone."""

from typing import NamedTuple

from support.nodes import graph

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

COMMANDS = '/commands', 'effort_commands'
"""Ends of the names of topics that go to an actuator."""


class Torque(NamedTuple):
    """One torque: what was published on each topic, and when."""

    effort: np.ndarray
    message: JointState | None
    command: np.ndarray | None
    steady: float

    @property
    def stamp(self) -> int | None:
        """Stamp, ns; None where only commands were published."""
        return None if self.message is None else graph.nanoseconds(self.message.header.stamp)


def read(sent) -> list[Torque]:
    """Return the torques among the messages ``sent`` (topic, bytes, steady time in s), oldest first."""
    found: list[Torque] = []
    for topic, data, steady in sent:
        if topic.endswith(COMMANDS):
            command = np.array(deserialize_message(data, Float64MultiArray).data)
            if found and found[-1].message is not None and found[-1].command is None:
                found[-1] = found[-1]._replace(command=command)
            else:
                found.append(Torque(command, None, command, steady))
        elif topic.endswith('_torque'):
            message = deserialize_message(data, JointState)
            found.append(Torque(np.array(message.effort), message, None, steady))
    return found


def fault(torque: Torque, arm, named: bool, commands: bool, limited: bool) -> str:
    """Return what is wrong with a torque of an arm whatever it answers, '' for nothing.

    ``named``, ``commands``: it must be on the topic with joint names, on that of commands; ``limited``: within the
    effort limits.
    """
    message, effort = torque.message, torque.effort
    if (message is not None, torque.command is not None) != (named, commands):
        return f'on topics {message is not None, torque.command is not None}, expected {named, commands}'
    if effort.shape != (arm.n,) or not np.isfinite(effort).all():
        return f'{effort} are not {arm.n} finite numbers'
    if limited and (np.abs(effort) > arm.effort).any():
        return f'{effort} exceeds the effort limits {arm.effort}'
    if message is None:
        return ''
    if torque.command is not None and not np.array_equal(torque.command, effort):
        return f'commands {torque.command} are not {effort}'
    if list(message.name) != arm.names or message.header.frame_id != arm.base:
        return f'joints {message.name} and frame {message.header.frame_id!r}'
    return ''


def is_within(torque, low, high, tolerance: float = 1e-9) -> bool:
    """Return whether a torque is between two bounds, up to a tolerance relative to the largest number."""
    room = tolerance * (1.0 + np.abs([low, high]).max())
    return bool(((low - room <= torque) & (torque <= high + room)).all())
