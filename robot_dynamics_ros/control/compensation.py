"""What a published torque holds: a choice among gravity, Coriolis, inertia and friction."""

import numpy as np

from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.dynamics.friction import friction_torque
from robot_dynamics_ros.dynamics.jit import entry
from robot_dynamics_ros.robot import Robot

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')


@entry
def _add_friction(friction, qd, own, torque):
    """Write torque (n) += own (n), the friction at qd (n)."""
    friction_torque(friction, qd, own)
    for k in range(torque.shape[0]):
        torque[k] += own[k]


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
        self._friction = np.zeros(robot.nv)
        self._rest = np.zeros(robot.nv)

    @property
    def label(self) -> str:
        """The terms as one word, for a message's frame_id."""
        return '+'.join(self.terms)

    def torque(self, q, qd, qdd, out) -> None:
        """Write the sum of the chosen terms at q, qd, qdd (n each) into ``out`` (n, N m)."""
        self._robot.inverse_dynamics(
            q, qd if 'coriolis' in self.terms else self._rest, qdd if 'inertia' in self.terms else self._rest, out=out
        )
        if 'friction' in self.terms:
            _add_friction(self._robot.friction, qd, self._friction, out)
