"""What a published torque holds: a choice among gravity, Coriolis, inertia and friction."""

from functools import partial

import numpy as np

from robot_dynamics_ros.codegen.boundary import call
from robot_dynamics_ros.control.trajectory import Trajectory, sample
from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.dynamics.friction import friction_of
from robot_dynamics_ros.dynamics.jit import bound, entry
from robot_dynamics_ros.dynamics.model import Friction
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
def _torque_along(starts, coefficients, final, desired, inverse_dynamics, q, qd, qdd, load, friction, speed, torque, t):
    """Write torque (n) at ``t`` s of a trajectory: its motion into ``desired``, RNEA, friction.

    ``inverse_dynamics`` is the program's address; it reads q, qd, qdd (n each) and ``load``, friction reads ``speed``
    (n). Which of them are rows of ``desired`` (3, n), measured, or zero is the caller's to say.
    """
    sample(starts, coefficients, final, desired[0], desired[1], desired[2], t)
    call(inverse_dynamics, (q, qd, qdd, load, torque))
    add_friction(friction, speed, torque, torque)


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
        self._friction = np.array(friction if 'friction' in terms else frictionless(friction))
        # friction that grows with the load is that of all torque that is transmitted, whoever gives it
        self._whole = robot if friction.load.any() and not RIGID_BODY.issubset(terms) else None
        self._transmitted = np.zeros(robot.nv)

    @property
    def label(self) -> str:
        """The terms as one word, for a message's frame_id."""
        return '+'.join(self.terms)

    def torque(self, q, qd, qdd, out) -> None:
        """Write the sum of the chosen terms at q, qd, qdd (n each) into ``out`` (n, N m)."""
        self._robot.inverse_dynamics(
            q, qd if self._coriolis else self._rest, qdd if self._inertia else self._rest, out=out
        )
        transmitted = out
        if self._whole:
            transmitted = self._whole.inverse_dynamics(q, qd, qdd, out=self._transmitted)
        add_friction(self._friction, qd, transmitted, out)

    def along(self, trajectory: Trajectory, desired, out, measured=None):
        """Return a function of the time (s, not before the trajectory's start) that writes the torque into ``out``.

        It writes the trajectory's motion into ``desired`` (3, n). Positions and velocities of the torque are those of
        ``measured`` (q, qd; n each), where given. One compiled call does it all where the robot is specialised, unless
        friction grows with a torque of which only some terms are chosen.
        """
        q, qd = measured or desired[:2]
        if self._robot.binding != 'specialised' or self._whole:
            return partial(self._sampled, trajectory.sampler(*desired), q, qd, desired[2], out)
        return bound(
            _torque_along,
            *trajectory.segments,
            desired,
            self._robot.address('inverse_dynamics'),
            q,
            qd if self._coriolis else self._rest,
            desired[2] if self._inertia else self._rest,
            self._robot.load,
            self._friction,
            qd,
            out,
            then=(0.0,),
        )

    def _sampled(self, sampler, q, qd, qdd, out, t: float) -> None:
        """Write the torque at ``t`` s in single steps."""
        sampler(t)
        self.torque(q, qd, qdd, out)
