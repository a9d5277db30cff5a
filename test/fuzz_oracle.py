"""What a message means: as rclpy reads it, and as the robot answers it."""

from typing import NamedTuple

import graph
import numpy as np
from fuzz_bytes import serialized, understood
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import Robot

ROBOT = Robot.named('aubo_i5')
MODERATE = 2.0
"""Up to here positions (rad) and the like are good whatever else a node may ask."""


class Read(NamedTuple):
    """A joint state as rclpy reads it."""

    stamp: int
    q: np.ndarray | None  # of the robot's joints; None where one is missing, doubled or not finite
    good: bool  # nothing at all is unusual


def read_state(data: bytes) -> Read | None:
    """Return what rclpy reads, None where it refuses."""
    message = understood(data, JointState)
    if message is None:
        return None
    names, stamp = message.name, graph.nanoseconds(message.header.stamp)
    complete = set(ROBOT.joint_names) <= set(names) and len(set(names)) == len(names) == len(message.position)
    q = np.array([message.position[names.index(name)] for name in ROBOT.joint_names]) if complete else None
    if q is None or not np.isfinite(q).all():
        return Read(stamp, None, False)
    usual = all(
        len(values) in (0, len(names)) and np.isfinite(values).all() for values in (message.velocity, message.effort)
    )
    good = usual and bool((np.abs(q) <= MODERATE).all())
    return Read(stamp, q, good and serialized(message) == data)


def motion(start: int, q, qd, qdd) -> JointTrajectory:
    """Return a trajectory that starts with q, qd, qdd."""
    return graph.trajectory(ROBOT.joint_names, start, (0.0, q, qd, qdd), (2.0, q, 0.0 * q, 0.0 * q))


def wrong_response(request, response) -> str:
    """Return what is wrong with a server's response, '' for nothing."""
    lists = [np.array(values) for name, values in _lists(request) if name != 'joint_names']
    good = (
        (not request.joint_names or sorted(request.joint_names) == sorted(ROBOT.joint_names))
        and len({len(values) for values in lists}) == 1
        and len(lists[0]) % ROBOT.nv == 0
        and all(np.isfinite(values).all() for values in lists)
    )
    if response.success and not good:
        return 'a wrong request was answered'
    if not response.success and good and all((np.abs(values) <= MODERATE).all() for values in lists):
        return f'a good request was refused: {response.message}'
    if response.success is bool(response.message):
        return f'success is {response.success}, the message {response.message!r}'
    for field, values in _lists(response):
        if field not in ('success', 'message', 'joint_names'):
            count = len(lists[0]) * (ROBOT.nv if field == 'mass_matrix' else 1) if response.success else 0
            if len(values) != count:
                return f'{field}: {len(values)} numbers, expected {count}; {response.message}'
            if not np.isfinite(values).all():
                return f'{field} is not finite'
    return ''


def _lists(message):
    """Return the fields of a message with their names."""
    return [(name, getattr(message, name)) for name in message.get_fields_and_field_types()]
