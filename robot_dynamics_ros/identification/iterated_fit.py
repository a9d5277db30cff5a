"""Iterated least squares of the torques of a log: links, rotors and friction, with weights from their residuals.

The torque of a joint is bilinear where friction grows with the transmitted torque R(pi) = inverse dynamics::

    scale torque = R + load |R| sign(qd) + further friction

Each pass is a Gauss-Newton step: R is linearised about the links of the pass before, R0. With g = 1 + load0 sign(R0)
sign(qd), the columns of links and rotors are multiplied by g, and that of load is |R0| sign(qd). Without load, g = 1.

Where other joints turn a joint's motor, all of this is said of motors: their velocities are W qd, and torques of joints
count at them by W'^-1, so that each motor has its own rotor and friction (Gautier & Khalil 1990 on coupled axes).

Weights, outliers and transition velocities are those of the pass before, too. Passes end where the predicted torque
changes by less than ``TOLERANCE`` of the residual's deviation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.joints.standstill import SPEED
from robot_dynamics_ros.identification.consistent import consistent_prior
from robot_dynamics_ros.identification.friction_terms import FREE, USUAL, FrictionColumns
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.logs.signals import correlation_times
from robot_dynamics_ros.identification.regression import Fit, Prior, Regression, sum_of
from robot_dynamics_ros.robot import Robot

MOST_PASSES = 40
SETTLED = 8
"""Passes after which outliers and transition velocities stay: they are discrete choices that could alternate."""
TOLERANCE = 0.01
"""Change of the predicted torque (root mean square) at which passes end, as a share of the residual's deviation."""
CACHED = 250
"""Samples that are multiplied at a time: their columns stay in the processor's cache."""
FOLDS = 5
"""Blocks of time whose sums are kept apart: each is held out in turn."""
OUTLIER = 5.0
"""Samples with a residual above so many robust standard deviations do not count."""
FIRST_NOISE = 0.1
"""Standard deviation of the residual before the first solution, as a share of the root mean square of the torque."""
LEAST_VARIANCE = 1e-8
"""Least variance of a residual, as a share of the mean square of the torque: of logs without noise."""


@dataclass(frozen=True, eq=False)
class TorqueProblem:
    """What is to be fitted: a log of ``robot``, with the prior of ``known``; terms of friction in the order of columns.

    ``method`` is one of those of ``identify``.
    """

    robot: Robot
    known: Robot
    log: Log
    method: str
    terms: tuple[str, ...]
    weight: float
    constants_deviation: float

    @cached_property
    def to_motors(self) -> np.ndarray | None:
        """Matrix (n, n) that torques of joints, as rows, are multiplied by: W^-1; None without coupling."""
        return np.linalg.inv(self.robot.model.motor_velocities()) if self.robot.model.motor_coupling else None

    @property
    def coupled(self) -> np.ndarray:
        """Joints whose motor turns with others, or that turn another motor, (n,): no gear transmits their torque."""
        coupled = np.zeros(self.robot.nv, bool)
        for motor, joint, _ in self.robot.model.motor_coupling:
            coupled[[motor, joint]] = True
        return coupled

    @cached_property
    def motors(self) -> Log:
        """The log with velocities and accelerations of motors, in units of the joints, for friction and rotors."""
        if self.to_motors is None:
            return self.log
        W = self.robot.model.motor_velocities()
        return replace(self.log, qd=self.log.qd @ W.T, qdd=self.log.qdd @ W.T)

    @cached_property
    def measured(self) -> np.ndarray:
        """Torques of the motors with the torque constants of the robot, (m, n) N m (N)."""
        torque = self.log.torque(self.robot)
        return torque if self.to_motors is None else torque @ self.to_motors

    @cached_property
    def moving(self) -> np.ndarray:
        """Samples at which each motor moves, (m, n)."""
        return np.abs(self.motors.qd) > SPEED

    @cached_property
    def squares(self) -> np.ndarray:
        """Mean square of each joint's torque where it moves, (n,)."""
        return (self.measured**2 * self.moving).sum(axis=0) / np.maximum(self.moving.sum(axis=0), 1)

    @cached_property
    def rows(self) -> np.ndarray:
        """Consistent parameters that links are pulled to, (links, 10)."""
        return consistent_prior(self.known.inertial_parameters)

    @cached_property
    def regressor(self) -> np.ndarray:
        """Regressor of the motors' torques for the links, (m, n, 10 links), which depends on the geometry only."""
        Y = self.robot.torque_regressor(self.log.q, self.log.qd, self.log.qdd)
        return Y if self.to_motors is None else np.einsum('mjp,ji->mip', Y, self.to_motors)

    def transmitted(self, robot: Robot, rotor: np.ndarray) -> np.ndarray:
        """Return the torques (m, n) of the motors of ``robot``, with the inertias ``rotor`` (n,), without friction."""
        torque = robot.inverse_dynamics(self.log.q, self.log.qd, self.log.qdd)
        if self.to_motors is None:
            return torque
        of_links = (torque - self.log.qdd * robot.rotor_inertia) @ self.to_motors
        return of_links + self.motors.qdd * rotor

    def unexplained(self, state: 'State') -> np.ndarray:
        """Return the share of the variance of each motor's torque that a state leaves, (n,); 0 for one at rest."""
        torque = np.ma.array(self.measured, mask=~self.moving)
        left = np.ma.array(state.scales * self.measured - state.predicted, mask=~self.moving)
        variances = torque.var(axis=0).filled(0.0)
        return (left**2).mean(axis=0).filled(0.0) / np.where(variances > 0.0, variances, np.inf)

    def reflected(self, rotor: np.ndarray) -> np.ndarray:
        """Return the rotor inertias (n,) of the joints, without what they have in common: that is neglected."""
        return rotor if self.to_motors is None else rotor @ self.robot.model.motor_velocities() ** 2

    def prior(self, terms: np.ndarray, scales: np.ndarray) -> Prior:
        """Return what parameters of links, rotors, friction and scales are pulled to.

        A joint's term that is not among ``terms`` (k, n) is pulled to 0.
        """
        friction, n = self.robot.friction._asdict(), self.robot.nv
        described = [friction.get(name, np.zeros(n)) * terms[k] for k, name in enumerate(self.terms)]
        own = np.stack([self.robot.rotor_inertia, *described, 1.0 / scales - 1.0], axis=1)
        ridges = np.zeros(own.shape)
        if self.constants_deviation:
            ridges[:, -1] = (scales / self.constants_deviation) ** 2
        at_least_zero = [True, *(name not in FREE for name in self.terms), False]
        return Prior(self.rows, self.weight, own, ridges, at_least_zero)


