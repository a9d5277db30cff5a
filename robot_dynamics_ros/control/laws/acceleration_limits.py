"""Acceleration limits of joints: those that are stated, else derived from velocity and effort limits."""

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.laws.gain_limits import configurations

RISE_TIME = 0.3
"""Time to the velocity limit at the acceleration that is assumed, s: that of AUBO's ROS driver, 10000 rpm/s for motors
of 3000 rpm."""
EFFORT_SHARE = 0.5
"""Share of an effort limit that may accelerate a joint; the other half is for gravity, friction and feedback."""


def acceleration_limits(stated, robot, effort_limit) -> np.ndarray:
    """Return the acceleration limit of each joint: the stated one, else a derived one.

    That is the smaller of velocity limit / 0.3 s and half of the effort limit / largest M_ii(q) within the position
    limits, with the limits of the description. Limits that are unknown bound nothing.

    Parameters
    ----------
    stated : array_like, (1,) or (n,)
        rad/s^2 (prismatic joints: m/s^2); 0: derived.
    robot : Robot
        With n joints of one degree of freedom, without payload.
    effort_limit : array_like, (n,)
        Of joints for which the description has none, N m (prismatic joints: N); inf: no limit.

    Returns
    -------
    ndarray, (n,)
        rad/s^2 or m/s^2, above 0.

    Raises
    ------
    ArgumentError
        For a wrong length, and for an entry that is negative or not finite.
    """
    stated = validation.of_each_joint('acceleration_limit', stated, robot.nv, zero=True)
    if (stated > 0.0).all():
        return stated
    velocity, known = robot.limits.velocity, robot.limits.effort
    by_velocity = np.where(velocity > 0.0, velocity, np.inf) / RISE_TIME
    # kernels for all robots: nothing is compiled for these few states
    M = within_reach(robot).mass_matrix(configurations(robot))
    inertia = np.diagonal(M, axis1=1, axis2=2).max(axis=0)
    with np.errstate(divide='ignore'):
        by_effort = EFFORT_SHARE * np.where(known > 0.0, known, effort_limit) / inertia
    return np.where(stated > 0.0, stated, np.minimum(by_velocity, by_effort))
