"""Identification of the payload on the last link from a motion of a robot whose own parameters are known."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.friction_terms import FrictionColumns
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.logs.log_findings import signal_findings, unit_findings
from robot_dynamics_ros.identification.logs.signals import correlation_times
from robot_dynamics_ros.identification.regression import Prior, Regression, sum_of
from robot_dynamics_ros.model.inertial_parameters import central_parameters, ten_parameters
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.payload import Payload, carrying_frame
from robot_dynamics_ros.robot import Robot

FIRST = Payload.sphere(1.0, 0.1)
"""A body about the last link's origin, with the weight of one measurement: for what the motion does not excite."""
GYRATION = 0.1 * np.sqrt(0.2)
"""Root mean square distance of a sphere of 0.1 m from a plane through its centre, m: the payload is pulled to it."""
LEAST_MASS = 0.1
"""Least mass of that sphere, kg."""
FRICTION = ('viscous', 'offset', 'coulomb')
"""Terms that are estimated with the payload."""
OWN = len(FRICTION) + 1
"""Parameters of each joint: friction, and the error of the scale of its efforts."""
CLEAR, LEAST_SCALE = 3.0, 0.03
"""Standard deviations, and size, from which on an error of the scale is a finding."""
FEWEST = 100
"""Least number of samples."""
LEAST_MOTION = 0.1
"""Least range of positions of the joint that moves most, rad (m)."""
STEPS = 8
"""After each of them noise, load-dependent friction and the sphere of the prior are estimated anew."""
LEAST_FREE = 0.1
"""Least share of independent samples that the parameters leave free."""
PARTS = 10
"""Parts of the log in time, each of which is left out in turn: what that changes counts in the deviations."""


class PayloadIdentification(NamedTuple):
    """A payload that is identified; deviations are standard deviations, by the residual as it is seen."""

    payload: Payload  # in the frame of the last link
    standard_deviation: np.ndarray  # (10,)  of payload.ten_parameters
    com_deviation: np.ndarray  # (3,) m
    rms: np.ndarray  # (n,) N m, N           of measured minus predicted torque
    findings: tuple[Finding, ...]
    effort_scale: np.ndarray  # (n,)         efforts per torque that the robot's own parameters tell
    effort_scale_deviation: np.ndarray  # (n,) 0: not estimated


