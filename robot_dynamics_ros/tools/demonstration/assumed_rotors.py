"""Rotor inertias for the simulation of an arm whose description states none.

Gears multiply the inertia of a motor's rotor by the square of their ratio. So real joints have a constant inertia of
the size of the links' at the shoulder, and many times that at the wrist; that of the AUBO-i5 is measured
(``config/aubo_i5.yaml``). Without it the mass matrix of a wrist is nearly singular, and no controller of a low rate
holds it.
"""

import numpy as np

from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.joints.joint_friction import friction_along
from robot_dynamics_ros.control.laws.gain_limits import configurations
from robot_dynamics_ros.robot import Robot

OWN_ACCELERATION = 300.0
"""Of a rotor by the effort limit of its joint, rad/s^2: 96, 175, 321, 163 and 147 of the AUBO-i5, where measured."""
SHARE = 0.2
"""Of the largest inertia M_ii of the joint, at least; at most the largest one of any joint of the arm."""
LARGEST_DECELERATION = 100.0
"""By friction alone at the velocity limit, rad/s^2 or m/s^2: friction belongs to a drive, which has inertia."""
SPEED = 2.0
"""Where the velocity limit is not known, rad/s or m/s."""


def assumed_rotor_inertia(robot: Robot, effort_limit) -> dict[str, float]:
    """Return a rotor inertia (kg m^2, kg) by joint, for each joint that has none.

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom.
    effort_limit : array_like, (n,)
        N m (prismatic joints: N); NaN or inf where it is not known.

    Returns
    -------
    dict
    """
    of_links = np.diagonal(within_reach(robot).mass_matrix(configurations(robot)), axis1=1, axis2=2).max(axis=0)
    speed = np.nan_to_num(robot.limits.velocity, nan=SPEED)
    effort = np.nan_to_num(effort_limit, nan=0.0, posinf=0.0)
    of_drive = np.minimum(effort / OWN_ACCELERATION, of_links.max())
    of_friction = np.abs(friction_along(robot, robot.neutral())(speed)) / LARGEST_DECELERATION
    assumed = np.maximum(SHARE * of_links, np.maximum(of_drive, of_friction))
    return {
        name: float(f'{inertia:.3g}')
        for name, inertia, stated in zip(robot.joint_names, assumed, robot.rotor_inertia, strict=True)
        if stated == 0.0
    }