class Linearised(NamedTuple):
    """What one pass solves: the torques about the parameters of the pass before."""

    transition: np.ndarray  # (n,)  transition velocities of friction
    parts: Sequence[Regression]  # of each fold
    settled: bool  # whether outliers stay those of the pass before


class State(NamedTuple):
    """Parameters, and the statistics of their residual."""

    found: Robot
    rotor: np.ndarray  # (n,)       inertias of the rotors at the motors' velocities
    friction: np.ndarray  # (k, n)  of the terms
    scales: np.ndarray  # (n,)      of measured torques
    transition: np.ndarray  # (n,)  transition velocities of friction
    used: np.ndarray  # (m, n)      moving samples that are no outliers
    variances: np.ndarray  # (n,)   of the residual
    times: np.ndarray  # (n,)       correlation times of the residual, samples
    predicted: np.ndarray  # (m, n) torque


class Pass(NamedTuple):
    """One solution, and the state after it."""

    state: State
    change: float  # of the predicted torque, as a share of the residual's deviation
    fit: Fit
    weights: np.ndarray  # (n,)  of the squared residuals that ``fit`` has minimised
    parts: Sequence[Regression]  # of each fold

    @property
    def whole(self) -> Regression:
        """The regression of all folds."""
        return sum_of(self.parts)

    def covariant_fit(self) -> Fit:
        """Return the fit with the covariance that residuals have as they are seen, correlated and of any size.

        The slope of the objective has the covariance sum w^2 s^2 t A'A, with the variance s^2 and correlation time t of
        each joint's residual, where its weights w assume sum w A'A.
        """
        seen = self.weights**2 * self.state.variances * self.state.times
        assumed = self.whole.normal_equations(seen - self.weights)[0]
        C = self.fit.covariance
        return self.fit._replace(covariance=C + C @ assumed @ C)

    def held_out(self) -> np.ndarray:
        """Return the squared residuals (FOLDS, n) of each fold, by the parameters that the other folds give."""
        return self.fit.held_out(self.parts, self.weights)


def first_state(problem: TorqueProblem) -> State:
    """Return the start: the robot as described, without friction."""
    n, k = problem.robot.nv, len(problem.terms)
    least = np.where(problem.squares > 0.0, LEAST_VARIANCE * problem.squares, 1.0)
    found = problem.robot
    return State(
        found,
        found.rotor_inertia,
        np.zeros((k, n)),
        np.ones(n),
        np.full(n, USUAL),
        problem.moving,
        np.maximum(FIRST_NOISE**2 * problem.squares, least),
        np.ones(n),
        np.zeros_like(problem.measured),
    )


def iterated(problem: TorqueProblem, terms: np.ndarray, start: State, settled: bool = False) -> Pass:
    """Return the last of the passes from ``start`` on, with the ``terms`` (k, n; bool) of each joint.

    Where they are ``settled``, outliers and transition velocities stay those of ``start``.
    """
    state = start
    for number in range(MOST_PASSES):
        now = next_pass(problem, terms, state, settled or number >= SETTLED)
        if now.change < TOLERANCE:
            break
        state = now.state
    return now


