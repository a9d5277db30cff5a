"""Mechanisms with closed loops in the coordinates of their actuated joints, and measured states of them."""

from functools import cache

from support.robots.mechanisms import ACTUATED, MECHANISMS, actuated

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism

SECOND = 1_000_000_000


def driven_robot(robot: Robot) -> DrivenRobot:
    return DrivenRobot(robot.with_loops([]), ClosedMechanism(robot, robot.loops.actuated, 0.05))


def closed(name: str) -> DrivenRobot:
    return driven_robot(actuated(MECHANISMS[name], ACTUATED[name]))


@cache
def arm(name: str) -> DrivenRobot:
    return closed(name)


def seen(robot: DrivenRobot, y, stamp: float, arrival: float = np.nan, **positions: float) -> None:
    """Let the robot see a state, with measured ``positions`` of other joints by their first words."""
    measured = np.full(len(robot.followers), np.nan)
    for word, position in positions.items():
        measured[robot.followers.index(f'{word.replace("_", " ")} joint')] = position
    robot.following.measure(np.asarray(y, float), measured, round(stamp * SECOND), arrival=arrival)


def positions_of(robot: DrivenRobot, y) -> dict[str, float]:
    """Return the positions of the other joints where the loops are closed, by their first words."""
    coordinates = [robot.robot.model.joint_of_coordinate(k) for k in range(robot.robot.nq)]
    q = robot.positions(np.asarray(y, float))
    return {it.removesuffix(' joint').replace(' ', '_'): q[coordinates.index(it)] for it in robot.followers}


def followed(robot: DrivenRobot, y, stamp: float) -> None:
    """Let the robot see a state, and see that it is where the state says."""
    seen(robot, y, stamp)
    np.testing.assert_allclose(robot.following.measured.y, y, rtol=0.0, atol=1e-12)


def standing(robot: DrivenRobot, home, count: int, period: float = 0.002) -> float:
    """Let the robot see states of an arm that stands, with noise of encoders; return the last stamp."""
    random = np.random.default_rng(0)
    for k in range(count):
        seen(robot, home + 1e-4 * random.uniform(-1.0, 1.0, len(home)), period * k)
    return period * (count - 1)
