"""Identification of gravity from standing poses: masses and centres of links, static friction, torque scales."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.joints.continuous_joints import TURN
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.consistent import consistent_prior
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.logs.log_findings import unit_findings
from robot_dynamics_ros.identification.parameter_table import IdentifiedParameter, left_of_links, link_parameters
from robot_dynamics_ros.identification.regression import Prior, Regression
from robot_dynamics_ros.identification.standing_poses import StandingPoses
from robot_dynamics_ros.model.base_parameters import BaseParameters, base_parameters_of_regressors
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy

DISTINCT, FEWEST = 0.05, 5
"""Least difference of distinct poses in some joint, rad (m), and their least number."""
LARGEST_CONDITION = 100.0
"""Largest condition number of the poses' base regressor, its columns of length 1; 20 proposed poses have 1.1."""
SCALE_DEVIATION = 0.3
"""Deviation of a torque scale before the measurement."""
NOISE, SHARE = 0.02, 0.01
"""Noise of each joint at the first step, of its largest torque, which is at least a share of the largest gravity."""
ACCURACY = 1e-7
"""Smallest noise of a joint, as a share of the largest torque of any joint."""
STEPS, STEPS_WITH_SCALE = 6, 15
"""After each of them noise and torque scale of the joints are estimated anew."""
ONE_SIDED = 0.5
"""Mean of the directions beyond which a joint counts as reached from one side."""


class GravityIdentification(NamedTuple):
    """Result of ``identify_gravity``; deviations are standard deviations."""

    robot: Robot  # with masses, centres and inertias; the latter follow from the prior
    regrouping: np.ndarray  # (b, 10 n)           base parameters of gravity: regrouping inertial_parameters
    base_parameters: np.ndarray  # (b,)           kg m (prismatic joints: kg)
    standard_deviation: np.ndarray  # (b,)
    static_friction: np.ndarray  # (n,) N m, N    mean over the poses
    static_friction_deviation: np.ndarray  # (n,)
    torque_scale: np.ndarray  # (n,)              measured torque per joint torque; 1 unless asked for
    torque_scale_deviation: np.ndarray  # (n,)
    rms: np.ndarray  # (n,) N m, N                of measured minus predicted torque
    condition_number: float  # of the base regressor, its columns of length 1
    findings: tuple[Finding, ...]
    parameters: tuple[IdentifiedParameter, ...]  # base parameters, static friction


def identify_gravity(
    robot: Robot,
    poses: StandingPoses | Log,
    torque_scale: bool = False,
    known_load: tuple[Payload, StandingPoses | Log] | None = None,
) -> GravityIdentification:
    """Identify the masses and centres that count for gravity, from poses in which the arm stands still.

    The torque at a pose is Y(q) pi + direction static_friction, with physically consistent parameters pi of the links.
    The estimate minimises the squared errors, by the noise of each joint, plus the divergence of each link from
    ``robot``, which counts as much as one measurement: see ``consistent.minimise``. Static friction cancels where poses
    are reached from both sides.

    Parameters
    ----------
    robot : Robot
        The prior, with the gravity of the measurement. Links that no body has are repaired before.
    poses : StandingPoses or Log
        Some 20 poses, each reached from both sides: ``gravity_poses`` proposes some. In a log, the standstills count.
    torque_scale : bool
        Estimate the ratio of measured and true torque of each joint, too. Without a known load it is known no better
        than the prior's masses, and its deviations say so.
    known_load : tuple of Payload and StandingPoses or Log, optional
        Further poses, with a known payload on the last link.

    Returns
    -------
    GravityIdentification

    Raises
    ------
    ArgumentError
        For poses that are too few, not distinct or do not excite gravity; as ``StandingPoses``.
    """
    parts = [(Payload(0.0, np.zeros(3)), poses), *([known_load] if known_load else [])]
    parts = [(load, StandingPoses.from_log(robot, it) if isinstance(it, Log) else it) for load, it in parts]
    q, measured, direction = (np.concatenate([getattr(it, name) for _, it in parts]) for name in StandingPoses.FIELDS)
    n, gravity, rest = robot.nv, robot.gravity_torque(q), np.zeros_like(q)
    known = np.concatenate([robot.with_payload(load).gravity_torque(it.q) for load, it in parts]) - gravity
    Y, rows = robot.torque_regressor(q, rest, rest), consistent_prior(robot.inertial_parameters)
    largest = np.maximum(np.abs(measured).max(axis=0), SHARE * np.abs(gravity).max())
    noise, predicted = NOISE * largest, np.zeros_like(measured)
    base, condition = _excitation(robot, q, Y / largest[:, None])
    own = np.zeros((n, 2))  # static friction, and scale - 1
    ridges = np.tile([largest.max() ** -2.0, SCALE_DEVIATION**-2.0], (n, 1))
    prior, links = Prior(rows, 1.0, own, ridges, [True, False]), np.zeros(Y.shape[2])
    for _ in range(STEPS_WITH_SCALE if torque_scale else STEPS):
        # measured = scale (Y pi + direction friction + known), linear about the last scale and prediction
        scale = 1.0 + own[:, 1]
        columns = np.stack([scale * direction, torque_scale * predicted], axis=2)
        values = measured - scale * known + torque_scale * own[:, 1] * predicted
        regression, weights = Regression.of(scale[:, None] * Y, columns, values), noise**-2.0
        fit = regression.consistent_fit(weights, prior)
        # half the way: with full steps scales and masses, whose product is known well, alternate
        share = 0.5 if torque_scale and predicted.any() else 1.0
        links, own = links + share * (fit.links - links), own + share * (fit.own - own)
        predicted = Y @ links + direction * own[:, 0] + known
        error = measured - (1.0 + own[:, 1]) * predicted
        free = error.size - len(base.independent) - n
        noise = np.maximum(np.sqrt((error**2).sum(axis=0) * n / free), ACCURACY * largest.max())
    deviations, regrouping = fit.deviations()[1], base.regrouping
    found = robot.with_inertial_parameters(links), regrouping, regrouping @ links, fit.deviations_of(regrouping)
    others = own[:, 0], deviations[:, 0], 1.0 + own[:, 1], deviations[:, 1] * torque_scale
    findings = tuple(_findings(robot, direction, measured, gravity + known))
    left = left_of_links(fit, regrouping, regression.normal_equations(weights)[0])
    listed = [
        *link_parameters(robot, base, fit, found[3], left, [''] * len(left)),
        *_static_friction(robot, own[:, 0], deviations[:, 0]),
    ]
    rms = np.sqrt((error**2).mean(axis=0))
    return GravityIdentification(*found, *others, rms, condition, findings, tuple(listed))


