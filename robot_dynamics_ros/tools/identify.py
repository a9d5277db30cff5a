"""Identify a robot from a recorded motion: masses, centres, inertias and friction, with a report, as URDF and YAML.

The log is a rosbag2 with joint states or a CSV file. With --gravity it shows the arm standing still in some 20 poses,
and only what gravity compensation needs is identified.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from robot_dynamics_ros.control.measured_effort import MEANINGS
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.formats.actuator_export import actuators_of
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.export_c import add_robot_options, robot_of
from robot_dynamics_ros.tools.figure_page import write_page
from robot_dynamics_ros.tools.needed_packages import check_packages

if TYPE_CHECKING:
    from robot_dynamics_ros.identification import Log
    from robot_dynamics_ros.tools.identify_report import Report

COMMAND = 'robot_dynamics_identify'
PACKAGES = ('plotly', 'rosbags', 'scipy')
METHODS = ('consistent', 'wls', 'ols')
DELAY = 1e-3
"""Delay of efforts from which on it is corrected, s."""
ROUNDS = 3
"""Of correction: at first friction and rotors of the model explain a part of the delay."""
POSSIBLE = 0.2, 5.0
"""Gravity torque of an identified robot, as a share of the described one, beyond which the log is refused."""
_BEGAN = time.monotonic()


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
        help='identify gravity alone: the arm stands in several poses',
    )
    parser.add_argument('--effort', choices=MEANINGS, help='meaning of effort in the logs (default: torque)')
    parser.add_argument('--method', choices=METHODS, default=METHODS[0], help='default: %(default)s')
    parser.add_argument(
        '--cutoff',
        type=float,
        metavar='HZ',
        help='cut-off frequency of the low-pass for all signals (default: 5 for a bag, no low-pass for a CSV file)',
    )
    parser.add_argument('--topic', default='/joint_states', help='topic of the joint states (default: %(default)s)')
    parser.add_argument(
        '--joints', nargs='+', metavar='NAME', help='names in the bags of the joints of the robot, in its order'
    )
    parser.add_argument(
        '--output', type=Path, default=Path('identify_output'), help='folder of the files (default: %(default)s)'
    )
    return parser


def run(options) -> None:
    """Read and check the logs, identify, judge, and write the files."""
    from robot_dynamics_ros.tools.identify_log import Source, motion_of  # noqa: PLC0415  (needs SciPy)

    robot = robot_of(options)
    source = Source(options.joints or robot.joint_names, options.topic, options.effort, options.cutoff)
    paths = [options.log, *([options.validate] if options.validate else [])]
    if options.joints and all(path.suffix == '.csv' for path in paths):
        raise ArgumentError('--joints: names in bags; the columns of a CSV file are in the order of the joints')
    logs = [source.read(path, robot, say) for path in paths]
    if not options.standing:
        logs = [motion_of(path, log, robot, say) for path, log in zip(paths, logs, strict=True)]
    options.output.mkdir(parents=True, exist_ok=True)
    report = _by_standing(robot, *logs) if options.standing else _by_motion(options.log, robot, options.method, *logs)
    print(f'\n{report.text}\n')
    files = {
        'robot.urdf': report.robot.to_urdf(),
        'robot.yaml': report.robot.to_yaml(),
        'actuators.yaml': actuators_of(report.robot.model),
    }
    for name, text in files.items():
        (options.output / name).write_text(text, encoding='utf-8')
    write_page(options.output / 'index.html', f'{robot.name}: {options.log.name}', report.figures, report.text)
    say(f'written to {options.output}: index.html, {", ".join(files)}')


def _by_motion(path: Path, robot: Robot, method: str, log: 'Log', other: 'Log | None' = None) -> 'Report':
    """Return the report on a robot that is identified from a motion, and judged by parts of it or by another one."""
    from robot_dynamics_ros.identification import (  # noqa: PLC0415
        LogError,
        cross_validate,
        estimate_delay,
        identify,
        validate,
    )
    from robot_dynamics_ros.identification.log_findings import factor  # noqa: PLC0415
    from robot_dynamics_ros.tools.identify_report import motion_report  # noqa: PLC0415

    say(f'identifying, {method}')
    found, late = identify(robot, log, method), 0.0
    for _ in range(ROUNDS):
        now = validate(found.robot, log)
        delay = estimate_delay(log.t, now.measured, now.predicted)
        if abs(delay) < DELAY:
            break
        log, other, late = log.without_delay(delay), other and other.without_delay(delay), late + delay
        say(f'shifting efforts by {1e3 * late:.1f} ms, so much later than the motion they are, and identifying again')
        found = identify(robot, log, method)
    share = factor(*(it.gravity_torque(log.q) for it in (robot, found.robot))) if any(robot.gravity) else 1.0
    if not POSSIBLE[0] < share < POSSIBLE[1]:
        raise LogError(
            f'{path}: the gravity torque found is {share:.2g} times the described one: its efforts have another unit '
            'or meaning (--effort), or the robot, its gravity or its masses are others'
        )
    say('cross-validating: five identifications, each without a block of the log that judges it')
    judged = {
        'described': validate(robot, log),
        'identified': validate(found.robot, log),
        'cross-validated': cross_validate(robot, log, method=method),
    }
    if other is not None:
        judged |= {
            'described, other log': validate(robot, other),
            'identified, other log': validate(found.robot, other),
        }
    return motion_report(found, judged)


def _by_standing(robot: Robot, log: 'Log', other: 'Log | None' = None) -> 'Report':
    """Return the report on a robot whose gravity torques are identified from standing poses."""
    from robot_dynamics_ros.identification import identify_gravity  # noqa: PLC0415
    from robot_dynamics_ros.tools.identify_report import standing_report  # noqa: PLC0415

    say('identifying masses and centres')
    return standing_report(robot, identify_gravity(robot, log), log, other)


def say(text: str) -> None:
    """Print progress with the time since the start."""
    print(f'[{time.monotonic() - _BEGAN:5.1f} s] {text}', flush=True)


if __name__ == '__main__':
    main()
