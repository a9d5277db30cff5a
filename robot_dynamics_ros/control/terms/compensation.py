"""Compensation torque: the sum of chosen terms among gravity, Coriolis, inertia, friction and a learnt residual."""

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.algorithms.torque_presets import TERMS
from robot_dynamics_ros.control.joints.joint_friction import friction_adder
from robot_dynamics_ros.control.terms.residual_torque import ResidualTorque
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.residual import ResidualModel
from robot_dynamics_ros.robot import Robot

RESIDUAL = 'residual'
"""The term that is only added where it is asked for."""
KNOWN_TERMS = (*TERMS, RESIDUAL)
RIGID_BODY = frozenset(TERMS) - {'friction'}


def checked_terms(terms) -> tuple[str, ...]:
    """Return torque terms in the order of ``KNOWN_TERMS``.

    ArgumentError for an unknown or repeated term, for none, and for a residual, the rest of friction, without it.
    """
    terms = list(terms)
    unknown = [term for term in terms if term not in KNOWN_TERMS]
    if unknown or not terms or len(set(terms)) < len(terms):
        raise ArgumentError(f'compensation: expected one or more of {", ".join(KNOWN_TERMS)}, each once, got {terms}')
    if RESIDUAL in terms and 'friction' not in terms:
        raise ArgumentError(
            'compensation: residual is what the model with friction leaves, and needs the term friction'
        )
    return tuple(term for term in KNOWN_TERMS if term in terms)


class Compensation:
    """Sum of torque terms of one robot: tau = M qdd + c(q, qd) + g(q) + friction(qd) + residual(q, qd), or a part.

    Parameters
    ----------
    robot : Robot
    terms : sequence of str
        One or more of ``KNOWN_TERMS``, each once.
    residual : ResidualModel, optional
        The model of the term 'residual'.

    Raises
    ------
    ArgumentError
        As ``checked_terms`` and ``ResidualTorque``; where only one of the term 'residual' and its model is given.
    """

    def __init__(self, robot: Robot, terms: Sequence[str], residual: ResidualModel | None = None):
        self.terms: tuple[str, ...] = checked_terms(terms)
        if (RESIDUAL in self.terms) != (residual is not None):
            lacks = 'compensation lacks the term residual' if residual else 'the term residual needs a file'
            raise ArgumentError(f'residual_file: {lacks}; state both, or neither')
        self._residual = ResidualTorque(robot, residual) if residual else None
        # RNEA is the sum of its three terms: with zero gravity, qd or qdd it omits the corresponding one
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        self._robot.prepare('inverse_dynamics')
        self._inertia, self._coriolis = 'inertia' in terms, 'coriolis' in terms
        self._zeros = np.zeros(robot.nv)
        friction = robot.friction
        self._add_friction = friction_adder(robot, terms)
        # load-dependent friction depends on the whole transmitted torque, terms of the robot's controller included
        self._whole = robot if friction.load.any() and not RIGID_BODY.issubset(terms) else None
        if self._whole:
            self._whole.prepare('inverse_dynamics')
        self._transmitted = np.zeros(robot.nv)

    def torque(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, out: np.ndarray) -> None:
        """Compute the sum of the chosen terms.

        Parameters
        ----------
        q, qd, qdd : ndarray, (n,)
            Positions, velocities and accelerations in rad, rad/s and rad/s^2 (prismatic joints: m, m/s and m/s^2).
        out : ndarray, (n,)
            Receives the torque, N m (prismatic joints: N).
        """
        self.with_friction_at(qd, q, qd, qdd, out)

    def with_friction_at(
        self, qd_friction: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, out: np.ndarray
    ) -> None:
        """Compute the sum as ``torque`` does, with friction and residual at another velocity (n)."""
        chosen = q, qd if self._coriolis else self._zeros, qdd if self._inertia else self._zeros
        self._robot.inverse_dynamics(*chosen, out=out)
        transmitted = out
        if self._whole:
            transmitted = self._whole.inverse_dynamics(q, qd, qdd, out=self._transmitted)
        self._add_friction(q, qd_friction, transmitted, out)
        if self._residual:
            self._residual.add(q, qd_friction, out)


class MeasuredCompensation:
    """``Compensation`` at a measured state; friction and residual are those of the desired velocity.

    Friction of the measured velocity is positive feedback: it pushes a joint on in the direction in which it moves, at
    rest with the slope coulomb / transition velocity, so that a joint that should stand swings.
    """

    def __init__(self, robot: Robot, terms, residual: ResidualModel | None = None):
        """Sum the terms as ``Compensation`` does, with the same arguments and errors."""
        self._compensation = Compensation(robot, terms, residual)

    def torque(self, q, qd, qdd, qd_desired, out) -> None:
        """Compute the sum at measured q and qd, and desired qdd and qd_desired, (n) each, into ``out`` (n)."""
        self._compensation.with_friction_at(qd_desired, q, qd, qdd, out)
