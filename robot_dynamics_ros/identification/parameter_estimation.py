"""``identify``: inertial parameters, rotor inertia and friction of a robot from a log of a motion; cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.standstill import SPEED
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.consistent import consistent_prior
from robot_dynamics_ros.identification.friction_terms import FREE, TERMS, USUAL, FrictionColumns, term_names
from robot_dynamics_ros.identification.log import Log
from robot_dynamics_ros.identification.log_findings import log_findings
from robot_dynamics_ros.identification.prediction import Validation, predicted_torque, validate
from robot_dynamics_ros.identification.regression import Prior, Regression
from robot_dynamics_ros.identification.signals import correlation_times
from robot_dynamics_ros.model.base_parameters import BaseParameters
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

METHODS = ('consistent', 'wls', 'ols')
FRICTION = ('viscous', 'coulomb', 'offset', 'load')
PASSES = 4
"""Solutions: each has weights, outliers, transition velocities and transmitted torques of the one before.

In the last one samples count less where residuals are correlated; before, they are so because the model is wrong."""
PASSES_OF_CONSTANTS = 16
"""Solutions if torque constants are identified, too."""
BLOCK = 250
"""Samples whose regressors are computed at a time: they stay in the processor's cache."""
OUTLIER = 5.0
"""Samples with a residual above so many robust standard deviations do not count."""
FEWEST = 20
"""Samples in motion that a log needs."""
FIRST_NOISE = 0.1
"""Standard deviation of the residual before the first solution, as a share of the root mean square of the torque."""
LEAST_VARIANCE = 1e-8
"""Least variance of a residual, as a share of the mean square of the torque: of logs without noise."""
BASE_TOLERANCE = 1e-4
"""Of ``Robot.base_parameters``: axes that a description rotates by 1.5708 count as perpendicular."""


@dataclass(frozen=True)
class Identification:
    """Result of ``identify``: the robot, with deviations and findings.

    ``robot`` has the identified inertial parameters, rotor inertias, friction and torque constants: it is written by
    ``to_urdf`` and ``to_yaml``.
    """

    robot: Robot
    base_parameters: np.ndarray  # (b,) kg, kg m, kg m^2   of ``robot.base_parameters()``
    standard_deviation: np.ndarray  # (b,)   of the base parameters
    r2: np.ndarray  # (n,) share of the torque's variance that is explained, where the joint moves
    rms: np.ndarray  # (n,) N m (N)   of the residual, where the joint moves
    condition_number: float  # of the weighted regressor of the base parameters
    findings: tuple[Finding, ...]
    friction_deviation: dict[str, np.ndarray]  # standard deviation (n,) of each friction term
    viscous_per_degree: np.ndarray  # (n,) N m s/rad per degree above the mean of the log; 0 without 'temperature'
    independent_samples: np.ndarray  # (n,) number of samples over the correlation time of the residual


