"""Identify a robot from a recorded motion: masses, centres, inertias and friction, with a report, as URDF and YAML.

The log is a rosbag2 with joint states or a CSV file. With --gravity it shows the arm standing still in some 20 poses,
and only what gravity compensation needs is identified.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.control.measured_effort import MEANINGS
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.formats.actuator_export import actuators_of
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.export_c import add_robot_options, robot_of
from robot_dynamics_ros.tools.needed_packages import check_packages

if TYPE_CHECKING:
    from robot_dynamics_ros.identification import Log

COMMAND = 'robot_dynamics_identify'
PACKAGES = ('plotly', 'rosbags', 'scipy')
METHODS = ('consistent', 'wls', 'ols')
DELAY = 2e-3
"""Delay of efforts from which on it is corrected, s: half a period of most drivers."""


def main(arguments=None) -> None:
    """Print the table and write the files; on an error exit with 1 and the reason."""
    options = parser().parse_args(arguments)
    try:
        check_packages(PACKAGES)
        run(options)
    except (DynamicsError, OSError) as error:
        sys.exit(f'{COMMAND}: {error}')
    except KeyboardInterrupt:
        sys.exit(f'{COMMAND}: interrupted')


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    add_robot_options(parser, '--gravity-vector')
    parser.add_argument('log', type=Path, help='rosbag2 with joint states, or CSV file')
    parser.add_argument('--validate', type=Path, metavar='LOG', help='log of another motion, which judges the result')
    parser.add_argument(
        '--gravity',
        dest='standing',
        action='store_true',
        help='the arm stands in several poses: identify gravity alone',
    )
    parser.add_argument('--effort', choices=MEANINGS, help='meaning of effort in the log (default: torque)')
    parser.add_argument('--method', choices=METHODS, default=METHODS[0], help='default: %(default)s')
    parser.add_argument(
        '--cutoff',
        type=float,
        metavar='HZ',
        help='cut-off frequency of the low-pass for all signals (default: 5 for a bag, none for a CSV file)',
    )
    parser.add_argument('--topic', default='/joint_states', help='topic of the joint states (default: %(default)s)')
    parser.add_argument(
        '--joints',
        nargs='+',
        metavar='NAME',
        help="names in the bag of the robot's joints, in their order (default: those of the description)",
    )
    parser.add_argument(
        '--output', type=Path, default=Path('identify_output'), help='folder of the files (default: %(default)s)'
    )
    return parser
