"""Messages that tests send, and times in ns."""

import numpy as np
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SECOND = 1_000_000_000


def stamped(message, stamp: int):
    """Return ``message`` with ``stamp`` (ns) in its header."""
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
    return message


def nanoseconds(stamp) -> int:
    """Return a builtin_interfaces Time as ns."""
    return stamp.sec * SECOND + stamp.nanosec


def joint_state(names, stamp: int, position, velocity=(), effort=()) -> JointState:
    """Return a JointState of time ``stamp`` (ns)."""
    lists = (np.asarray(values, float).tolist() for values in (position, velocity, effort))
    return stamped(JointState(**dict(zip(('position', 'velocity', 'effort'), lists, strict=True), name=names)), stamp)


def trajectory(names, stamp: int, *points) -> JointTrajectory:
    """Return a JointTrajectory that starts at ``stamp`` (ns); a point is (time in s, positions, rates ...)."""
    message = stamped(JointTrajectory(joint_names=list(names)), stamp)
    for time_from_start, *rates in points:
        fields = ('positions', 'velocities', 'accelerations')
        point = JointTrajectoryPoint(**{f: np.asarray(r, float).tolist() for f, r in zip(fields, rates, strict=False)})
        nanosec = round(time_from_start * SECOND)
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(nanosec, SECOND)
        message.points.append(point)
    return message