def next_pass(problem: TorqueProblem, terms: np.ndarray, now: State, settled: bool) -> Pass:
    """Return the pass after ``now``."""
    return solved(problem, terms, now, linearised(problem, terms, now, settled))


def linearised(problem: TorqueProblem, terms: np.ndarray, now: State, settled: bool) -> Linearised:
    """Return the regressions of each fold about the parameters of ``now``."""
    log, names = problem.motors, problem.terms
    rigid = problem.transmitted(now.found, now.rotor)
    left = now.scales * problem.measured - rigid
    columns = FrictionColumns.of(names, log, rigid, problem.robot.friction).of_joints(terms)
    transition = now.transition
    if not settled and now.predicted.any():
        transition = columns.best_transitions(left, now.used)
    gain = np.ones_like(rigid)
    if 'load' in names:
        gain += now.friction[names.index('load')] * np.sign(rigid) * columns.sign(transition)
    values = columns.at(transition)
    own = np.stack([gain * log.qdd, *values, -now.predicted * (problem.constants_deviation != 0.0)], axis=2)
    target = left + gain * (problem.regressor @ now.found.inertial_parameters + log.qdd * now.rotor)
    blocks = np.array_split(np.arange(len(log)), FOLDS)
    parts = [_regression(problem.regressor, gain, own, target, now.used, block) for block in blocks]
    return Linearised(transition, parts, settled)


def solved(problem: TorqueProblem, terms: np.ndarray, now: State, of: Linearised, correlated: float = 1.0) -> Pass:
    """Return the pass with the best parameters for the regressions; samples count less by the factor ``correlated``.

    Torques of rotors' spins and of springs, which are not linear in the parameters, stay those of ``now``.
    """
    whole, prior = sum_of(of.parts), problem.prior(terms, now.scales)
    weights = np.ones(problem.robot.nv) if problem.method == 'ols' else 1.0 / (correlated * now.variances)
    fit = (whole.consistent_fit if problem.method == 'consistent' else whole.nearest_fit)(weights, prior)
    rotor = np.maximum(fit.own[:, 0], 0.0)
    found = now.found.with_inertial_parameters(fit.links).with_rotor_inertia(problem.reflected(rotor))
    friction, scales = fit.own.T[1:-1] * terms, now.scales * (1.0 + fit.own[:, -1])
    rigid = problem.transmitted(found, rotor)
    columns = FrictionColumns.of(problem.terms, problem.motors, rigid, problem.robot.friction).of_joints(terms)
    values = columns.at(of.transition)
    predicted = rigid + (values * friction[:, None]).sum(axis=0)
    used, variances, times = _noise(problem, scales * problem.measured - predicted, now.used if of.settled else None)
    moved = ((predicted - now.predicted) ** 2 * used).sum(axis=0) / np.maximum(used.sum(axis=0), 1)
    change = float(np.sqrt((moved / variances).max()))
    state = State(found, rotor, friction, scales, of.transition, used, variances, times, predicted)
    return Pass(state, change, fit, weights, of.parts)


def _noise(problem: TorqueProblem, residual: np.ndarray, used: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """Return the noise of a residual where the joints move.

    Which samples are no outliers (m, n), by default those within ``OUTLIER``; the variance of each joint (n,), and the
    number of samples over which its noise is correlated (n,).
    """
    if used is None:
        size = np.abs(residual)
        # the standard deviation, from the median magnitude
        robust = 1.4826 * np.ma.median(np.ma.array(size, mask=~problem.moving), axis=0).filled(0.0)
        used = problem.moving & (size <= OUTLIER * robust)
    kept = np.where(used, residual, 0.0)
    least = np.where(problem.squares > 0.0, LEAST_VARIANCE * problem.squares, 1.0)
    variances = np.maximum((kept**2).sum(axis=0) / np.maximum(used.sum(axis=0), 1), least)
    return used, variances, correlation_times(kept)


def _regression(Y: np.ndarray, gain: np.ndarray, own: np.ndarray, target: np.ndarray, used: np.ndarray, block):
    """Return the regression of the samples ``block``, with the regressor ``Y`` (m, n, 10 links) times ``gain`` (m, n).

    Each joint has the columns ``own`` (m, n, k), its rotor's first, for the torque ``target`` (m, n).
    """
    parts = []
    for start in range(block[0], block[-1] + 1, CACHED):
        part = slice(start, min(start + CACHED, block[-1] + 1))
        parts.append(Regression.of(Y[part] * gain[part, :, None], own[part], target[part], used[part]))
    return sum_of(parts)
