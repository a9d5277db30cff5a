"""Demo: compares tracking errors of a simulated arm with and without feedforward torques.

It is the AUBO-i5, whose motion may be followed by a measured log, or the arm of a description. --compliant has its tool
pushed by a hand instead.
"""

import argparse
import time
from pathlib import Path

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.process.ros_packages import ROS
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.demonstration.completed_arm import DESCRIPTION, description_of
from robot_dynamics_ros.tools.demonstration.compliant_arm import compliant_arm
from robot_dynamics_ros.tools.demonstration.demo_arm import AUBO_I5, demo_arm
from robot_dynamics_ros.tools.needed_packages import check_packages
from robot_dynamics_ros.tools.replay import read_log, replay
from robot_dynamics_ros.tools.reported_errors import reported_errors

COMMAND = 'robot_dynamics_demo'
PACKAGES = (*ROS, 'matplotlib', 'mujoco', 'scipy')


def main() -> None:
    """Run the demo and, if a log is given, its replay; on an error exit with 1 and the reason."""
    options = parser().parse_args()
    with reported_errors(COMMAND):
        run(options)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument(
        '--model', help='URDF, xacro, SDF, MJCF or YAML file of another arm, or the name of a robot of the package'
    )
    for name, (_, meaning) in DESCRIPTION.items():
        parser.add_argument(f'--{name.replace("_", "-")}', default='', help=f'with --model: {meaning}')
    parser.add_argument(
        '--compliant',
        action='store_true',
        help='hold the tool by springs, push it once, and run until Ctrl+C, for pushes on applied_wrench',
    )
    parser.add_argument(
        '--log', type=Path, help='a measured motion: CSV with motor currents, or rosbag2 with /joint_states'
    )
    parser.add_argument('--urdf', type=Path, help='the arm of the log (default: the AUBO-i5)')
    parser.add_argument('--output', type=Path, default=Path('demo_output'), help='folder for plots and node logs')
    return parser


def run(options) -> None:
    """Read the log first, so that a wrong one ends the demo early; then play the motions and the log."""
    check_packages(PACKAGES)
    from robot_dynamics_ros.tools.demonstration.pushed_arm import push_arm  # noqa: PLC0415  (needs ROS)
    from robot_dynamics_ros.tools.demonstration.tracking_comparison import play_motions  # noqa: PLC0415  (needs ROS and matplotlib)

    validation.output_folder('--output', options.output).mkdir(parents=True, exist_ok=True)
    if options.compliant and options.log:
        raise ArgumentError('--log: a compliant tool follows none')
    arm = None
    if options.model:
        make = compliant_arm if options.compliant else demo_arm
        arm = make(options.model, **description_of(vars(options)))
        for note in arm.notes:
            say(note)
    if options.compliant or arm:
        (push_arm if options.compliant else play_motions)(options.output, say, arm)
        return
    robot = Robot.from_urdf(options.urdf) if options.urdf else Robot.named(AUBO_I5)
    log = None
    if options.log:
        log = read_log(options.log, robot)
    play_motions(options.output, say)
    if log:
        model = str(options.urdf.resolve()) if options.urdf else AUBO_I5
        replay(log, options.log.name, robot.joint_names, {'model': model}, options.output)


_BEGAN = time.monotonic()


def say(text: str) -> None:
    """Print progress with the time since the start."""
    print(f'[{time.monotonic() - _BEGAN:5.1f} s] {text}', flush=True)


if __name__ == '__main__':
    main()
