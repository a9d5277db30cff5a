"""Dynamics quantities at a batch of states, given as flat lists in any joint order and returned in that order."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from robot_dynamics_ros.algorithms.torque_presets import TERMS
from robot_dynamics_ros.control.joints.joint_friction import friction_along
from robot_dynamics_ros.control.joints.joint_order import permutation
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.robot import Robot

FIELDS = {'q': 'positions', 'qd': 'velocities', 'qdd': 'accelerations', 'tau': 'efforts'}
"""Lists of a query by the arguments of ``Robot`` that they become."""
ARGUMENT = re.compile(r"(?<![\w'])(qdd|qd|q|tau)(?![\w'])(\[\d+)?")
PART = 100_000
"""Largest number of states that are computed at once: for ten times as many ``Robot`` would compile."""


@contextmanager
def arguments_named_as_fields(first: int) -> Iterator[None]:
    """Name lists and states, not arguments of ``Robot``, in an ArgumentError on a part from state ``first`` on."""

    def named(found) -> str:
        return FIELDS[found[1]] + (f'[{first + int(found[2][1:])}' if found[2] else '')

    try:
        yield
    except ArgumentError as error:
        raise ArgumentError(ARGUMENT.sub(named, str(error))) from error


class DynamicsQuery:
    """Dynamics quantities of one robot at states (count, n) from flat row-major lists.

    ``joint_names`` is the joint order of every result.
    """

    def __init__(self, robot: Robot, joint_names, ignored=(), **lists):
        """Read ``lists``, all of the same length, a multiple of the number of joint names.

        ``joint_names`` is the joint order of the lists; empty: that of the robot. It may have ``ignored`` joints, which
        the robot does not have. Raises DynamicsError naming the list, joint and state.
        """
        self._robot = robot
        given = list(joint_names) or list(robot.joint_names)
        to_robot = permutation(robot.joint_names, given, ignored)
        self.joint_names = [name for name in given if name not in ignored]
        self._from_robot = np.argsort(to_robot)
        self._permuted = bool((self._from_robot != np.arange(robot.nv)).any())
        selected = len(given) > robot.nv or self._permuted
        first = next(iter(lists))
        length = len(lists[first])
        if not robot.nv or length % len(given):
            raise ArgumentError(
                f'{first}: expected a multiple of {len(given)} numbers, one for each joint, got {length}'
            )
        self.count = length // len(given)
        self.batch = {}
        for name, values in lists.items():
            if len(values) != length:
                raise ArgumentError(f'{name}: expected {length} numbers like {first}, got {len(values)}')
            rows = np.array(values, float).reshape(-1, len(given))
            rows = rows[:, to_robot] if selected else rows
            wrong = np.argwhere(~np.isfinite(rows))
            if len(wrong):
                state, place = wrong[0]
                joint = robot.joint_names[place]
                raise ArgumentError(f'{name}: {rows[state, place]} for joint {joint!r} in state {state} is not finite')
            self.batch[name] = rows

    def mass_matrix(self, out=None) -> np.ndarray:
        """Return M (count, n, n) at ``positions``, that of the tree of joints."""
        n = self._robot.nv
        M = self._computed(self._robot.mass_matrix, (n, n), 'positions', out=out)
        if self._permuted:
            M[...] = M[:, self._from_robot[:, None], self._from_robot]
        return M

    def jacobian(self, link: str, reference_frame: str) -> np.ndarray:
        """Return J (count, 6, n) of a link at ``positions``, as ``Robot.jacobian``."""

        def jacobian(q, out):
            return self._robot.jacobian(q, link, reference_frame, out=out)

        try:
            return self._ordered(self._computed(jacobian, (6, self._robot.nv), 'positions'))
        except UnknownNameError as error:
            raise UnknownNameError(f'link: {error}') from error

    def forward_dynamics(self) -> np.ndarray:
        """Return the accelerations (count, n) under ``efforts``, without friction."""
        vectors = 'positions', 'velocities', 'efforts'
        return self._ordered(self._computed(self._robot.forward_dynamics, (self._robot.nv,), *vectors))

    def inverse_dynamics(self) -> dict[str, np.ndarray]:
        """Return the terms of the torque (count, n) by name.

        Raises ArgumentError if their sum is not finite, and ModelError for a robot with closed loops, whose torques a
        motion does not determine.
        """
        check_tree(self._robot.model, 'inverse dynamics')
        vectors = 'positions', 'velocities', 'accelerations'
        terms = self._computed(self._terms, (len(TERMS), self._robot.nv), *vectors)
        if not np.isfinite(terms.sum(axis=1)).all():
            raise ArgumentError('inverse_dynamics: the torque overflows; reduce positions, velocities or accelerations')
        return {term: self._ordered(terms[:, k]) for k, term in enumerate(TERMS)}

    def _terms(self, q, qd, qdd, out) -> None:
        """Write the terms (states, terms, n) of the torque in the order of ``TERMS``."""
        robot = self._robot
        rigid = robot.gravity_torque(q), robot.coriolis_torque(q, qd), robot.inertia_torque(q, qdd)
        for k, torque in enumerate((*rigid, friction_along(robot, q)(qd, sum(rigid)))):
            out[:, k] = torque

    def _computed(self, quantity: Callable, shape: tuple[int, ...], *fields: str, out=None) -> np.ndarray:
        """Return a quantity (count, ...) of the ``shape`` of one state at the vectors in ``fields``, part by part."""
        result = np.empty((self.count, *shape)) if out is None else out
        for first in range(0, max(self.count, 1), PART):
            part = slice(first, first + PART)
            with arguments_named_as_fields(first):
                quantity(*(self.batch[field][part] for field in fields), out=result[part])
        return result

    def _ordered(self, rows) -> np.ndarray:
        """Return ``rows`` (count, ..., n), which are in the robot's joint order, in that of the query."""
        return rows[..., self._from_robot] if self._permuted else rows
