"""``identify``: inertial parameters, rotor inertia and friction of a robot from a log of a motion; cross-validation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.joints.standstill import SPEED
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.friction_terms import FREE, TERMS, term_names
from robot_dynamics_ros.identification.iterated_fit import TOLERANCE, Pass, State, TorqueProblem
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.logs.log_findings import log_findings
from robot_dynamics_ros.identification.model_selection import OPTIONAL, WEIGHTS, last_pass, with_terms_that_pay
from robot_dynamics_ros.identification.motor_coupling import with_couplings_found
from robot_dynamics_ros.identification.parameter_table import IdentifiedParameter, identified_parameters
from robot_dynamics_ros.identification.prediction import Validation, predicted_torque, validate
from robot_dynamics_ros.model.base_parameters import BaseParameters
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

METHODS = ('consistent', 'wls', 'ols')
FRICTION = ('viscous', 'coulomb', 'offset', *OPTIONAL)
FEWEST = 20
"""Samples in motion that a log needs."""
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
    standard_deviation: np.ndarray  # (b,)   of the base parameters; infinite: not determined
    r2: np.ndarray  # (n,) share of the torque's variance that is explained, where the joint moves
    rms: np.ndarray  # (n,) N m (N)   of the residual, where the joint moves
    condition_number: float  # of the weighted regressor of the base parameters
    findings: tuple[Finding, ...]
    friction_deviation: dict[str, np.ndarray]  # standard deviation (n,) of each friction term; NaN: left out
    viscous_per_degree: np.ndarray  # (n,) N m s/rad per degree above the mean of the log; 0 without 'temperature'
    independent_samples: np.ndarray  # (n,) number of samples over the correlation time of the residual
    left_out: dict[str, tuple[str, ...]]  # joints without a term of friction, which does not pay on held-out blocks
    parameters: tuple[IdentifiedParameter, ...]  # base parameters, rotors, friction, torque constants


def identify(
    robot: Robot,
    log: Log,
    method: str = 'consistent',
    friction: Sequence[str] = FRICTION,
    prior: Robot | None = None,
    weight: float | None = None,
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

    Motors that turn with other joints, too, have their friction and rotor at their own velocities: those of
    ``motor_coupling`` in an actuator file, and those that the log shows, where two neighbouring joints are explained
    badly without. Findings name what is found, and a delay, which ``delay_of_torques`` and ``Log.without_delay``
    remove.

    Parameters
    ----------
    robot : Robot
        Geometry, gravity and, for currents, torque constants. Rotor inertias and friction are identified.
    log : Log
        A motion that excites all joints, best a Fourier series of 20 s or longer.
    method : {'consistent', 'wls', 'ols'}
    friction : sequence of str
        Any of 'viscous', 'coulomb', 'offset', 'load', 'quadratic', 'stribeck', 'temperature'. The others are set to 0.
        Transition velocities are identified with them. Of 'load' and 'quadratic', a joint has what predicts blocks of
        the log better that are held out; ``left_out`` names the others.
    prior : Robot, optional
        Inertial parameters that the links are pulled to. Default: ``robot``.
    weight : float
        Weight of the divergence in units of a squared residual of one standard deviation and one independent sample.
        Default: 0.3, or less where that predicts blocks of the log better that are held out, and a finding says so:
        otherwise results of measured logs hardly depend on it from 0.01 to 10.
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
    weights = (WEIGHTS if method == 'consistent' else WEIGHTS[:1]) if weight is None else (weight,)
    problem = TorqueProblem(robot, known, log, method, names, weights[0], constants_deviation)
    problem, coupled = with_couplings_found(problem)
    robot = problem.robot
    terms, settled = with_terms_that_pay(problem)
    weight, last = last_pass(problem, terms, settled.state, weights)
    found, fit, deviations = _robot(problem, last.state), last.fit, last.covariant_fit().deviations()[1]
    base = _base_parameters(robot)
    H = last.whole.normal_equations(1.0 / last.state.variances)[0][np.ix_(base.independent, base.independent)]
    shown = validate(found, log)
    per_degree = last.state.friction[names.index('temperature')] if 'temperature' in names else np.zeros(n)
    return Identification(
        robot=found,
        base_parameters=base.regrouping @ fit.links,
        standard_deviation=last.covariant_fit().deviations_of(base.regrouping),
        r2=shown.r2,
        rms=shown.rms,
        condition_number=float(np.sqrt(np.linalg.cond(H))),
        findings=(*coupled, *_findings(settled, weight, weights), *log_findings(found, known, log, shown)),
        friction_deviation=dict(zip(names, np.where(terms, deviations.T[1:-1], np.nan), strict=True)),
        viscous_per_degree=per_degree,
        independent_samples=last.state.used.sum(axis=0) / last.state.times,
        left_out=_left_out(robot, names, terms),
        parameters=tuple(identified_parameters(problem, terms, found, last, base)),
    )


def _robot(problem: TorqueProblem, last: State) -> Robot:
    """Return the robot of the last state; terms of friction that were not fitted are 0."""
    robot, found = problem.robot, last.found
    if problem.constants_deviation:
        constants = last.scales * robot.model.torque_constant()
        found = found.with_actuators({'torque_constant': dict(zip(robot.joint_names, constants.tolist(), strict=True))})
    terms = dict.fromkeys(TERMS, np.zeros(robot.nv)) | dict(zip(problem.terms, last.friction, strict=True))
    terms |= {name: np.maximum(terms[name], 0.0) for name in terms.keys() - FREE}
    del terms['temperature']
    return found.with_friction(**terms, transition=last.transition)


def _left_out(robot: Robot, names: Sequence[str], terms: np.ndarray) -> dict[str, tuple[str, ...]]:
    """Return the joints without each term of friction, for terms (k, n; bool) that some joint lacks."""
    return {
        name: tuple(joint for joint, has in zip(robot.joint_names, row, strict=True) if not has)
        for name, row in zip(names, terms, strict=True)
        if not row.all()
    }


def _findings(settled: Pass, weight: float, weights: Sequence[float]) -> Iterator[Finding]:
    """Yield what the fit itself makes doubtful: passes that do not end, and a prior that the log contradicts."""
    if settled.change >= TOLERANCE:
        text = f'{100 * settled.change:.2g} % of the standard deviation of the residual'
        yield Finding('warning', 'log', f'the fit does not converge: its torque still changes by {text} in each pass')
    if weight != weights[0]:
        text = f'its weight is {weight:g} in place of {weights[0]:g}, for blocks held out are predicted better so'
        yield Finding('warning', 'prior', f'the log contradicts the masses of the description: {text}')


def cross_validate(robot: Robot, log: Log, folds: int = 5, speed: float = SPEED, **options: Any) -> Validation:
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


@lru_cache(maxsize=8)
def _base_parameters(robot: Robot) -> BaseParameters:
    """Return the base parameters of a robot, which depend on its geometry and gravity only."""
    return robot.base_parameters(BASE_TOLERANCE)
