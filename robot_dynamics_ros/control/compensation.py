"""What a published torque holds: a choice among gravity, Coriolis, inertia and friction."""

import numpy as np

from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.dynamics.friction import friction_of
from robot_dynamics_ros.dynamics.jit import entry
from robot_dynamics_ros.robot import Robot

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')


@entry
def _add_friction(friction, qd, torque):
    """Write torque (n) += friction at qd (n), its parameters the rows of ``friction`` (4, n)."""
    for i in range(torque.shape[0]):
        torque[i] += friction_of(friction[0, i], friction[1, i], friction[2, i], friction[3, i], qd[i])


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
        self._friction = np.array(robot.friction) if 'friction' in terms else None

    @property
    def label(self) -> str:
        """The terms as one word, for a message's frame_id."""
        return '+'.join(self.terms)

    def torque(self, q, qd, qdd, out) -> None:
        """Write the sum of the chosen terms at q, qd, qdd (n each) into ``out`` (n, N m)."""
        self._robot.inverse_dynamics(
            q, qd if self._coriolis else self._rest, qdd if self._inertia else self._rest, out=out
        )
        if self._friction is not None:
            _add_friction(self._friction, qd, out)
