"""Conversion of JointTrajectory messages to trajectories."""

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.joint_order import permutation
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.errors import ArgumentError


def trajectory_of(joint_names, message: JointTrajectory, ignored=()) -> Trajectory:
    """Return the trajectory of a JointTrajectory, with the joint order of ``joint_names``.

    The message may have ``ignored`` joints. Raises DynamicsError naming the wrong joint or point.
    """
    places = permutation(joint_names, message.joint_names, ignored)
    times = [point.time_from_start.sec + point.time_from_start.nanosec * 1e-9 for point in message.points]
    fields = ('positions', 'velocities', 'accelerations')
    columns = [_column(message, field, places) for field in fields]
    return Trajectory(times, *columns)


def _column(message, field: str, places) -> np.ndarray:
    """Return one field of all points (m, n) in the robot's joint order, with a row of NaN if a point has none."""
    rows = np.full((len(message.points), len(places)), np.nan)
    count = len(message.joint_names)
    for k, point in enumerate(message.points):
        values = getattr(point, field)
        if len(values) == count:
            rows[k] = np.take(values, places)
        elif len(values) or field == 'positions':
            raise ArgumentError(f'trajectory point {k}: expected {count} {field}, got {len(values)}')
    return rows
