"""Whether a mechanism can come from one solution of its loops to another without a singular position.

Such mechanisms are called cuspidal: for the same positions of the actuated joints, one assembly mode holds several
positions of the others (Innocenti and Parenti-Castelli 1998, of the planar platform on three legs).
"""

from contextlib import suppress

import numpy as np

from robot_dynamics_ros.control.arm.following.loop_solutions import STRIDE, LoopSolutions, Solution
from robot_dynamics_ros.errors import LoopError, SingularError
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy

PLACES = 96
"""Positions of the actuated joints to which ways lead."""
WIDE = 1.0
"""rad, or relative to the robot's characteristic length: largest distance of a position from the first one."""
LEAST = 0.08
"""Least distance of a way from a singular position."""
APART = 1e-3
"""Relative difference of torques or inertias above which a difference counts: a flipped cross of a universal joint has
less, and does no harm."""


def two_ends(mechanism: LoopSolutions) -> tuple[Solution, Solution] | None:
    """Return two solutions with the same actuated joints and other torques, None where none are found.

    Both are at the end of ways from the first solution: a straight one, and one by way of another position.
    """
    limits, home, far = mechanism.mechanism.limits, mechanism.at_home.y, WIDE * mechanism.arithmetic.unit
    lower = np.maximum(limits.lower[mechanism.places], home - far)
    upper = np.minimum(limits.upper[mechanism.places], home + far)
    tree, known = mechanism.mechanism.with_loops([]), list[Solution]()
    for y in lower + low_discrepancy(PLACES, len(home)) * np.maximum(upper - lower, 0.0):
        straight = _end(mechanism, mechanism.at_home, y)
        if straight is None:
            continue
        for via in known:
            found = _end(mechanism, via, y)
            if found and _differ(tree, straight, found):
                return straight, found
        known.append(straight)
    return None


def _end(mechanism: LoopSolutions, begin: Solution, y: np.ndarray) -> Solution | None:
    """Return the solution at the end of the way to y (m), None where it comes near a singular position."""
    with suppress(LoopError, SingularError):
        *_, found = mechanism.way(begin, y, LEAST, STRIDE)
        return found
    return None


def _differ(robot: Robot, a: Solution, b: Solution) -> bool:
    """Return whether gravity torques or the mass matrix of the actuated joints differ at two solutions."""
    gravity = [it.G.T @ robot.gravity_torque(it.q) for it in (a, b)]
    mass = [it.G.T @ robot.mass_matrix(it.q) @ it.G for it in (a, b)]
    return any(np.abs(second - first).max() > APART * np.abs(first).max() for first, second in (gravity, mass))