def identify(
    robot: Robot,
    log: Log,
    method: str = 'consistent',
    friction: Sequence[str] = FRICTION,
    prior: Robot | None = None,
    weight: float = 0.3,
    constants_deviation: float = 0.0,
) -> Identification:
    """Return the robot whose torques fit those of a log best: links, rotors and friction are identified together.

    ``'consistent'`` minimises half the squared residuals over their variances, plus ``weight`` times the log-det
    divergence of each link's pseudo-inertia from the prior's. Every link is then physically consistent, mass matrices
    are positive definite, and what the log does not excite stays at the prior. ``'wls'`` and ``'ols'`` are weighted and
    ordinary least squares without a bound or weight; their robot has the change of the prior with the least norm. Use
    them to look at base parameters: on measured logs, half of the mass matrices of such robots and more are not
    positive definite.

    Residuals are correlated in time. Their variance is therefore multiplied by the integrated correlation time in
    samples, separately for each joint, before it weighs the log against the prior and gives standard deviations. These
    include the prior's information. They do not include errors of the model's structure, such as friction that changes
    from day to day.

    Samples at which a joint is slower than 0.02 rad/s do not count for that joint, nor do those with a residual above
    five robust standard deviations.

    Parameters
    ----------
    robot : Robot
        Geometry, gravity and, for currents, torque constants. Rotor inertias and friction are identified.
    log : Log
        A motion that excites all joints, best a Fourier series of 20 s or longer.
    method : {'consistent', 'wls', 'ols'}
    friction : sequence of str
        Any of 'viscous', 'coulomb', 'offset', 'load', 'stribeck', 'temperature'. The others are set to 0. Transition
        velocities are identified with them.
    prior : Robot, optional
        Inertial parameters that the links are pulled to. Default: ``robot``.
    weight : float
        Weight of the divergence in units of a squared residual of one standard deviation and one independent sample.
        Results of measured logs hardly depend on it from 0.01 to 10.
    constants_deviation : float
        Relative standard deviation of torque constants. 0 keeps them. Only a good prior determines them.

    Returns
    -------
    Identification

    Raises
    ------
    ArgumentError
        For an unknown method or friction term, a robot or prior with another number of joints, and a log with fewer
        than 20 samples in motion.
    ModelError
        As ``Log.torque``.

    References
    ----------
    Lee, Wensing & Park 2020; Gautier & Poignet 2001; Hamon, Gautier & Garrec 2010.
    """
    validation.choice('method', method, METHODS)
    names, n, moving = term_names(friction, log.temperature), robot.nv, np.abs(log.qd) > SPEED
    if constants_deviation and (log.effort, method) != ('current', 'consistent'):
        raise ArgumentError(f"constants_deviation: expected currents and 'consistent', got {log.effort} and {method!r}")
    if moving.any(axis=1).sum() < FEWEST:
        raise ArgumentError(f'log: expected at least {FEWEST} samples in motion, got {moving.any(axis=1).sum()}')
    known = robot if prior is None else prior
    if known.nv != n or known.inertial_parameters.shape != robot.inertial_parameters.shape:
        raise ArgumentError(f'prior: expected a robot with {n} joints, got {known.name!r} with {known.nv}')
    rows = consistent_prior(known.inertial_parameters)
    measured, found = log.torque(robot), robot.with_binding('generic')
    squares = (measured**2 * moving).sum(axis=0) / np.maximum(moving.sum(axis=0), 1)
    least = np.where(squares > 0.0, LEAST_VARIANCE * squares, 1.0)
    used, variances, times = moving, np.maximum(FIRST_NOISE**2 * squares, least), np.ones(n)
    transition, scales = np.full(n, USUAL), np.ones(n)
    terms, predicted = FrictionColumns.of(names, log, measured, robot.friction), np.zeros_like(measured)
    left = measured - found.inverse_dynamics(log.q, log.qd, log.qdd)
    passes = PASSES_OF_CONSTANTS if constants_deviation else PASSES
    for number in range(passes):
        if number:
            transition = terms.best_transitions(left, used)
        own = np.stack([log.qdd, *terms.at(transition), -predicted], axis=2)
        sums = _regression(found, log, own, left, used)
        # one factor of all joints
        correlated = np.exp(np.log(times).mean()) if number == passes - 1 else 1.0
        weights = np.ones(n) if method == 'ols' else 1.0 / (correlated * variances)
        values = _prior(robot, rows, weight, names, scales, constants_deviation)
        fit = sums.consistent_fit(weights, values) if method == 'consistent' else sums.nearest_fit(weights, values)
        found = found.with_inertial_parameters(fit.links).with_rotor_inertia(np.maximum(fit.own[:, 0], 0.0))
        scales = scales * (1.0 + fit.own[:, -1])
        rigid = found.inverse_dynamics(log.q, log.qd, log.qdd)
        terms, left = FrictionColumns.of(names, log, rigid, robot.friction), scales * measured - rigid
        overcome = (terms.at(transition) * fit.own.T[1:-1, None]).sum(axis=0)
        used, variances, times = _noise(left - overcome, moving, least)
        if constants_deviation:
            # in place of the measured torques, whose noise would pull the scale towards -1
            predicted = rigid + overcome
    if constants_deviation:
        constants = scales * robot.model.torque_constant()
        found = found.with_actuators({'torque_constant': dict(zip(robot.joint_names, constants.tolist(), strict=True))})
    # of the parameters, from that of the slope: residuals are correlated, and of other sizes than the weights say
    difference = sums.normal_equations(weights**2 * variances * times - weights)[0]
    fit = fit._replace(covariance=fit.covariance + fit.covariance @ difference @ fit.covariance)
    base = _base_parameters(robot)
    H = sums.normal_equations(1.0 / variances)[0][np.ix_(base.independent, base.independent)]
    # terms of friction that were not fitted are 0
    overcoming = dict.fromkeys(TERMS, np.zeros(n)) | dict(zip(names, fit.own.T[1:-1], strict=True))
    overcoming |= {name: np.maximum(overcoming[name], 0.0) for name in overcoming.keys() - FREE}
    per_degree = overcoming.pop('temperature')
    found = found.with_friction(**overcoming, transition=transition).with_binding(robot.binding)
    shown = validate(found, log)
    return Identification(
        robot=found,
        base_parameters=base.regrouping @ fit.links,
        standard_deviation=fit.deviations_of(base.regrouping),
        r2=shown.r2,
        rms=shown.rms,
        condition_number=float(np.sqrt(np.linalg.cond(H))),
        findings=tuple(log_findings(found, known, log, shown)),
        friction_deviation=dict(zip(names, fit.deviations()[1].T[1:-1], strict=True)),
        viscous_per_degree=per_degree,
        independent_samples=used.sum(axis=0) / times,
    )


