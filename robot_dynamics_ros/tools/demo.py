"""Demo: compares tracking errors of a simulated arm with and without feedforward torques.

It is the AUBO-i5, whose motion may be followed by a measured log, or the arm of a description.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

from robot_dynamics_ros.control.tracking_motion import LARGEST_RATIO, slides
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.formats.library import share_folder
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools import report
from robot_dynamics_ros.tools.demo_arm import DESCRIPTION, MOTION, DemoArm, demo_arm, description_of
from robot_dynamics_ros.tools.motions import LECTURE, SWEEP, read_motion
from robot_dynamics_ros.tools.processes import Client, Processes
from robot_dynamics_ros.tools.replay import read_log, replay
from robot_dynamics_ros.tools.tracking import LAWS, Tracking

AUBO_I5 = 'aubo_i5'
"""The arm of the demo."""


def main() -> None:
    """Run the demo and, if a log is given, its replay; on an error exit with 1 and the reason."""
    options = parser().parse_args()
    try:
        run(options)
    except DynamicsError as error:
        sys.exit(f'demo: {error}')


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog='robot_dynamics_demo', description=__doc__)
    parser.add_argument(
        '--model', help='URDF, xacro or YAML file of another arm, or the name of a robot of the package'
    )
    for name, (_, meaning) in DESCRIPTION.items():
        parser.add_argument(f'--{name.replace("_", "-")}', default='', help=f'with --model: {meaning}')
    parser.add_argument(
        '--log', type=Path, help='a measured motion: CSV with motor currents, or rosbag2 with /joint_states'
    )
    parser.add_argument('--urdf', type=Path, help='the arm of the log (default: the AUBO-i5)')
    parser.add_argument('--output', type=Path, default=Path('demo_output'), help='folder for plots and node logs')
    return parser


def run(options) -> None:
    """Read the log first, so that a wrong one ends the demo early; then play the motions and the log."""
    options.output.mkdir(parents=True, exist_ok=True)
    if options.model:
        arm = demo_arm(options.model, **description_of(vars(options)))
        for note in arm.notes:
            say(note)
        play_motions(options.output, arm)
        return
    robot = Robot.from_urdf(options.urdf) if options.urdf else Robot.named(AUBO_I5)
    log = None
    if options.log:
        log = read_log(options.log, robot)
    play_motions(options.output)
    if log:
        model = str(options.urdf.resolve()) if options.urdf else AUBO_I5
        replay(log, options.log.name, robot.joint_names, {'model': model}, options.output)


def play_motions(output: Path, arm: DemoArm | None = None) -> None:
    """Play motions of an arm (default: the AUBO-i5) under the three laws, print tables, save plots.

    DynamicsError where a ratio is beyond ``LARGEST_RATIO``.
    """
    domain = os.environ.get('ROS_DOMAIN_ID', '0')
    if arm is None:
        parameters = share_folder() / 'config' / 'demo.yaml'
        robot, motions = Robot.named(AUBO_I5), {'lecture': LECTURE, 'sweep': SWEEP}
    else:
        parameters = arm.write(output)
        robot, motions = arm.robot, {'motion': read_motion(output / MOTION)[1]}
    say(f'three control laws with the same low gains on a simulated {robot.name} (ROS domain {domain})')
    records: dict = {name: {} for name in motions}
    with Processes(output) as processes, Client('demo', processes) as client:
        say('starting simulated_arm, feedforward_node, torque_controller')
        tracking = Tracking(client, processes, parameters)
        for name, motion in motions.items():
            for law, label in LAWS.items():
                say(f'{motion.name}, {motion.times[-1]:.1f} s, {label}')
                records[name][label] = tracking.play(motion, law)
    worst = 0.0
    for name, by_law in records.items():
        path, title = output / f'tracking_{name}.png', motions[name].name
        report.tracking_plot(path, title, robot.joint_names, by_law, robot.limits.effort, slides(robot))
        print(f'\n{title} (plot: {path})')
        print(report.tracking_table(robot.joint_names, by_law, slides(robot)), flush=True)
        *_, gravity, feedforward = by_law.values()
        worst = np.maximum(worst, (feedforward.rms / gravity.rms).max())
    print(f'\nlargest ratio feedforward / gravity: {worst:.3f}, allowed {LARGEST_RATIO:.3f}', flush=True)
    if not worst <= LARGEST_RATIO:  # or NaN
        raise DynamicsError(
            f'RMS error of a joint: expected PD + feedforward / PD + gravity <= {LARGEST_RATIO:.3f}, got {worst:.3f}'
        )


_BEGAN = time.monotonic()


def say(text: str) -> None:
    """Print progress with the time since the start."""
    print(f'[{time.monotonic() - _BEGAN:5.1f} s] {text}', flush=True)


if __name__ == '__main__':
    main()
