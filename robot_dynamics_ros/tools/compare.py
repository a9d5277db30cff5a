"""Compare the formulations of rigid-body dynamics with each other and with the compiled kernels; draw figures."""

import argparse
import time
from pathlib import Path

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.trajectories.motion_profiles import SampledMotion
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.comparison.comparison import PRINTED, SIX, Comparison, compare
from robot_dynamics_ros.tools.comparison.comparison_figures import STEP, figures
from robot_dynamics_ros.tools.comparison.comparison_motions import MOTIONS, motion_of
from robot_dynamics_ros.tools.needed_packages import check_packages
from robot_dynamics_ros.tools.reported_errors import reported_errors
from robot_dynamics_ros.tools.robot_options import add_xacro_option, stated_description

COMMAND = 'robot_dynamics_compare'
PACKAGES = ('matplotlib', 'plotly', 'scipy')
"""Python packages of the figures; ``--view`` needs ``VIEW_PACKAGES``, too."""
VIEW_PACKAGES = ('viser', 'trimesh')


class OneLineParser(argparse.ArgumentParser):
    """A parser that ends the program with one line for a wrong option."""

    def error(self, message):
        """Print the message and exit with 1."""
        self.exit(1, f'{self.prog}: {message}\n')


def main(arguments=None) -> None:
    """Print the comparison and write the figures; on an error exit with 1 and one line."""
    options = parser().parse_args(arguments)
    with reported_errors(COMMAND):
        run(options)


def run(options) -> None:
    """Check all options first, so that a wrong one ends the command early."""
    check_packages([*PACKAGES, *(VIEW_PACKAGES if options.view else ())])
    from robot_dynamics_ros.tools.figures.figure_files import write_figures  # noqa: PLC0415  (needs matplotlib)

    validation.output_folder('--output', options.output)
    options.robot = stated_description(options)
    described = Robot.from_description(options.robot, loops_file=options.loops)
    robot = described.chain(options.base_link, options.tip_link, options.gravity)
    masses = _masses(options.payload)
    com = validation.finite('--com', options.com, (3,))
    step = _step(options.step)
    tip_wrench = validation.finite('--tip-wrench', options.tip_wrench, (6,))
    motion = motion_of(
        robot, options.motion, options.start, options.end, options.duration, options.states, options.seed
    )
    print(f'{robot.name}: {", ".join(robot.joint_names)}')
    print(f'motion: {options.motion}, {motion.t[-1]:g} s, {len(motion.t)} states', flush=True)
    compared = compare(robot, motion.q, motion.qd, motion.qdd, tip_wrench, say)
    print()
    print(table_of_ways(compared))
    for name, (products, sums) in PRINTED.items() if robot.nv == SIX else ():
        print(f'printed: {name}, six joints: {products} products, {sums} sums (Hollerbach 1980)')
    print()
    print(table_of_disagreements(compared))
    for reason in compared.refused.values():
        print(f'left out: {reason}')
    print()
    drawn = figures(robot, motion, masses, com, options.seed, say, step)
    say('PNG, CSV and page')
    *files, page = write_figures(options.output, f'{robot.name}: {options.motion} motion', drawn)
    print(f'\n{len(files)} files in {options.output}, all figures in {page}', flush=True)
    if options.view:
        _view(robot.with_payload(Payload(max(masses), com), robot.link_names[-1]) if masses else robot, motion, options)


def table_of_ways(compared: Comparison) -> str:
    """Return time and operations of each way, relative to the compiled kernels."""
    fastest = compared.ways[-1].elapsed
    lines = [f'{"a state":20}{"time, us":>12}{"/ kernels":>12}{"products":>12}{"sums":>12}']
    for way in compared.ways:
        counts = [
            f'{count:12}' if count is not None else f'{"-":>12}' for count in (way.multiplications, way.additions)
        ]
        lines.append(f'{way.name:20}{1e6 * way.elapsed:12.2f}{way.elapsed / fastest:12.0f}{"".join(counts)}')
    return '\n'.join(lines)


