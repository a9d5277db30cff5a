"""Identification of the payload on the last link from a motion of a robot whose own parameters are known."""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.friction_terms import FrictionColumns
from robot_dynamics_ros.identification.log import Log
from robot_dynamics_ros.identification.log_findings import unit_findings
from robot_dynamics_ros.identification.regression import Prior, Regression
from robot_dynamics_ros.identification.signals import correlation_times
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.payload import Payload, carrying_frame
from robot_dynamics_ros.robot import Robot

PRIOR = Payload.sphere(1.0, 0.1)
"""A body about the last link's origin, and its weight, that of one measurement: for what the motion does not excite."""
FRICTION = ('viscous', 'offset', 'coulomb')
"""Terms that are estimated with the payload."""
FEWEST = 100
"""Least number of samples."""
LEAST_MOTION = 0.1
"""Least range of positions of the joint that moves most, rad (m)."""
STEPS = 8
"""After each of them noise and load-dependent friction are estimated anew."""


class PayloadIdentification(NamedTuple):
    """A payload that is identified; deviations are standard deviations, by the residual as it is seen."""

    payload: Payload  # in the frame of the last link
    standard_deviation: np.ndarray  # (10,)  of payload.ten_parameters
    com_deviation: np.ndarray  # (3,) m
    rms: np.ndarray  # (n,) N m, N           of measured minus predicted torque
    findings: tuple[Finding, ...]


def identify_payload(robot: Robot, log: Log) -> PayloadIdentification:
    """Identify the payload on the last link: mass, centre of mass and inertia.

    The joint torque is inverse dynamics of ``robot`` plus friction plus Y pi, with the regressor Y of the last link.
    Viscous and Coulomb friction and the offset of each joint are estimated, too, so that friction which differs from
    that of ``robot`` is not taken for a payload. The estimate minimises the squared errors, by the noise of each joint,
    plus a weak divergence from a sphere of 1 kg: see ``consistent.minimise``.

    Deviations count errors of the robot's model as far as the residual shows them. Wrong masses of links do not show
    there: they look like a payload.

    Parameters
    ----------
    robot : Robot
        With its inertial parameters, rotor inertia, friction and gravity, without the payload to identify.
    log : Log
        A motion with the payload, without contact. With ``effort='torque_without_gravity'`` the driver subtracts the
        gravity torque of the arm without the payload.

    Returns
    -------
    PayloadIdentification

    Raises
    ------
    ArgumentError
        For a log with fewer than 100 samples or without a motion, and for a robot with several tips.
    """
    carrying_frame(robot.model, None)
    if len(log) < FEWEST:
        raise ArgumentError(f'log: expected {FEWEST} samples or more, got {len(log)}')
    if np.ptp(log.q, axis=0).max() < LEAST_MOTION:
        raise ArgumentError(f'log: the arm does not move: no joint by {LEAST_MOTION:g} rad (m)')
    n, qd, measured = robot.nv, log.qd, log.torque(robot)
    bare, Y = robot.inverse_dynamics(log.q, qd, log.qdd), robot.torque_regressor(log.q, qd, log.qdd)[..., -10:]
    columns = FrictionColumns.of(FRICTION, log, bare, robot.friction).at(robot.friction.transition)
    noise = np.maximum(np.abs(measured).max(axis=0), 1e-9 * np.abs(bare).max())
    # friction torques differ by no more than the largest torque
    prior = Prior(PRIOR.ten_parameters, 1.0, np.zeros((n, 3)), np.tile(noise[:, None] ** -2.0, 3), [False] * 3)
    accuracy, predicted = 1e-9 * noise, bare
    for _ in range(STEPS):
        known = bare + robot.friction_torque(qd, predicted)
        fit = Regression.of(Y, columns.transpose(1, 2, 0), measured - known).consistent_fit(noise**-2.0, prior)
        predicted = bare + Y @ fit.links
        error = measured - known - Y @ fit.links - (columns * fit.own.T[:, None]).sum(axis=0)
        noise = np.maximum(np.sqrt((error**2).mean(axis=0) * correlation_times(error)), accuracy)
    deviation, (mass, com, inertia) = fit.deviations()[0], central_parameters(fit.links)
    # c = h / m
    of_com = fit.deviations_of(np.column_stack([-com, np.eye(3), np.zeros((3, 6))]) / mass)
    why = f'its mass of {mass:.3g} kg has a standard deviation of {deviation[0]:.3g} kg'
    findings = [Finding('warning', 'payload', why)] if mass < 3.0 * deviation[0] else []
    findings += unit_findings('measured', measured, bare, f'{robot.name} without payload')
    rms, payload = np.sqrt((error**2).mean(axis=0)), Payload(mass, com, 0.5 * (inertia + inertia.T))
    return PayloadIdentification(payload, deviation, of_com, rms, tuple(findings))
