"""``identify``: inertial parameters, rotor inertia and friction of a robot from a log of a motion."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.standstill import SPEED
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.consistent import consistent_prior, minimise
from robot_dynamics_ros.identification.friction_terms import FIRST, TRANSITIONS, FrictionTerms
from robot_dynamics_ros.identification.log import Log
from robot_dynamics_ros.identification.log_findings import log_findings
from robot_dynamics_ros.identification.prediction import predicted_torque, validate
from robot_dynamics_ros.identification.regression import Products, Samples, products
from robot_dynamics_ros.model.base_parameters import BaseParameters
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

METHODS = ('consistent', 'wls', 'ols')
FRICTION = ('viscous', 'coulomb', 'offset', 'load')
PASSES = 3
"""Passes over the samples: the first transmitted torques are measured ones, later ones are those of the model."""
PASSES_OF_CONSTANTS = 8
"""Passes if torque constants are identified, too."""
ROUNDS = 2
"""Solutions in a pass, each with weights and transition velocities from the one before."""
OUTLIER = 5.0
"""Samples with a residual above so many robust standard deviations do not count."""
FEWEST = 20
"""Samples in motion that a log needs."""
RIDGE = 1e-6
"""Of a column's square, the weight that keeps its parameter at the robot's value where nothing else determines it."""
HELD = 1e6
"""That weight for a parameter without any column, in the unit of the parameter to the power of -2."""
LEAST_VARIANCE = 1e-8
"""Least variance of a residual, as a share of the mean square of the torque: of logs without noise."""
RANK = 1e-11
"""Of the largest eigenvalue, the least one that counts as determined by the log in 'ols' and 'wls'."""
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
    terms = FrictionTerms.named(friction, log.temperature)
    if constants_deviation and (log.effort, method) != ('current', 'consistent'):
        raise ArgumentError(f"constants_deviation: expected currents and 'consistent', got {log.effort} and {method!r}")
    moving = np.abs(log.qd) > SPEED
    if moving.any(axis=1).sum() < FEWEST:
        raise ArgumentError(f'log: expected at least {FEWEST} samples in motion, got {moving.any(axis=1).sum()}')
    known = robot if prior is None else prior
    if known.nv != robot.nv or known.inertial_parameters.shape != robot.inertial_parameters.shape:
        raise ArgumentError(f'prior: expected a robot with {robot.nv} joints, got {known.name!r} with {known.nv}')
    rows = consistent_prior(known.inertial_parameters.reshape(-1, 10))
    measured, found = log.torque(robot), robot.with_binding('generic')
    scales, inflation = np.ones(robot.nv), np.ones(robot.nv)
    fit: _Fit | None = None
    samples = Samples(log, measured - _spin_torque(found, log), measured, np.zeros_like(measured), moving)
    for _ in range(PASSES_OF_CONSTANTS if constants_deviation else PASSES):
        sums = products(found, samples, terms)
        prior_values = _Prior(rows, *_further(robot, terms, scales, constants_deviation), weight)
        fit = _solved(sums, prior_values, method, inflation, fit)
        scales = scales * (1.0 + fit.own[:, 1])
        found = _robot_of(found, fit, terms)
        transmitted, predicted = predicted_torque(found, log)
        residual = scales * measured - predicted
        used = moving & (np.abs(residual) <= OUTLIER * _robust_deviations(residual, moving))
        inflation = _correlation_times(np.where(used, residual, 0.0))
        torque = scales * measured - _spin_torque(found, log)
        samples = Samples(log, torque, transmitted, predicted * bool(constants_deviation), used)
    assert fit is not None
    if constants_deviation:
        constants = scales * robot.model.torque_constant()
        found = found.with_actuators({'torque_constant': dict(zip(robot.joint_names, constants.tolist(), strict=True))})
    base = _base_parameters(robot)
    return _result(found.with_binding(robot.binding), known, log, base, sums, fit, inflation)


class _Prior(NamedTuple):
    """Values that parameters are pulled to: rows of the links (links, 10), others (n, k) with weights (n, k)."""

    rows: np.ndarray
    others: np.ndarray
    ridges: np.ndarray
    weight: float


class _Fit(NamedTuple):
    """Parameters of ``Products.places``: of the links, and (n, k) rotor inertia, scale and friction of each joint."""

    links: np.ndarray
    own: np.ndarray
    covariance: np.ndarray
    choices: np.ndarray
    variances: np.ndarray


def _further(robot: Robot, terms: FrictionTerms, scales, constants_deviation: float) -> tuple[np.ndarray, np.ndarray]:
    """Return values of the robot that rotor inertia, scale and friction terms are pulled to, and weights, (n, k)."""
    friction = robot.model.friction._asdict()
    named = [friction.get(name, np.zeros(robot.nv)) for name in terms.names]
    others = np.column_stack([robot.rotor_inertia, 1.0 / scales - 1.0, *named])
    ridges = np.zeros_like(others)
    if constants_deviation:
        ridges[:, 1] = (scales / constants_deviation) ** 2
    return others, ridges


def _solved(sums: Products, prior: _Prior, method: str, inflation, before: _Fit | None) -> _Fit:
    """Return the solution of a pass, which begins with the variances and transition velocities of the one before."""
    n = len(sums.sums)
    count = np.maximum(sums.counts, 1)
    common = float(np.exp(np.log(inflation).mean()))
    squares = sums.sums[:, -1, -1] / count
    least = np.where(squares > 0.0, LEAST_VARIANCE * squares, 1.0)
    # at first, residuals of 10 % of the torque
    variances, choices = np.maximum(0.01 * squares, least), np.full(n, FIRST)
    if before is not None:
        variances, choices = before.variances, before.choices
    x0 = np.concatenate([prior.rows.ravel(), prior.others.ravel()])
    bounded = np.tile([True, False, *sums.terms.at_least_zero], n)
    for _ in range(ROUNDS):
        weights = np.ones(n) if method == 'ols' else 1.0 / (variances * common)
        H_log, b = sums.normal_equations(weights, choices)
        H, pulled = H_log.copy(), 0.0
        if method == 'consistent':
            places = np.arange(sums.links, len(b))
            diagonal = H[places, places]
            ridge = prior.ridges.ravel() + np.where(diagonal > 0.0, RIDGE * diagonal, HELD)
            H[places, places] += ridge
            b[places] += ridge * x0[places]
            minimum = minimise(H, b, prior.rows, prior.weight, bounded)
            x, inverse, pulled = minimum.x, np.linalg.inv(minimum.hessian), minimum.hessian - H_log
        else:
            inverse = _pseudo_inverse(H)
            # the least change of the prior that solves H x = b
            x = x0 + inverse @ (b - H @ x0)
        variances = np.maximum(sums.squares(x, choices) / count, least)
        # of x, from that of the slope: correlated residuals, and the prior
        of_slope = sums.normal_equations(weights**2 * variances * inflation, choices)[0] + pulled
        covariance = inverse @ of_slope @ inverse
        fit = _Fit(x[: sums.links], x[sums.links :].reshape(n, -1), covariance, choices, variances)
        choices = sums.better_choices(x, choices)
    return fit


def _pseudo_inverse(H: np.ndarray) -> np.ndarray:
    """Return the pseudo-inverse of a positive semidefinite matrix, with columns scaled to a diagonal of 1."""
    scale = 1.0 / np.sqrt(np.where(np.diag(H) > 0.0, np.diag(H), 1.0))
    return np.outer(scale, scale) * np.linalg.pinv(H * np.outer(scale, scale), RANK, hermitian=True)


def _robot_of(robot: Robot, fit: _Fit, terms: FrictionTerms) -> Robot:
    """Return the robot with the parameters of a fit; terms of friction that were not fitted are 0."""
    own = np.maximum(fit.own, np.where([True, False, *terms.at_least_zero], 0.0, -np.inf))
    friction = dict.fromkeys(('viscous', 'coulomb', 'offset', 'stribeck', 'load'), np.zeros(robot.nv))
    friction |= {name: own[:, 2 + k] for k, name in enumerate(terms.names) if name != 'temperature'}
    changed = robot.with_inertial_parameters(fit.links).with_rotor_inertia(own[:, 0])
    return changed.with_friction(**friction, transition=TRANSITIONS[fit.choices])


def _spin_torque(robot: Robot, log: Log) -> np.ndarray:
    """Return the torques of rotors' spins (m, n): what inverse dynamics has beyond links and reflected inertias."""
    if not robot.rotor_spin.any():
        return np.zeros_like(log.qd)
    without = robot.with_rotor_inertia(np.zeros(robot.nv))
    whole, links = (it.inverse_dynamics(log.q, log.qd, log.qdd) for it in (robot, without))
    return whole - links - robot.rotor_inertia * log.qdd


