"""Who adds which torque: what a robot's own controller compensates must not come from a node once more.

Franka (libfranka: commanded torques are without gravity and friction), UR (direct torque: gravity is compensated) and
KUKA FRI (the torque overlay adds to a controller that carries the arm) add gravity themselves; added twice it throws
the arm.
"""

from typing import NamedTuple

from robot_dynamics_ros import arguments
from robot_dynamics_ros.control.compensation import TERMS
from robot_dynamics_ros.dynamics.errors import ArgumentError

OWNERS = ('node', 'robot')


class Preset(NamedTuple):
    """What is known of a kind of robot."""

    of_robot: tuple[str, ...] = ()  # terms that it compensates itself
    takes_commands: bool = True


PRESETS = {
    'sim': Preset(),
    'effort_controller': Preset(),
    'franka': Preset(of_robot=('gravity', 'friction')),
    'ur_direct_torque': Preset(of_robot=('gravity',)),
    'kuka_fri': Preset(of_robot=('gravity',)),
    'monitor_only': Preset(takes_commands=False),
}
"""``monitor_only`` is for arms that take no torque, as the AUBO-i5: torques are told, no command array is published."""


class Ownership:
    """``terms`` are what a node adds, for ``Compensation``; ``takes_commands`` whether to publish commands."""

    def __init__(self, preset: str, gravity_owner: str, wanted):
        """Settle it: ``wanted`` are terms, [''] all that the robot does not add itself; '' leaves a choice to the rest.

        Raises ArgumentError for an unknown preset or owner, and for choices that contradict each other.
        """
        if gravity_owner and gravity_owner not in OWNERS:
            raise ArgumentError(f'gravity_owner: expected node or robot, got {gravity_owner!r}')
        known = PRESETS[arguments.choice('preset', preset, PRESETS)] if preset else Preset()
        owner = 'robot' if 'gravity' in known.of_robot else 'node'
        if preset and gravity_owner and gravity_owner != owner:
            raise ArgumentError(f'gravity_owner {gravity_owner} contradicts preset {preset}, where it is the {owner}')
        self.gravity_owner = gravity_owner or owner
        of_robot = {*known.of_robot, *(('gravity',) if self.gravity_owner == 'robot' else ())}
        chosen = [term for term in wanted if term]
        twice = [term for term in chosen if term in of_robot]
        if twice:
            said = f'preset {preset}' if preset else f'gravity_owner {self.gravity_owner}'
            raise ArgumentError(f'compensation: {twice[0]} would be added twice: with {said} the robot adds it itself')
        self.terms = tuple(chosen or (term for term in TERMS if term not in of_robot))
        self.takes_commands = known.takes_commands
