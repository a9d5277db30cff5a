"""Who adds which torque: a term that the robot's own controller adds must not come from a node as well.

Terms that the robot adds, by its maker's documentation (doc/presets.md has the table and the addresses):

franka            gravity, friction: libfranka takes joint torques "without gravity and friction" (franka::Torques)
ur_direct_torque  gravity, friction: URScript direct_torque always adds gravity, and friction by default (script manual,
                  SW 5.25.1: viscous_scale 0.8 to 0.9, coulomb_scale 0.7 to 0.8; before that friction_comp)
kuka_fri          gravity, friction: a torque overlay on the joint impedance controller, which carries the arm; the
                  driver kuka_drivers has it compensate friction too (joint torque control)
effort_controller nothing: the controllers of ros2_control write the command to the effort interface as it is
sim               nothing: the command is the force on the joint

Adding gravity twice throws the arm; adding friction twice makes a joint move by itself.
"""

from typing import NamedTuple

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.compensation import TERMS
from robot_dynamics_ros.errors import ArgumentError

OWNERS = ('node', 'robot')


class Preset(NamedTuple):
    """What is known of a kind of robot."""

    of_robot: tuple[str, ...] = ()  # terms that it compensates itself
    takes_commands: bool = True


PRESETS = {
    'sim': Preset(),
    'effort_controller': Preset(),
    'franka': Preset(of_robot=('gravity', 'friction')),
    'ur_direct_torque': Preset(of_robot=('gravity', 'friction')),
    'kuka_fri': Preset(of_robot=('gravity', 'friction')),
    'monitor_only': Preset(takes_commands=False),
}
"""``monitor_only`` is for arms that take no torque, as the AUBO-i5: no command array is published."""


class Ownership:
    """``terms`` are what a node adds, for ``Compensation``; ``robot_terms`` what the robot adds itself.

    ``takes_commands`` says whether to publish commands.
    """

    def __init__(self, preset: str, gravity_owner: str, wanted):
        """Settle it: ``wanted`` are terms, [''] all that the robot does not add itself; '' leaves a choice to the rest.

        Raises ArgumentError for an unknown preset or owner, and for choices that contradict each other.
        """
        if gravity_owner and gravity_owner not in OWNERS:
            raise ArgumentError(f'gravity_owner: expected node or robot, got {gravity_owner!r}')
        known = PRESETS[validation.choice('preset', preset, PRESETS)] if preset else Preset()
        owner = 'robot' if 'gravity' in known.of_robot else 'node'
        if preset and gravity_owner and gravity_owner != owner:
            raise ArgumentError(f'gravity_owner {gravity_owner} contradicts preset {preset}, where it is the {owner}')
        self.gravity_owner = gravity_owner or owner
        self.robot_terms = frozenset({*known.of_robot, *(('gravity',) if self.gravity_owner == 'robot' else ())})
        chosen = [term for term in wanted if term]
        twice = [term for term in chosen if term in self.robot_terms]
        if twice:
            said = f'preset {preset}' if preset else f'gravity_owner {self.gravity_owner}'
            raise ArgumentError(f'compensation: {twice[0]} would be added twice: with {said} the robot adds it itself')
        self.terms = tuple(chosen or (term for term in TERMS if term not in self.robot_terms))
        self.takes_commands = known.takes_commands
