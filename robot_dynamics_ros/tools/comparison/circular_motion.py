"""A circular motion of the last link by inverse kinematics, as the course plans it: quintic along the arc."""

import numpy as np

from robot_dynamics_ros.control.trajectories.motion_profiles import SampledMotion, quintic
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

RADIUS = 0.1
"""Radius of the circle, m."""
STEPS = 50
"""Most steps of Newton's method for a sample."""
CLOSE = 1e-10
"""Error of a pose at which it is reached, rad and m."""


def circle(robot: Robot, start, t) -> SampledMotion:
    """Return a motion at times t (m, s) of the last link once around a horizontal circle, without turning.

    It begins at ``start`` (n; rad, m) and goes around a centre ``RADIUS`` nearer to the base's z axis. Along the circle
    the angle is a quintic polynomial of time. Joints follow by Newton's method; their rates solve J qd = v and J qdd =
    a - dJ/dt qd. A robot of less than six joints moves the origin of its last link only. Raises ArgumentError where it
    cannot follow.
    """
    link, rows = robot.link_names[-1], slice(0 if robot.nv >= 6 else 3, 6)
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
        q = _reached(robot, link, q, rows, pose[:3, :3], center + RADIUS * outward)
        inverse = np.linalg.pinv(robot.jacobian(q, link)[rows])
        v, a = np.zeros(6), np.zeros(6)
        v[3:] = RADIUS * rate * along
        a[3:] = RADIUS * (acceleration * along - rate**2 * outward)
        qd = inverse @ v[rows]
        samples.append((q, qd, inverse @ (a - robot.jacobian_dot_qd(q, qd, link))[rows]))
    return SampledMotion(path.t, *(np.array(of_all) for of_all in zip(*samples, strict=True)))


def _reached(robot: Robot, link: str, q, rows: slice, rotation, origin) -> np.ndarray:
    """Return the position (n,) near q where the link has this rotation and origin, or with less rows this origin."""
    for _ in range(STEPS):
        pose = robot.link_pose(q, link)
        R = rotation @ pose[:3, :3].T
        # the sine of the angle times the axis, which is the small rotation that is left
        turn = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        error = np.concatenate([turn, origin - pose[:3, 3]])[rows]
        if np.abs(error).max() < CLOSE:
            return q
        q = q + np.linalg.pinv(robot.jacobian(q, link)[rows], rcond=1e-6) @ error
    raise ArgumentError(
        f'--motion circle: {link!r} does not reach {np.round(origin, 3).tolist()} m on a circle of {RADIUS:g} m; '
        'choose another --start'
    )
