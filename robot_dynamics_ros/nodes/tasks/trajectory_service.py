"""Service ``~/check_trajectory``: peak torques, margins and time scaling of the trajectory in a request."""

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.control.joints.joint_order import permutation
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.trajectories.reach_check import WayCheck, check_reach
from robot_dynamics_ros.control.trajectories.segment_extremes import check_within
from robot_dynamics_ros.control.trajectories.trajectory_check import PERIOD, Check, check
from robot_dynamics_ros.control.trajectories.turn_jumps import check_jumps
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of
from robot_dynamics_ros.messages.stamps import set_nanoseconds
from robot_dynamics_ros.messages.trajectory_torques import set_peaks
from robot_dynamics_ros.robot import Robot


def check_trajectory(robot: Robot, limits: PositionLimits, request, response, ignored=(), effort_limit=None) -> None:
    """Fill the response to a ``CheckTrajectory`` request; DynamicsError names what is wrong with it.

    Positions have to be within ``limits``. Joints of the trajectory that are ``ignored`` are not in the response.
    ``effort_limit`` is that of ``check``.
    """
    message = without_joints(request.trajectory, ignored)
    if not message.points:
        raise ArgumentError('trajectory: it has no points')
    trajectory = trajectory_of(robot.joint_names, message)
    check_within(trajectory, limits)
    check_jumps(trajectory, robot)
    check_reach(trajectory, WayCheck.of(robot))
    found = check(robot, trajectory, request.sample_period or PERIOD, effort_limit)
    order = np.argsort(permutation(robot.joint_names, message.joint_names))
    set_peaks(response, found, order)
    response.joint_names = message.joint_names
    response.resampled = JointTrajectory(header=message.header, joint_names=message.joint_names)
    if request.resample:
        response.resampled.points = _points(found, order)


def without_joints(message: JointTrajectory, ignored) -> JointTrajectory:
    """Return a trajectory without the joints named in ``ignored``; lists of a wrong length stay as they are."""
    names = message.joint_names
    kept = [k for k, name in enumerate(names) if name not in ignored]
    if len(kept) == len(names):
        return message
    reduced = JointTrajectory(header=message.header, joint_names=[names[k] for k in kept])
    for point in message.points:
        lists = {field: getattr(point, field) for field in ('positions', 'velocities', 'accelerations', 'effort')}
        fields = {
            field: [values[k] for k in kept] if len(values) == len(names) else values for field, values in lists.items()
        }
        reduced.points.append(JointTrajectoryPoint(time_from_start=point.time_from_start, **fields))
    return reduced


def _points(found: Check, order: np.ndarray) -> list[JointTrajectoryPoint]:
    """Return the samples as points, joints in ``order``."""
    motion, points = found.motion, []
    columns = (values[motion.last][:, order] for values in (motion.q, motion.qd, motion.qdd, found.effort))
    for time, *rows in zip(motion.times[motion.last], *columns, strict=True):
        q, qd, qdd, effort = (row.tolist() for row in rows)
        point = JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd, effort=effort)
        set_nanoseconds(point.time_from_start, round(time * 1e9))
        points.append(point)
    return points