def _static_friction(robot: Robot, found: np.ndarray, deviations: np.ndarray) -> Iterator[IdentifiedParameter]:
    """Yield the static friction of the joints beside the Coulomb friction that is described; no prior decides it."""
    for j, joint in enumerate(robot.joint_names):
        unit = 'N' if robot.model.joint_kinds[j] == 'prismatic' else 'N m'
        numbers = float(robot.friction.coulomb[j]), float(found[j]), float(deviations[j])
        yield IdentifiedParameter(joint, 'static friction', unit, *numbers, left=0.0)


def _excitation(robot: Robot, q: np.ndarray, Y: np.ndarray) -> tuple[BaseParameters, float]:
    """Return the base parameters of gravity, and the condition number of their regressor Y (k, n, 10 n) at poses q."""
    # the first pose that is near each
    distinct = len(np.unique(np.argmax(np.abs(q[:, None] - q).max(axis=2) <= DISTINCT, axis=1)))
    if distinct < FEWEST:
        raise ArgumentError(f'poses: expected {FEWEST} distinct ones, better 20, got {distinct} of {len(q)}')
    many = TURN * low_discrepancy(20 * robot.nv, robot.nv)
    base = base_parameters_of_regressors(robot.torque_regressor(many, 0.0 * many, 0.0 * many))
    columns = Y.reshape(-1, Y.shape[2])[:, base.independent]
    lengths = np.linalg.norm(columns, axis=0)
    condition = float(np.linalg.cond(columns / lengths)) if lengths.all() and lengths.size else np.inf
    if not condition < LARGEST_CONDITION:
        still = robot.joint_names[int(np.argmin(np.ptp(q, axis=0)))]
        why = f'poses: they do not excite gravity, condition number {condition:.3g}'
        raise ArgumentError(f'{why}; vary all joints, most of all {still!r}, or use gravity_poses')
    return base, condition


def _findings(robot: Robot, direction: np.ndarray, measured: np.ndarray, expected: np.ndarray) -> Iterator[Finding]:
    """Yield what makes the result doubtful."""
    one_sided = (np.abs(direction.mean(axis=0)) > ONE_SIDED) | ~direction.any(axis=0)
    product = (measured * expected).sum(axis=0)
    opposite = product < -0.5 * np.linalg.norm(measured, axis=0) * np.linalg.norm(expected, axis=0)
    for k, name in enumerate(robot.joint_names):
        if one_sided[k]:
            why = 'reached from one side, or an unknown one: static friction counts as gravity in part'
            yield Finding('warning', f'joint {name!r}', why)
        if opposite[k]:
            why = 'the torque is opposite to the gravity torque of the prior: its sign may be wrong'
            yield Finding('warning', f'joint {name!r}', why)
    yield from unit_findings('measured', measured, expected, robot.name)