def table_of_disagreements(compared: Comparison) -> str:
    """Return the largest difference of each pair of ways, relative to the largest torque."""
    names = [way.name for way in compared.ways]
    found = compared.disagreements()
    lines = [f'{"largest difference":20}' + ''.join(f'{name:>18}' for name in names[1:])]
    for i, one in enumerate(names[:-1]):
        row = (f'{found[one, other]:18.1e}' if i < j else f'{"":18}' for j, other in enumerate(names) if j)
        lines.append(f'{one:20}' + ''.join(row))
    return '\n'.join(lines)


_BEGAN = time.monotonic()


def say(text: str) -> None:
    """Print progress with the time since the start."""
    print(f'[{time.monotonic() - _BEGAN:5.1f} s] {text}', flush=True)


def _view(robot: Robot, motion: SampledMotion, options) -> None:
    """Play the motion back in a browser, with its torques; a payload is shown, too."""
    from robot_dynamics_ros.tools.view import view  # noqa: PLC0415

    torque = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    view(robot, motion.t, motion.q, torque, options.robot)


def _masses(values: list[float]) -> list[float]:
    """Return masses of payloads, kg; ArgumentError for one that is not positive or that figures cannot distinguish."""
    shown = [f'{mass:g}' for mass in values]
    for i, mass in enumerate(values):
        if not 0.0 < mass < np.inf:
            raise ArgumentError(f'--payload: expected positive masses in kg, got {mass:g}')
        if shown[i] in shown[:i]:
            raise ArgumentError(f'--payload: expected different masses, got {shown[i]} kg twice')
    return values


def _step(value: float) -> float:
    """Return a step of simulated motions, s; ArgumentError for one that is not possible."""
    if not 1e-6 <= value <= 0.1:
        raise ArgumentError(f'--step: expected 1e-6 to 0.1 s, got {value:g}')
    return value


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    parser = OneLineParser(prog=COMMAND, description=__doc__)
    add = parser.add_argument
    add(
        'robot',
        nargs='?',
        default='aubo_i5',
        help='a robot of the package or of robot_descriptions, or path of a URDF, xacro, SDF, MJCF or YAML file',
    )
    add_xacro_option(parser)
    add('--loops', type=Path, metavar='FILE', help='loops file: what closes the loops of a cut URDF')
    add('--base-link', help='link whose frame becomes the base frame')
    add('--tip-link', help='last link of the chain')
    add(
        '--gravity',
        type=float,
        nargs=3,
        metavar=('X', 'Y', 'Z'),
        help='in the base frame, m/s^2 (default: as described)',
    )
    add('--motion', choices=MOTIONS, default='quintic', help='default: %(default)s, as in the course')
    add('--start', type=float, nargs='+', metavar='Q', help='start of the motion, rad or m')
    add('--end', type=float, nargs='+', metavar='Q', help='end of the motion, rad or m')
    add('--duration', type=float, default=1.96, help='of the motion, s (default: %(default)s)')
    add('--states', type=int, default=99, help='number of states of the motion (default: %(default)s)')
    add('--payload', type=float, nargs='*', default=[1.0, 5.0], metavar='KG', help='masses of payloads (default: 1 5)')
    add('--com', type=float, nargs=3, default=(0.0, 0.0, 0.1), help='centre of the payloads in the last link, m')
    add('--tip-wrench', type=float, nargs=6, default=(0.5, -0.5, 1.0, 5.0, -5.0, 10.0), metavar='W',
        help='moment (3, N m) and force (3, N) on the last link in the comparison, axes of the base')  # fmt: skip
    add('--step', type=float, default=STEP, help='of the simulated motions, s (default: %(default)s)')
    add('--seed', type=int, default=0, help='of random torques and Fourier motions (default: %(default)s)')
    add('--output', type=Path, default=Path('compare_output'), help='folder of the figures (default: %(default)s)')
    add('--view', action='store_true', help='then play the motion back in a browser')
    return parser


if __name__ == '__main__':
    main()
