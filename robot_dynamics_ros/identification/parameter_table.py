"""Identified parameters beside the described ones, with deviations and how much of each the log tells.

With the precisions H of the log and P of the prior, a combination c of parameters has the variance c' P^-1 c before the
log and c' (H + P)^-1 c with it. Where most of the first is left, the prior decides.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.identification.iterated_fit import Pass, TorqueProblem
from robot_dynamics_ros.identification.regression import Fit
from robot_dynamics_ros.model.base_parameters import BaseParameters
from robot_dynamics_ros.robot import Robot

INERTIAL = ('mass', 'm c_x', 'm c_y', 'm c_z', 'J_xx', 'J_xy', 'J_xz', 'J_yy', 'J_yz', 'J_zz')
"""The ten parameters of a link; J is about the origin of its frame."""
INERTIAL_UNITS = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)
FRICTION_UNITS = {
    'viscous': 'N m s/rad',
    'quadratic': 'N m s^2/rad^2',
    'offset': 'N m',
    'temperature': 'N m s/rad/K',
    'coulomb': 'N m',
    'load': '',
    'stribeck': 'N m',
}
SLIDING = {'N m': 'N', 'N m s/rad': 'N s/m', 'N m s^2/rad^2': 'N s^2/m^2', 'N m s/rad/K': 'N s/m/K', 'kg m^2': 'kg'}
"""Units of a prismatic joint, by those of a revolute one."""
SMALLEST = 1e-6
"""Coefficient in a sum of parameters that is rounding, as a share of the largest one."""
HALF = 0.5
"""Share of the prior's variance from which on the prior decides."""
TIED = -0.9
"""Correlation from which on the log tells the sum of a parameter and a rotor inertia better than either."""


class IdentifiedParameter(NamedTuple):
    """A parameter of a joint, or of a link: of links, what can be identified are sums, the base parameters."""

    of: str  # joint or link
    name: str
    unit: str
    described: float
    identified: float
    standard_deviation: float  # infinite: not determined
    left: float  # share of the prior's variance that the log leaves; 1: it tells nothing
    others: tuple[tuple[float, str, str], ...] = ()  # coefficient, link and name of what a sum has in addition
    tied_to: str = ''  # joint with whose rotor inertia the log tells the sum better than either

    @property
    def is_told(self) -> bool:
        """Whether the log tells more of it than the prior does."""
        return self.left < HALF


def identified_parameters(
    problem: TorqueProblem, terms: np.ndarray, found: Robot, last: Pass, base: BaseParameters
) -> Iterator[IdentifiedParameter]:
    """Yield the base parameters, and of each joint rotor inertia, friction and, if it is identified, torque constant.

    ``terms`` (k, n; bool) are the terms of friction that joints have, ``found`` the robot of the ``last`` pass.
    """
    table = _Table(problem, terms, found, last, base)
    yield from table.of_links()
    yield from table.of_joints()


