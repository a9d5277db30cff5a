"""Propose stiffness and damping of torque_controller for a robot, from its mass matrix and the rate of joint_states."""

import argparse
import math

import yaml

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.laws.gain_limits import LIMIT, counted_period, propose_gains
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import IMPEDANCE
from robot_dynamics_ros.control.laws.impedance.impedance_limits import largest_stiffness
from robot_dynamics_ros.control.laws.impedance.impedance_proposal import (
    DAMPING_RATIO,
    EQUALLY_STIFF,
    SOFT,
    propose_impedance,
)
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.reported_errors import reported_errors
from robot_dynamics_ros.tools.robot_options import add_lock_option, add_robot_options, driven_robot_of

WIDTHS = 10, 11, 11, 10
COLUMNS = f'{"":24}{"inertia":>10}{"bandwidth":>11}{"stiffness":>11}{"damping":>10}'
UNITS = f'{"":24}{"kg m^2":>10}{"rad/s":>11}{"N m/rad":>11}{"N m s/rad":>10}'


def main() -> None:
    """Print a table and a parameter file; on an error exit with 1 and the reason."""
    parser = argparse.ArgumentParser(prog='robot_dynamics_propose_gains', description=__doc__)
    add_robot_options(parser)
    add_lock_option(parser)
    parser.add_argument('--rate', type=float, required=True, help='rate of joint_states, Hz')
    parser.add_argument(
        '--bandwidth', type=float, default=10.0, help='of the position control or posture, rad/s (default: 10)'
    )
    parser.add_argument('--delay', type=float, default=0.0, help='of the torque, s (torque_delay of torque_controller)')
    parser.add_argument(
        '--impedance-frame',
        metavar='FRAME',
        help=f'propose the stiffness of this link or frame by {IMPEDANCE}, in place of gains of joints',
    )
    options = parser.parse_args()
    with reported_errors(parser.prog):
        robot = driven_robot_of(options)
        late = f', {options.delay:g} s late' if options.delay else ''
        title = f'# {robot.name} at {options.rate:g} Hz{late}'
        print_proposal = print_gains if options.impedance_frame is None else print_impedance
        print_proposal(title, robot, options)


def print_gains(title: str, robot: Robot | DrivenRobot, options) -> None:
    """Print gains of the joints as a table and as parameters."""
    period = counted_period(1.0 / options.rate, options.delay)
    proposed = propose_gains(robot, options.rate, options.bandwidth, options.delay)
    rotation, *_, translation = largest_stiffness(robot, EQUALLY_STIFF, period)
    print(f'{title}; prismatic joints: m for rad, N for N m, kg for kg m^2')
    print(f'# {COLUMNS}\n# {UNITS}')
    for name, *values in zip(
        robot.joint_names, proposed.inertia, proposed.bandwidth, proposed.stiffness, proposed.damping, strict=True
    ):
        print(f'# {name:24}' + ''.join(f'{value:>{width}.4g}' for value, width in zip(values, WIDTHS, strict=True)))
    print_without_rotors(robot, 'gains')
    print(f'# largest damping times period over inertia: {proposed.eigenvalue:.2g}; unstable from {LIMIT:g} on')
    slowed = [name for name, w in zip(robot.joint_names, proposed.bandwidth, strict=True) if w < options.bandwidth]
    if slowed:
        print(f'# slower than asked, for the rate: {", ".join(slowed)}')
    print(
        f'# cartesian_impedance of the last link with damping_ratio 0.7: stable below {translation:.3g} N/m and '
        f'{rotation:.3g} N m/rad'
    )
    print('/**/torque_controller:\n  ros__parameters:')
    for name in ('stiffness', 'damping'):
        print(f'    {name}: [{", ".join(decimal(value) for value in getattr(proposed, name))}]')
    if options.delay:
        print(f'    torque_delay: {options.delay!r}')


def print_impedance(title: str, robot: Robot | DrivenRobot, options) -> None:
    """Print a Cartesian impedance as parameters."""
    frame = options.impedance_frame
    proposed = propose_impedance(robot, frame, options.rate, options.bandwidth, options.delay)
    rotation, *_, translation = proposed.largest
    parameters = proposed.parameters(frame, options.rate, options.delay)
    print(title)
    print(
        f'# {frame} by {IMPEDANCE} with damping_ratio {DAMPING_RATIO:g}: stable below {translation:.3g} N/m and '
        f'{rotation:.3g} N m/rad\n# proposed: a quarter of that, but no more than {SOFT:g} N/m'
    )
    print_without_rotors(robot, 'limits')
    text = {'/**/torque_controller': {'ros__parameters': parameters}}
    print(yaml.safe_dump(text, sort_keys=False, default_flow_style=None, width=math.inf), end='')


def print_without_rotors(robot: Robot | DrivenRobot, judged: str) -> None:
    """Print which joints have no rotor inertia, by which what is ``judged`` is too low."""
    names = [name for name, inertia in zip(robot.joint_names, robot.rotor_inertia, strict=True) if not inertia]
    if names:
        print(
            f'# no rotor inertia is known for {", ".join(names)}: state it (--actuators) or identify it; '
            f'these {judged} are those of the links alone'
        )


def decimal(value: float) -> str:
    """Return a gain with three digits, as a floating-point number of YAML."""
    return repr(float(f'{value:.3g}'))


if __name__ == '__main__':
    main()
