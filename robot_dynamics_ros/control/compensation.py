"""Torque terms of a published torque: a choice among gravity, Coriolis, inertia and friction."""

import numpy as np

from robot_dynamics_ros.compiler.numpy_abi import call
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.decorators import bound, entry
from robot_dynamics_ros.kernels.friction import friction_of
from robot_dynamics_ros.model.model import Friction
from robot_dynamics_ros.robot import Robot

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')
RIGID_BODY = frozenset(TERMS) - {'friction'}
FRICTIONAL = ('viscous', 'coulomb', 'offset', 'stribeck', 'load')  # figures of friction, without which there is none


@entry
def add_friction(friction, qd, transmitted, torque):
    """Write torque (n) += friction at qd (n) under the torque ``transmitted`` (n; it may be ``torque`` itself).

    The rows of ``friction`` (7, n) are those of ``model.Friction``.
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


@entry
def _torque_at(inverse_dynamics, load, friction, q, qd, qdd, speed, torque):
    """Write torque (n) = RNEA at q, qd, qdd + friction at ``speed`` (n each); return False where RNEA is not finite.

    ``inverse_dynamics`` is the address of the robot's program, ``load`` (19) what that reads at run time.
    """
    if not call(inverse_dynamics, (q, qd, qdd, load, torque)):
        return False
    add_friction(friction, speed, torque, torque)
    return True


def frictionless(friction: Friction) -> Friction:
    """Return ``friction`` with all parts of it zero."""
    return friction._replace(**dict.fromkeys(FRICTIONAL, np.zeros(len(friction.viscous))))


class Compensation:
    """The sum of the chosen terms for one robot: ready at once, evaluated per message."""

    def __init__(self, robot: Robot, terms):
        """Choose ``terms`` among ``TERMS``; ArgumentError for an unknown, repeated or empty choice."""
        terms = list(terms)
        unknown = [term for term in terms if term not in TERMS]
        if unknown or not terms or len(set(terms)) < len(terms):
            raise ArgumentError(f'compensation: expected a choice among {", ".join(TERMS)}, each once, got {terms}')
        self.terms = tuple(term for term in TERMS if term in terms)
        # RNEA is the sum of its three terms: one call without what is not chosen gives the chosen sum
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        self._inertia, self._coriolis = 'inertia' in terms, 'coriolis' in terms
        self._rest = np.zeros(robot.nv)
        friction = robot.friction
        parameters = np.array(friction if 'friction' in terms else frictionless(friction))
        vector = self._rest
        self._add_friction = bound(add_friction, parameters, then=(vector, vector, vector))
        # friction that grows with the load is that of all torque that is transmitted, whoever gives it
        self._whole = robot if friction.load.any() and not RIGID_BODY.issubset(terms) else None
        self._transmitted = np.zeros(robot.nv)
        # one compiled call where one robot's torque is all that is needed
        self._torque_at = None
        if self._robot.binding == 'specialised' and not self._whole:
            program = self._robot.address('inverse_dynamics')
            self._torque_at = bound(_torque_at, program, self._robot.load, parameters, then=(vector,) * 5)

    def torque(self, q, qd, qdd, out) -> None:
        """Write the sum of the chosen terms at q, qd, qdd (n each) into ``out`` (n, N m), float64 arrays all."""
        chosen = q, qd if self._coriolis else self._rest, qdd if self._inertia else self._rest
        if self._torque_at and self._torque_at(*chosen, qd, out):
            return
        self._robot.inverse_dynamics(*chosen, out=out)
        transmitted = out
        if self._whole:
            transmitted = self._whole.inverse_dynamics(q, qd, qdd, out=self._transmitted)
        self._add_friction(qd, transmitted, out)