class _Table(NamedTuple):
    """Computes the rows of the table; arguments as of ``identified_parameters``."""

    problem: TorqueProblem
    terms: np.ndarray
    found: Robot
    last: Pass
    base: BaseParameters

    def of_links(self) -> Iterator[IdentifiedParameter]:
        """Yield the base parameters."""
        rows, fit = self.base.regrouping, self.last.fit
        if self.problem.method == 'consistent':
            left = left_of_links(fit, rows, self._log_precision())
        else:
            left = np.isinf(fit.deviations_of(rows)).astype(float)
        deviations = self.last.covariant_fit().deviations_of(rows)
        tied = [self._rotor_tied_to(row) for row in rows]
        return link_parameters(self.problem.robot, self.base, fit, deviations, left, tied)

    def of_joints(self) -> Iterator[IdentifiedParameter]:
        """Yield rotor inertia, friction and torque constant of each joint."""
        robot, problem, state = self.problem.robot, self.problem, self.last.state
        deviations, left = self.last.covariant_fit().deviations()[1], self._left_of_joints()
        described = robot.friction._asdict()
        for j, joint in enumerate(robot.joint_names):
            rows = [('rotor inertia', 'kg m^2', robot.rotor_inertia[j], state.rotor[j])]
            for k, name in enumerate(problem.terms):
                before = described[name][j] if name in described else 0.0
                rows.append((f'{name} friction', FRICTION_UNITS[name], before, state.friction[k, j]))
            used = [True, *self.terms[:, j]]
            units = SLIDING if robot.model.joint_kinds[j] == 'prismatic' else {}
            for k, (name, unit, before, after) in enumerate(rows):
                if used[k]:
                    numbers = float(before), float(after), float(deviations[j, k])
                    yield IdentifiedParameter(joint, name, units.get(unit, unit), *numbers, float(left[j, k]))
            if problem.constants_deviation:
                constant = float(robot.model.torque_constant()[j])
                numbers = constant, float(state.scales[j]) * constant, float(deviations[j, -1]) * constant
                unit = 'N/A' if units else 'N m/A'
                yield IdentifiedParameter(joint, 'torque constant', unit, *numbers, float(left[j, -1]))

    def _left_of_joints(self) -> np.ndarray:
        """Return the share of the prior's variance that is left of each parameter of the joints, (n, k)."""
        fit = self.last.fit
        deviations = fit.deviations()[1]
        if self.problem.method != 'consistent':
            return np.isinf(deviations).astype(float)
        prior = np.diag(fit.hessian - self._log_precision())[len(fit.links) :]
        return deviations**2 * prior.reshape(deviations.shape)

    def _log_precision(self) -> np.ndarray:
        """Return the precision of the log, (p, p)."""
        return self.last.whole.normal_equations(self.last.weights)[0]

    def _rotor_tied_to(self, row: np.ndarray) -> str:
        """Return the joint with whose rotor inertia the log tells the sum of a base parameter better; '' for none."""
        fit = self.last.fit
        rotors = len(fit.links) + np.arange(len(fit.own)) * fit.own.shape[1]
        C = fit.covariance
        with_rotors = C[rotors, : len(row)] @ row
        variances = C[rotors, rotors] * (row @ C[: len(row), : len(row)] @ row)
        correlations = with_rotors / np.sqrt(np.maximum(variances, np.finfo(float).tiny))
        j = int(correlations.argmin())
        return self.found.joint_names[j] if correlations[j] < TIED else ''


def link_parameters(
    robot: Robot, base: BaseParameters, fit: Fit, deviations: np.ndarray, left: np.ndarray, tied_to: Sequence[str]
) -> Iterator[IdentifiedParameter]:
    """Yield the base parameters of a fit beside those of the ``robot`` as described.

    ``deviations`` (b,), what is ``left`` of the prior's variances (b,), and the joints that they are ``tied_to`` are
    those of the base parameters.
    """
    for k, (column, row) in enumerate(zip(base.independent, base.regrouping, strict=True)):
        others = np.flatnonzero(np.abs(row) > SMALLEST * np.abs(row).max())
        yield IdentifiedParameter(
            *_named(robot, int(column)),
            INERTIAL_UNITS[column % 10],
            float(row @ robot.inertial_parameters),
            float(row @ fit.links),
            float(deviations[k]),
            float(left[k]),
            tuple((float(row[it]), *_named(robot, int(it))) for it in others if it != column),
            tied_to[k],
        )


def left_of_links(fit: Fit, rows: np.ndarray, log: np.ndarray) -> np.ndarray:
    """Return the share of the prior's variance that is left of combinations ``rows`` (b, 10 links), (b,).

    ``log`` (p, p) is the precision of the log in a fit with a prior of each link.
    """
    P, before = fit.hessian - log, np.zeros(len(rows))
    for start in range(0, rows.shape[1], 10):
        link = slice(start, start + 10)
        before += (rows[:, link] @ np.linalg.inv(P[link, link]) * rows[:, link]).sum(axis=1)
    return fit.deviations_of(rows) ** 2 / before


def _named(robot: Robot, column: int) -> tuple[str, str]:
    """Return link and name of an inertial parameter."""
    link, place = divmod(column, 10)
    return robot.link_names[link + 1], INERTIAL[place]
