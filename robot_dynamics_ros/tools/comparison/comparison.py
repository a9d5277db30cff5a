"""Comparison of the formulations with each other and with the compiled kernels: torques, times, operations."""

import time
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.codegen.straight_line import count, trace
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formulations import (
    global_form,
    kane,
    lagrange,
    newton_euler,
    operators,
    screws,
    spatial,
    stacked,
)
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.formulations.operation_count import operation_count
from robot_dynamics_ros.robot import Robot

FORMULATIONS = {
    'Lagrange': lagrange,
    'Newton-Euler': newton_euler,
    'Kane': kane,
    'screws': screws,
    'stacked': stacked,
    'spatial vectors': spatial,
    'spatial operators': operators,
    'global form': global_form,
}
KERNELS = 'compiled kernels'
PRINTED = {'Lagrange, not recursive': (66_271, 51_548), 'Lagrange, recursive': (2_195, 1_719)}
"""Products and sums for an arm of six joints by Hollerbach 1980, as the paper on spatial operators quotes them."""
SIX = 6
"""Number of joints of ``PRINTED``."""
MOST_STACKED = 10
"""Joints up to which the operations of stacked vectors are counted: their number grows with the fourth power."""


class Way(NamedTuple):
    """One way of computing the torques of a motion."""

    name: str
    torque: np.ndarray
    """(m, n) N m (prismatic: N)."""
    elapsed: float
    """Time of one state, s, median."""
    multiplications: int | None
    additions: int | None
    """Of one state, without products with 0 or 1; None where they are not counted."""


class Comparison(NamedTuple):
    """The torques of a motion by each formulation that represents the robot, and by the compiled kernels."""

    ways: list[Way]
    refused: dict[str, str]
    """Why other formulations do not represent the robot, by name."""

    def disagreements(self) -> dict[tuple[str, str], float]:
        """Return the largest difference of each pair, relative to the largest torque of the motion."""
        scale = max(np.abs(way.torque).max() for way in self.ways) or 1.0
        return {
            (one.name, other.name): float(np.abs(one.torque - other.torque).max() / scale)
            for one, other in combinations(self.ways, 2)
        }


def compare(robot: Robot, q, qd, qdd, tip_wrench, say: Callable[[str], None]) -> Comparison:
    """Return the torques of a motion by all formulations and the kernels.

    Parameters
    ----------
    robot : Robot
    q, qd, qdd : ndarray, (m, n)
        Positions, velocities and accelerations of the motion.
    tip_wrench : ndarray, (6,)
        Moment and force on the last link at its origin, in axes of the base.
    say : callable
        Is called with the name of each formulation before it runs.
    """
    ways, refused = [], {}
    for name, formulation in FORMULATIONS.items():
        try:
            say(name)
            ways.append(_by_formulation(name, formulation.inverse_dynamics, robot, (q, qd, qdd), tip_wrench))
        except ModelError as error:
            refused[name] = str(error)
    say(KERNELS)
    return Comparison([*ways, _by_kernels(robot, (q, qd, qdd), tip_wrench)], refused)


def _by_formulation(name: str, inverse_dynamics: Callable, robot: Robot, motion, tip_wrench) -> Way:
    """Return the torques by a formulation, state by state."""
    tree = KinematicTree.of(robot, name, serial=False)  # the formulation refuses branches itself
    inverse_dynamics(tree, *(rows[0] for rows in motion), tip_wrench)  # a derivation happens once
    rows, elapsed = _timed(lambda *state: inverse_dynamics(tree, *state, tip_wrench), motion)
    operations = None
    evaluates_polynomials = inverse_dynamics is lagrange.inverse_dynamics  # whose terms SymPy arranges
    is_sparse = inverse_dynamics is global_form.inverse_dynamics  # and SciPy's matrices have no numbers that count
    counts_for_minutes = inverse_dynamics is stacked.inverse_dynamics and tree.n > MOST_STACKED
    if not (evaluates_polynomials or is_sparse or counts_for_minutes):
        # zeros of a motion that begins at rest would count as constants
        state = np.random.default_rng(0).uniform(0.5, 1.0, (3, robot.nv))
        operations = operation_count(inverse_dynamics, robot, *state, tip_wrench=np.full(6, 0.5)).sparse
    return Way(
        name,
        rows,
        elapsed,
        operations.multiplications if operations else None,
        operations.additions if operations else None,
    )


def _by_kernels(robot: Robot, motion, tip_wrench) -> Way:
    """Return the torques by the compiled kernels."""
    wrenches = {robot.link_names[-1]: tip_wrench}
    compiled = robot.compiled('inverse_dynamics')
    compiled.inverse_dynamics(*(rows[0] for rows in motion))
    _, elapsed = _timed(compiled.inverse_dynamics, motion)
    arrays = robot.model.regrouped
    operations = count(trace(program_of(arrays, 'inverse_dynamics'), arrays))
    torque = compiled.inverse_dynamics(*motion, wrenches=wrenches)
    return Way(KERNELS, torque, elapsed, operations.multiplications, operations.additions)


def _timed(inverse_dynamics: Callable, motion) -> tuple[np.ndarray, float]:
    """Return the torques (m, n) of states in rows, and the median time of a state."""
    count = len(motion[0])
    torques, elapsed = [], []
    for k in range(count):
        state = [rows[k] for rows in motion]
        began = time.perf_counter()
        torques.append(inverse_dynamics(*state))
        elapsed.append(time.perf_counter() - began)
    return np.array(torques), float(np.median(elapsed))
