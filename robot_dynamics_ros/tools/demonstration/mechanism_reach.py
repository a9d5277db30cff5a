"""Which motions a mechanism with closed loops can make: its position limits alone do not say."""

from contextlib import suppress

import numpy as np

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.errors import LoopError, SingularError
from robot_dynamics_ros.robot import Robot

LEAST_DISTANCE = 0.3
"""From singular positions, 1 where loops are closed first: ten times the one at which a mechanism is refused."""


def is_within_reach(robot: Robot | DrivenRobot, positions) -> bool:
    """Return whether a robot can move through ``positions`` (k, n; rad, m) along straight lines, True without loops.

    A mechanism stays away from singular positions and within the limits of its joints without a motor.
    """
    if not (isinstance(robot, DrivenRobot) and isinstance(robot.following, ClosedMechanism)):
        return True
    mechanism = robot.following
    model, passive = mechanism.mechanism.model, mechanism.followers
    coordinates = [k for k in range(mechanism.mechanism.nq) if model.joint_of_coordinate(k) in passive]
    lower, upper = (limit[coordinates] for limit in mechanism.mechanism.limits[:2])
    before = mechanism.at_home
    with suppress(LoopError, SingularError):
        for y in positions:
            for found in mechanism.way(before, np.asarray(y, float)):
                # False for unknown limits, which are NaN
                beyond = (found.q[coordinates] < lower) | (found.q[coordinates] > upper)
                if found.distance < LEAST_DISTANCE or beyond.any():
                    return False
                before = found
        return True
    return False
