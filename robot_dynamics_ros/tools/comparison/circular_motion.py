"""A circular motion of the last link by inverse kinematics, as the course plans it: quintic along the arc."""

import numpy as np

from robot_dynamics_ros.control.arm.inverse_kinematics import InverseKinematics
from robot_dynamics_ros.control.trajectories.motion_profiles import SampledMotion, quintic
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

RADIUS = 0.1
"""Radius of the circle, m."""


def circle(robot: Robot, start, t) -> SampledMotion:
    """Return a motion at times t (m, s) of the last link once around a horizontal circle, without turning.

    It begins at ``start`` (n; rad, m) and goes around a centre ``RADIUS`` nearer to the base's z axis. Along the circle
    the angle is a quintic polynomial of time. Joints follow by inverse kinematics; their rates solve J qd = v and J qdd
    = a - dJ/dt qd. A robot of less than six joints moves the origin of its last link only. Raises ArgumentError where
    it cannot follow.
    """
    inverse_kinematics = InverseKinematics(robot)
    link, rows = inverse_kinematics.link, slice(0 if robot.nv >= 6 else 3, 6)
    pose = robot.link_pose(start, link)
    outwards = np.array([*pose[:2, 3], 0.0])
    length = np.linalg.norm(outwards)
    outwards = outwards / length if length > RADIUS else np.array([1.0, 0.0, 0.0])
    sideways = np.cross([0.0, 0.0, 1.0], outwards)
    center, path = pose[:3, 3] - RADIUS * outwards, quintic([0.0], [2.0 * np.pi], t)
    q, samples = np.array(start, float), []
    for angle, rate, acceleration in zip(path.q[:, 0], path.qd[:, 0], path.qdd[:, 0], strict=True):
        outward = np.cos(angle) * outwards + np.sin(angle) * sideways
        along = np.cos(angle) * sideways - np.sin(angle) * outwards
        pose[:3, 3] = center + RADIUS * outward
        try:
            q = inverse_kinematics.position(pose, q, rows=rows)
        except ArgumentError as error:
            raise ArgumentError(f'--motion circle: {error}; choose another --start') from None
        inverse = np.linalg.pinv(robot.jacobian(q, link)[rows])
        v, a = np.zeros(6), np.zeros(6)
        v[3:] = RADIUS * rate * along
        a[3:] = RADIUS * (acceleration * along - rate**2 * outward)
        qd = inverse @ v[rows]
        samples.append((q, qd, inverse @ (a - robot.jacobian_dot_qd(q, qd, link))[rows]))
    return SampledMotion(path.t, *(np.array(of_all) for of_all in zip(*samples, strict=True)))
