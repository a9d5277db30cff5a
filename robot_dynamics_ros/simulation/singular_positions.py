"""Singular positions of closed loops along a motion: there the mobility changes, and a mechanism may change its branch.

A four-bar linkage that folds, since its longest and shortest link are together as long as the other two (Grashof), can
go on in two ways from the position where all its links are along a line. Time steps choose one, and may lose energy.
"""

import numpy as np

from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.described_robot import evaluator_of
from robot_dynamics_ros.robot.loop_rank import steps_of_constraints

STRAIGHT = 1.5
"""How much larger than on straight lines through zero the distances of two samples from a singular position may be."""


def singular_passages(robot: Robot, q: np.ndarray) -> list[tuple[float, str]]:
    """Return where a motion q (samples, nq) passes singular positions: fractional samples, and names of loops.

    The part of a constraint's effect that no other constraint has, in the metric of the inverse mass matrix, goes to
    zero there. Its graph over time has the shape of a V at such a position.
    """
    distance, constraints = _distances(robot, q)
    passages: list[tuple[float, str]] = []
    for k in range(len(distance) - 1):
        here, there = distance[k : k + 2]
        before = distance[k - 1] - here if k > 0 else 0.0
        after = distance[k + 2] - there if k + 2 < len(distance) else 0.0
        is_between = before > 0.0 and after > 0.0 and here + there < STRAIGHT * 0.5 * (before + after)
        is_in_sample = there == 0.0 < here or (k == 0 and here == 0.0 < there)
        is_known = bool(passages) and k - passages[-1][0] < 1.0
        if (is_between or is_in_sample) and not is_known:
            nearest = k + (here > there)
            part = here / (here + there) if here + there > 0.0 else 0.0
            passages.append((k + part, robot.loops.constraint_names[constraints[nearest]]))
    return passages


def _distances(robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances (samples,) from singular positions, by the largest of the motion, and their constraints."""
    steps, M = steps_of_constraints(evaluator_of(robot), q), robot.mass_matrix(q)
    lengths = np.sqrt(np.einsum('...ji,...ik,...jk->...j', steps, M, steps))
    own = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    largest = own.max(0)
    part = np.divide(own, largest, out=np.ones_like(own), where=largest > 0.0)
    return part.min(1, initial=1.0), part.argmin(1)