def cross_validate(robot: Robot, log: Log, folds: int = 5, speed: float = SPEED, **options) -> Validation:
    """Return how well identifications predict parts of the log that they have not seen.

    The log is divided into ``folds`` blocks of time, since neighbouring samples are alike: each is predicted by what
    ``identify`` finds in the others. Use it to compare settings, and ``validate`` on another log to judge one.

    Parameters
    ----------
    robot : Robot
    log : Log
    folds : int
        Number of blocks, at least 2.
    speed : float
        As in ``validate``.
    options : optional
        Keyword arguments of ``identify``.

    Returns
    -------
    Validation
        Predictions of all blocks.

    Raises
    ------
    ArgumentError
        For fewer than two blocks, and as ``identify``.
    """
    if not 2 <= folds <= len(log):
        raise ArgumentError(f'folds: expected a number of blocks from 2 to the number of samples, got {folds}')
    measured, predicted = log.torque(robot), np.empty_like(log.qd)
    for block in np.array_split(np.arange(len(log)), folds):
        others = np.delete(np.arange(len(log)), block)
        found = identify(robot, log[others], **options).robot
        predicted[block] = predicted_torque(found, log[block])[1]
    return Validation(log.t, measured, predicted, np.abs(log.qd) > speed)


def _noise(residual: np.ndarray, moving: np.ndarray, least: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the noise of a residual where the joints are ``moving`` (m, n each), with ``least`` variances (n,).

    Which samples are no outliers (m, n), the variance of each joint (n,), and the number of samples over which its
    noise is correlated (n,).
    """
    size = np.abs(residual)
    # the standard deviation, from the median magnitude
    robust = 1.4826 * np.ma.median(np.ma.array(size, mask=~moving), axis=0).filled(0.0)
    used = moving & (size <= OUTLIER * robust)
    kept = np.where(used, residual, 0.0)
    variances = np.maximum((kept**2).sum(axis=0) / np.maximum(used.sum(axis=0), 1), least)
    return used, variances, correlation_times(kept)


def _regression(robot: Robot, log: Log, own: np.ndarray, left: np.ndarray, used: np.ndarray) -> Regression:
    """Return the regression of a log's torques, which have the differences ``left`` (m, n) to those of ``robot``.

    Each joint has the columns ``own`` (m, n, k), its rotor's first. Torques of rotors' spins and of springs, which are
    not linear in the parameters, stay those of the robot.
    """
    sums = np.zeros(())
    for start in range(0, len(log), BLOCK):
        block = slice(start, start + BLOCK)
        Y = robot.torque_regressor(log.q[block], log.qd[block], log.qdd[block])
        torque = left[block] + Y @ robot.inertial_parameters + log.qdd[block] * robot.rotor_inertia
        sums = sums + Regression.of(Y, own[block], torque, used[block]).sums
    return Regression(Y.shape[2], sums)


def _prior(robot: Robot, rows, weight: float, names: Sequence[str], scales, constants_deviation: float) -> Prior:
    """Return what the parameters of links, rotors, friction and scales are pulled to."""
    friction = robot.friction._asdict()
    own = [robot.rotor_inertia, *(friction.get(name, np.zeros(robot.nv)) for name in names), 1.0 / scales - 1.0]
    ridges = np.zeros((robot.nv, len(own)))
    if constants_deviation:
        ridges[:, -1] = (scales / constants_deviation) ** 2
    return Prior(rows, weight, np.stack(own, axis=1), ridges, [True, *(name not in FREE for name in names), False])


@lru_cache(maxsize=8)
def _base_parameters(robot: Robot) -> BaseParameters:
    """Return the base parameters of a robot, which depend on its geometry and gravity only."""
    return robot.base_parameters(BASE_TOLERANCE)
