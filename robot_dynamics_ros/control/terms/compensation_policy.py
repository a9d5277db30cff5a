"""Compensation policy: which torque terms a node adds, and which the robot compensates itself, by preset.

Terms that the robot compensates, by its manufacturer's documentation (table and addresses: doc/concepts/presets.md):

franka            gravity, friction: libfranka takes joint torques "without gravity and friction" (franka::Torques)
ur_direct_torque  gravity, friction: URScript direct_torque always adds gravity, and friction by default (script manual,
                  SW 5.25.1: viscous_scale 0.8 to 0.9, coulomb_scale 0.7 to 0.8; before that friction_comp)
kuka_fri          gravity, friction: the torque is added to that of the joint impedance controller, which compensates
                  gravity; the driver kuka_drivers enables its friction compensation (joint torque control)
effort_controller nothing: the controllers of ros2_control write the command to the effort interface as it is
motor_pd          nothing: motors of the MIT type add kp (q_d - q) + kd (qd_d - qd) to the torque that they are sent
sim               nothing: the command is the force on the joint

Gravity that is compensated twice accelerates the arm upwards; friction that is compensated twice makes a joint move by
itself.
"""

from typing import NamedTuple

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.errors import ArgumentError

OWNERS = ('node', 'robot')


class Preset(NamedTuple):
    """A kind of robot: the terms that it compensates itself, and which commands it accepts.

    ``motor_pd``: its motors add a PD to the torque command, about a position command. ``fade_in_time`` is the duration
    of the torque's fade-in where none is stated, s.
    """

    robot_terms: tuple[str, ...] = ()
    takes_commands: bool = True
    motor_pd: bool = False
    fade_in_time: float = 0.0


PRESETS = {
    'sim': Preset(),
    'effort_controller': Preset(),
    'motor_pd': Preset(motor_pd=True, fade_in_time=1.0),
    'franka': Preset(robot_terms=('gravity', 'friction')),
    'ur_direct_torque': Preset(robot_terms=('gravity', 'friction')),
    'kuka_fri': Preset(robot_terms=('gravity', 'friction')),
    'monitor_only': Preset(takes_commands=False),
}
"""``monitor_only`` is for arms that accept no torque commands, such as the AUBO-i5: no command array is published."""


class CompensationPolicy:
    """Torque ``terms`` that a node adds, ``robot_terms`` that the robot compensates, and ``gravity_owner`` of both.

    ``takes_commands``, ``motor_pd`` and ``fade_in_time`` are those of the ``Preset``.
    """

    def __init__(self, preset: str, gravity_owner: str, wanted):
        """Derive the terms from three parameters; '' leaves ``preset`` or ``gravity_owner`` open.

        ``wanted`` are the terms of the node; ['']: all that the robot does not compensate. Raises ArgumentError for an
        unknown preset or owner, and for contradicting values.
        """
        if gravity_owner:
            validation.choice('gravity_owner', gravity_owner, OWNERS)
        known = PRESETS[validation.choice('preset', preset, PRESETS)] if preset else Preset()
        owner = 'robot' if 'gravity' in known.robot_terms else 'node'
        if preset and gravity_owner and gravity_owner != owner:
            raise ArgumentError(
                f'gravity_owner {gravity_owner} contradicts preset {preset}, whose gravity_owner is {owner}; '
                'leave one of them empty'
            )
        self.gravity_owner = gravity_owner or owner
        self.robot_terms = frozenset({*known.robot_terms, *(('gravity',) if self.gravity_owner == 'robot' else ())})
        chosen = [term for term in wanted if term]
        twice = [term for term in chosen if term in self.robot_terms]
        if twice:
            source = f'preset {preset}' if preset else f'gravity_owner {self.gravity_owner}'
            raise ArgumentError(
                f'compensation: {twice[0]} would be added twice: with {source} the robot adds it itself; remove it'
            )
        self.terms = tuple(chosen or (term for term in TERMS if term not in self.robot_terms))
        self.takes_commands, self.motor_pd = known.takes_commands, known.motor_pd
        self.fade_in_time = known.fade_in_time
