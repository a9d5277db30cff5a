"""Compensation torque: the sum of chosen terms among gravity, Coriolis, inertia and friction."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.kernels.friction import friction_of
from robot_dynamics_ros.model.model import Friction
from robot_dynamics_ros.robot import Robot

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')
RIGID_BODY = frozenset(TERMS) - {'friction'}
FRICTIONAL = ('viscous', 'coulomb', 'offset', 'stribeck', 'load')  # friction is zero if all of these are


def add_friction(friction, qd, transmitted, torque) -> None:
    """Write torque (n) += friction at qd (n) and the ``transmitted`` torque (n), which may be ``torque`` itself.

    The rows of ``friction`` (7, n) are the fields of ``model.Friction``.
    """
    for i in range(torque.shape[0]):
        torque[i] += friction_of(
            friction[0, i],
            friction[1, i],
            friction[2, i],
            friction[3, i],
            friction[4, i],
            friction[5, i],
            friction[6, i],
            qd[i],
            transmitted[i],
        )


def frictionless(friction: Friction) -> Friction:
    """Return ``friction`` with zero for each of ``FRICTIONAL``."""
    return friction._replace(**dict.fromkeys(FRICTIONAL, np.zeros(len(friction.viscous))))


class Compensation:
    """Sum of torque terms of one robot: tau = M qdd + c(q, qd) + g(q) + friction(qd), or some of these terms.

    Parameters
    ----------
    robot : Robot
    terms : sequence of str
        One or more of ``TERMS``, each once.

    Raises
    ------
    ArgumentError
        For an unknown or repeated term, or none.
    """

    def __init__(self, robot: Robot, terms):
        terms = list(terms)
        unknown = [term for term in terms if term not in TERMS]
        if unknown or not terms or len(set(terms)) < len(terms):
            raise ArgumentError(f'compensation: expected one or more of {", ".join(TERMS)}, each once, got {terms}')
        self.terms = tuple(term for term in TERMS if term in terms)
        # RNEA is the sum of its three terms: with zero gravity, qd or qdd it omits the corresponding one
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        self._inertia, self._coriolis = 'inertia' in terms, 'coriolis' in terms
        self._zeros = vector = np.zeros(robot.nv)
        friction = robot.friction
        parameters = np.array(friction if 'friction' in terms else frictionless(friction))
        self._add_friction = bound(add_friction, parameters, then=(vector, vector, vector))
        # load-dependent friction depends on the whole transmitted torque, terms of the robot's controller included
        self._whole = robot if friction.load.any() and not RIGID_BODY.issubset(terms) else None
        self._transmitted = np.zeros(robot.nv)

    def torque(self, q, qd, qdd, out) -> None:
        """Compute the sum of the chosen terms.

        Parameters
        ----------
        q, qd, qdd : ndarray, (n,)
            Positions, velocities and accelerations in rad, rad/s and rad/s^2 (prismatic joints: m, m/s and m/s^2).
        out : ndarray, (n,)
            Receives the torque, N m (prismatic joints: N).
        """
        chosen = q, qd if self._coriolis else self._zeros, qdd if self._inertia else self._zeros
        self._robot.inverse_dynamics(*chosen, out=out)
        transmitted = out
        if self._whole:
            transmitted = self._whole.inverse_dynamics(q, qd, qdd, out=self._transmitted)
        self._add_friction(qd, transmitted, out)
