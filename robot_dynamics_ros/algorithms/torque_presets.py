"""Kinds of robots by the torque terms that they compensate themselves: what nodes and exported libraries know of them.

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

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')
"""Terms of the model, all of which are added by default."""


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
