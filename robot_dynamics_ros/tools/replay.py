"""Replay a measured motion through feedforward_node and compare its torques with the measured ones."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.guards.measured_effort import MEANINGS
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, ModelError
from robot_dynamics_ros.nodes.process.ros_packages import ROS
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.needed_packages import check_packages
from robot_dynamics_ros.tools.reported_errors import reported_errors
from robot_dynamics_ros.tools.robot_options import (
    add_lock_option,
    add_robot_options,
    locked_of,
    robot_of,
    stated_description,
)

if TYPE_CHECKING:
    from robot_dynamics_ros.identification.logs.log import Log

COMMAND = 'robot_dynamics_replay'
PACKAGES = (*ROS, 'matplotlib', 'rosbags', 'scipy')
TOPIC = '/joint_states'
CUTOFF = 5.0
"""Cut-off frequency for the motion of a bag, Hz."""
AGE_LIMIT = 10.0
"""Parameter of ``feedforward_node`` beyond the log's duration, s: states come faster than the log's, their stamps are
ahead of the clock."""


def main(arguments=None) -> None:
    """Print the comparison and save a plot; on an error exit with 1 and the reason."""
    options = parser().parse_args(arguments)
    with reported_errors(COMMAND):
        check_packages(PACKAGES)
        description, locked = stated_description(options), locked_of(options)
        robot = robot_of(options, locked=locked, description=description)
        # read first, so that a wrong log ends the command before a node starts
        log = read_log(options.log, robot, options.topic, options.effort)
        print_findings(robot, log)
        validation.output_folder('--output', options.output).mkdir(parents=True, exist_ok=True)
        parameters = node_parameters(options, description, locked)
        replay(log, options.log.name, robot.joint_names, parameters, options.output)


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    add_robot_options(parser)
    add_lock_option(parser)
    parser.add_argument('log', type=Path, help='CSV file with motor currents, or rosbag2 with joint states')
    parser.add_argument('--topic', default=TOPIC, help='topic of the joint states in a bag (default: %(default)s)')
    parser.add_argument(
        '--effort',
        choices=MEANINGS,
        help='meaning of effort in a bag, compared with gravity at rest (default: torque, not compared)',
    )
    parser.add_argument(
        '--output',
        type=Path,
        default=Path('replay_output'),
        help="folder of the plot and the node's log (default: %(default)s)",
    )
    return parser


def read_log(path: Path, robot: Robot, topic: str = TOPIC, effort: str | None = None) -> 'Log':
    """Return the log of a CSV file or a bag with joint torques as measured; the motion of a bag is low-passed.

    Times of a bag begin with 0, where the low-pass is accurate. A stated ``effort`` of a bag is compared with gravity
    where the arm stands still, which is printed.
    """
    from robot_dynamics_ros.identification import Log  # noqa: PLC0415  (needs SciPy)

    if path.suffix != '.csv':
        topic = '/' + topic.removeprefix('/')  # as a bag names it
        measured = Log.from_bag(path, robot.joint_names, topic, effort or 'torque', cutoff=None)
        if effort:
            print(f'effort at rest: {measured.effort_at_rest(robot).sentence}', flush=True)
        log = measured.low_pass(CUTOFF)
        torque = measured.torque(robot)[np.isin(measured.t, log.t)]
        return replace(log, t=log.t - log.t[0], tau=torque, effort='torque')
    log = Log.from_csv(path, robot)
    if effort:
        raise ArgumentError('--effort: a CSV file has motor currents; it is for a bag, whose efforts it explains')
    try:
        return replace(log, tau=log.torque(robot), effort='torque')
    except ModelError as error:
        raise DynamicsError(f'{path}: motor currents: {error}') from None


def print_findings(robot: Robot, log: 'Log') -> None:
    """Print what is implausible about a log: what follows then compares what cannot be compared."""
    from robot_dynamics_ros.identification import check_log  # noqa: PLC0415  (needs SciPy)

    for it in check_log(robot, log):
        print(it, flush=True)


def node_parameters(options, description: str, locked: Mapping[str, float]) -> dict:
    """Return the parameters of ``feedforward_node`` for the robot of a description that the options describe.

    ``locked`` are the positions (rad, m) of joints to lock.
    """
    given = {
        'robot_description' if '<' in description else 'model': description,
        'loops': options.loops and str(options.loops),
        'actuators': options.actuators and str(options.actuators),
        'base_link': options.base_link,
        'tip_link': options.tip_link,
        'gravity': options.gravity,
        'locked_joints': [f'{joint}: {position!r}' for joint, position in locked.items()] or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def replay(log: 'Log', title: str, joint_names, parameters: dict, output: Path) -> None:
    """Play a log through a ``feedforward_node`` with ``parameters``, print the table, save the plot in ``output``.

    DynamicsError if a sample has no torque.
    """
    from robot_dynamics_ros.tools.figures import report  # noqa: PLC0415  (needs matplotlib)
    from robot_dynamics_ros.tools.log_player import played  # noqa: PLC0415  (needs ROS)

    print(f'{title}: {len(log.t)} samples through feedforward_node', flush=True)
    values = {'await_payload_gravity': False, **parameters, 'age_limit': AGE_LIMIT + float(log.t[-1])}
    words = [word for name in values for word in ('-p', f'{name}:={json.dumps(values[name], ensure_ascii=False)}')]
    comparison = played(log, joint_names, words, output)
    path = output / 'log.png'
    report.comparison_plot(path, f'{title}: torque of feedforward_node and measured torque', joint_names, comparison)
    print(f'\n{title} (plot: {path})')
    print(report.comparison_table(joint_names, comparison))
    print(f'{len(log.t)} samples sent, {len(comparison.time)} answered, {comparison.lost} lost', flush=True)
    if comparison.lost:
        raise DynamicsError(f'feedforward_node published no torque for {comparison.lost} of {len(log.t)} samples')


if __name__ == '__main__':
    main()