def _correlation_times(residual: np.ndarray) -> np.ndarray:
    """Return the integrated correlation time of each column (m, n) in samples, (n,): 1 + 2 sum of correlations.

    The sum ends at the first correlation that is not positive.
    """
    m = len(residual)
    power = np.abs(np.fft.rfft(residual - residual.mean(axis=0), 2 * m, axis=0)) ** 2
    covariance = np.fft.irfft(power, axis=0)[:m]
    correlation = covariance / np.maximum(covariance[0], 1e-300)
    positive = np.logical_and.accumulate(correlation > 0.0, axis=0)
    return np.maximum(2.0 * np.where(positive, correlation, 0.0).sum(axis=0) - 1.0, 1.0)


def _robust_deviations(residual: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each column (m, n) where it is moving, from its median magnitude."""
    return 1.4826 * np.ma.median(np.ma.array(np.abs(residual), mask=~moving), axis=0).filled(0.0)


@lru_cache(maxsize=8)
def _base_parameters(robot: Robot) -> BaseParameters:
    """Return the base parameters of a robot, which depend on its geometry and gravity only."""
    return robot.base_parameters(BASE_TOLERANCE)


def _result(
    robot: Robot, known: Robot, log: Log, base: BaseParameters, sums: Products, fit: _Fit, inflation
) -> Identification:
    """Return base parameters, deviations and findings of the last fit."""
    links, n, names = sums.links, robot.nv, sums.terms.names
    deviations = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    of_base = base.regrouping @ fit.covariance[:links, :links] @ base.regrouping.T
    H = sums.normal_equations(1.0 / fit.variances, fit.choices)[0][np.ix_(base.independent, base.independent)]
    own = deviations[links:].reshape(n, -1)
    per_degree = fit.own[:, 2 + names.index('temperature')] if 'temperature' in names else np.zeros(n)
    shown = validate(robot, log)
    return Identification(
        robot=robot,
        base_parameters=base.regrouping @ fit.links,
        standard_deviation=np.sqrt(np.maximum(np.diag(of_base), 0.0)),
        r2=shown.r2,
        rms=shown.rms,
        condition_number=float(np.sqrt(np.linalg.cond(H))),
        findings=tuple(log_findings(robot, known, log, shown)),
        friction_deviation={name: own[:, 2 + k] for k, name in enumerate(names)},
        viscous_per_degree=per_degree,
        independent_samples=sums.counts / inflation,
    )