def identify_payload(robot: Robot, log: Log, constants_deviation: float = 0.03) -> PayloadIdentification:
    """Identify the payload on the last link: mass, centre of mass and inertia.

    The joint torque is inverse dynamics of ``robot`` plus friction plus Y pi, with the regressor Y of the last link.
    Viscous and Coulomb friction and the offset of each joint are estimated, too, so that friction which differs from
    that of ``robot`` is not taken for a payload. The estimate minimises the squared errors, by the noise of each joint,
    plus a weak divergence from a sphere of 0.1 m with the mass and centre that are found: see ``consistent.minimise``.

    Deviations are the larger ones of two: by the residual with its correlation, and by what the estimate changes if one
    of ten parts of the log is left out (jackknife, Efron & Tibshirani 1993, chapter 11). They count errors of the
    robot's model as far as these show them. Wrong masses of links do not show there: they look like a payload.

    The scale of the efforts of each joint is estimated, too, about 1 with the deviation ``constants_deviation``: the
    known torques of the arm tell it, and its error counts in all deviations. But a robot that was identified from
    efforts with the same error has it in its own parameters. Nothing shows it then, and mass and inertia are wrong in
    proportion: ``constants_deviation`` of them is added.

    Parameters
    ----------
    robot : Robot
        With its inertial parameters, rotor inertia, friction and gravity, without the payload to identify.
    log : Log
        A motion with the payload, without contact. With ``effort='torque_without_gravity'`` the driver subtracts the
        gravity torque of the arm without the payload.
    constants_deviation : float
        Relative standard deviation of the scale of each joint's efforts: that of torque sensors or, for currents, of
        torque constants, 0.1 for those of a data sheet. 0: they are right.

    Returns
    -------
    PayloadIdentification
        Its findings name signals that need ``Log.low_pass`` and a delay that ``Log.without_delay`` removes, too.

    Raises
    ------
    ArgumentError
        For a log with fewer than 100 samples or without a motion, for a robot with several tips, and for a deviation
        that is negative.
    """
    carrying_frame(robot.model, None)
    constants_deviation = float(validation.not_negative('constants_deviation', constants_deviation, (), ''))
    if len(log) < FEWEST:
        raise ArgumentError(f'log: expected {FEWEST} samples or more, got {len(log)}')
    if np.ptp(log.q, axis=0).max() < LEAST_MOTION:
        raise ArgumentError(f'log: the arm does not move: no joint by {LEAST_MOTION:g} rad (m)')
    n, qd, measured = robot.nv, log.qd, log.torque(robot)
    bare, Y = robot.inverse_dynamics(log.q, qd, log.qdd), robot.torque_regressor(log.q, qd, log.qdd)[..., -10:]
    columns = FrictionColumns.of(FRICTION, log, bare, robot.friction).at(robot.friction.transition).transpose(1, 2, 0)
    # a torque that is added to the efforts has no error of their scale
    added = robot.gravity_torque(log.q) if log.effort == 'torque_without_gravity' else 0.0
    noise = np.maximum(np.abs(measured).max(axis=0), 1e-9 * np.abs(bare).max())
    prior, accuracy, predicted, own = _prior(noise, constants_deviation), 1e-9 * noise, bare, np.zeros((n, OWN))
    for _ in range(STEPS):
        known = robot.friction_torque(qd, predicted)
        scaled = predicted + known + (columns * own[:, :-1]).sum(axis=2) - added
        values = np.concatenate([columns, scaled[..., None] * (constants_deviation > 0.0)], axis=2)
        target = measured - bare - known
        parts = [Regression.of(Y[it], values[it], target[it]) for it in np.array_split(np.arange(len(log)), PARTS)]
        weights = noise**-2.0
        fit = sum_of(parts).consistent_fit(weights, prior)
        own, predicted = fit.own, bare + Y @ fit.links
        error = target - Y @ fit.links - (values * own).sum(axis=2)
        times = correlation_times(error)
        # a joint's share of the parameters has been fitted to its independent samples
        free = np.maximum(1.0 - (OWN + len(fit.links) / n) * times / len(log), LEAST_FREE)
        noise = np.maximum(np.sqrt((error**2).mean(axis=0) * times / free), accuracy)
        mass, com, inertia = central_parameters(fit.links)
        prior = prior._replace(rows=_sphere(max(mass, LEAST_MASS), com))
    links, joints = map(np.array, zip(*fit.without(parts, weights), strict=True))
    jackknife, of_scales = _jackknife(links), _jackknife(joints[..., -1])
    of_links, of_joints = fit.deviations()
    deviation = np.maximum(of_links, np.linalg.norm(jackknife, axis=0))
    scale = 1.0 + own[:, -1]
    of_scale = np.maximum(of_joints[:, -1], np.linalg.norm(of_scales, axis=0)) * (constants_deviation > 0.0)
    deviation = np.hypot(deviation, constants_deviation * np.abs(fit.links))
    # c = h / m
    slope = np.column_stack([-com, np.eye(3), np.zeros((3, 6))]) / mass
    of_com = np.maximum(fit.deviations_of(slope), np.linalg.norm(jackknife @ slope.T, axis=0))
    why = f'its mass of {mass:.3g} kg has a standard deviation of {deviation[0]:.3g} kg'
    findings = [Finding('warning', 'payload', why)] if mass < 3.0 * deviation[0] else []
    findings += signal_findings(robot, log, measured, measured - error)
    findings += unit_findings('measured', measured, bare, f'{robot.name} without payload')
    findings += _scale_findings(robot.joint_names, scale, of_scale)
    rms, payload = np.sqrt((error**2).mean(axis=0)), Payload(mass, com, 0.5 * (inertia + inertia.T))
    return PayloadIdentification(payload, deviation, of_com, rms, tuple(findings), scale, of_scale)


def _prior(noise: np.ndarray, constants_deviation: float) -> Prior:
    """Return what payload, friction and scale are pulled to; ``noise`` (n,) is the largest torque of each joint."""
    # friction torques differ by no more than the largest torque
    ridges = np.tile(noise[:, None] ** -2.0, OWN)
    ridges[:, -1] = 0.0 if constants_deviation == 0.0 else constants_deviation**-2.0
    return Prior(FIRST.ten_parameters, 1.0, np.zeros(ridges.shape), ridges, [False] * OWN)


def _jackknife(without: np.ndarray) -> np.ndarray:
    """Return deviations (PARTS, k) whose norm is that of an estimate, from estimates without each part (PARTS, k)."""
    return np.sqrt((PARTS - 1) / PARTS) * (without - without.mean(axis=0))


def _scale_findings(names: Sequence[str], scale: np.ndarray, deviation: np.ndarray) -> Iterator[Finding]:
    """Yield the joints whose efforts have another scale than the robot's own parameters tell."""
    for name, factor, its in zip(names, scale, deviation, strict=True):
        if its > 0.0 and abs(factor - 1.0) > max(CLEAR * its, LEAST_SCALE):
            text = f'its efforts are {factor:.3f} +- {its:.3f} times those that the parameters of the robot tell'
            yield Finding('warning', f'joint {name!r}', f'{text}: its torque constant, or they, are wrong')


def _sphere(mass: float, com: np.ndarray) -> np.ndarray:
    """Return the ten parameters of a sphere with the radius of gyration ``GYRATION``."""
    return ten_parameters(mass, com, 2.0 * mass * GYRATION**2 * np.eye(3))
