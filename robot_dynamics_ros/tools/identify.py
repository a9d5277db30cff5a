"""Identify a robot from a recorded motion: masses, centres, inertias and friction, with a report, as URDF and YAML.

A log is a rosbag2 with joint states or a CSV file; several of one arm count as one. With --gravity they show the arm
standing still in some 20 poses, and only what gravity compensation needs is identified.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.guards.measured_effort import MEANINGS
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, ModelError
from robot_dynamics_ros.formats.yaml_files.actuator_export import actuators_of
from robot_dynamics_ros.identification.logs.csv_files import EXAMPLE, KEYS, columns_of
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.figures.figure_page import write_page
from robot_dynamics_ros.tools.needed_packages import check_packages
from robot_dynamics_ros.tools.reported_errors import reported_errors
from robot_dynamics_ros.tools.robot_options import add_lock_option, add_robot_options, locked_of, robot_of

if TYPE_CHECKING:
    from robot_dynamics_ros.identification import Log
    from robot_dynamics_ros.tools.identify_report import Report

COMMAND = 'robot_dynamics_identify'
PACKAGES = ('plotly', 'rosbags', 'scipy')
METHODS = ('consistent', 'wls', 'ols')
SETTINGS = ('method', 'friction', 'weight', 'constants_deviation')
"""Options that are arguments of ``identify``."""
_BEGAN = time.monotonic()


def main(arguments=None) -> None:
    """Print the table and write the files; on an error exit with 1 and the reason."""
    options = parser().parse_args(arguments)
    with reported_errors(COMMAND):
        check_packages(PACKAGES)
        run(options)


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    add_robot_options(parser, '--gravity-vector')
    add_lock_option(parser)
    parser.add_argument('log', type=Path, nargs='+', help='rosbag2 with joint states, or CSV file')
    parser.add_argument(
        '--validate', type=Path, nargs='+', metavar='LOG', help='logs of another motion, which judge the result'
    )
    parser.add_argument(
        '--compare',
        type=Path,
        nargs=2,
        metavar='RESULT',
        help='folders of two results, which are compared in place of an identification: parameters that differ, and '
        'torque errors on a log, which has to be stated, too: ROBOT LOG --compare RESULT RESULT',
    )
    parser.add_argument(
        '--gravity',
        dest='standing',
        action='store_true',
        help='identify gravity alone: the arm stands in several poses',
    )
    parser.add_argument('--effort', choices=MEANINGS, help='meaning of effort in the logs (default: torque)')
    parser.add_argument('--method', choices=METHODS, default=METHODS[0], help='default: %(default)s')
    parser.add_argument(
        '--friction',
        nargs='+',
        metavar='TERM',
        help='terms of friction, for instance viscous coulomb (default: all usual)',
    )
    parser.add_argument(
        '--weight', type=float, help='weight of the description where the log says little, see identify'
    )
    parser.add_argument(
        '--constants-deviation',
        type=float,
        metavar='SHARE',
        help='identify torque constants, too: their relative standard deviation (default: 0, they are right)',
    )
    parser.add_argument(
        '--cutoff',
        type=float,
        metavar='HZ',
        help='cut-off frequency of the low-pass for all signals (default: 5 for a bag and a CSV file without '
        'accelerations, none for others)',
    )
    parser.add_argument(
        '--even-times', action='store_true', help='replace times in bursts, those of reception, by evenly spaced ones'
    )
    parser.add_argument('--topic', default='/joint_states', help='topic of the joint states (default: %(default)s)')
    parser.add_argument(
        '--columns',
        nargs='+',
        default=[],
        metavar='NAME=COLUMN',
        help=f'columns of CSV files of other tools, for instance {EXAMPLE}; {{index}} is the number of a joint from 0 '
        f'or 1 on, {{joint}} its name; names are {", ".join(KEYS)} (s, ms, us or ns)',
    )
    parser.add_argument(
        '--joints', nargs='+', metavar='NAME', help='names in the logs of the joints of the robot, in its order'
    )
    parser.add_argument(
        '--force', action='store_true', help='identify from an implausible log, and write what explains nothing'
    )
    parser.add_argument(
        '--output', type=Path, default=Path('identify_output'), help='folder of the files (default: %(default)s)'
    )
    return parser


def run(options) -> None:
    """Read and check the logs, identify, judge, and write the files."""
    from robot_dynamics_ros.tools.identify_log import Source, check, read_all  # noqa: PLC0415  (needs SciPy)
    from robot_dynamics_ros.tools.identify_parameters import FILE, parameter_text, parameter_yaml  # noqa: PLC0415

    if options.compare and (options.validate or options.standing):
        raise ArgumentError('--compare: results are compared on a motion; leave --validate and --gravity out')
    output = validation.output_folder('--output', options.output)
    robot = robot_of(options, locked=locked_of(options))
    groups = [paths for paths in (options.log, options.validate) if paths]
    are_csv, columns = [path.suffix == '.csv' for paths in groups for path in paths], columns_of(options.columns)
    if options.joints and all(are_csv) and not any('{joint}' in it for it in columns.values()):
        raise ArgumentError('--joints: names in bags, or in CSV files with {joint} in --columns')
    if columns and not any(are_csv):
        raise ArgumentError('--columns: no log is a CSV file')
    names = options.joints or robot.joint_names
    source = Source(names, options.topic, options.effort, options.cutoff, options.even_times, columns)
    logs = [read_all(source, paths, robot, options.standing, say) for paths in groups]
    findings = [
        check(paths, log, robot, options.standing, options.force) for paths, log in zip(groups, logs, strict=True)
    ]
    if options.compare:
        print(f'\n{_compared(options.compare, robot, *logs)}')
        return
    output.mkdir(parents=True, exist_ok=True)
    settings = {name: getattr(options, name) for name in SETTINGS if getattr(options, name) is not None}
    report = _by_standing(robot, *logs) if options.standing else _by_motion(robot, settings, *logs)
    of_others = [
        it._replace(where=f'{", ".join(map(str, options.validate))}: {it.where}')
        for found in findings[1:]
        for it in found
    ]
    report = report.with_findings([*findings[0], *of_others])
    print(f'\n{report.text}\n')
    if report.unexplained and not options.force:
        raise DynamicsError(
            f'nothing is written: the result explains nothing of {", ".join(report.unexplained)}, R2 is 0 or less; '
            'see the table, or state --force'
        )
    files = {
        **_as_urdf(report.robot),
        'robot.yaml': report.robot.to_yaml(),
        'actuators.yaml': actuators_of(report.robot.model),
        FILE: parameter_yaml(report.parameters),
    }
    for name, text in files.items():
        (options.output / name).write_text(text, encoding='utf-8')
    title = ', '.join(path.name for path in options.log)
    tables = f'{report.text}\n\n{parameter_text(report.parameters)}'
    write_page(options.output / 'index.html', f'{robot.name}: {title}', report.figures, tables)
    say(f'written to {options.output}: index.html, {", ".join(files)}')


def _as_urdf(robot: Robot) -> dict[str, str]:
    """Return the name and text of a robot's URDF; nothing, and why, where a URDF cannot hold it."""
    try:
        return {'robot.urdf': robot.to_urdf()}
    except ModelError as error:
        say(f'no robot.urdf: {error}; robot.yaml has it')
        return {}


def _by_motion(robot: Robot, settings: dict, log: 'Log', other: 'Log | None' = None) -> 'Report':
    """Return the report on a robot that is identified from a motion, and judged by parts of it or by another one.

    ``settings`` are arguments of ``identify``.
    """
    from robot_dynamics_ros.identification import (  # noqa: PLC0415
        cross_validate,
        identify,
        validate,
    )
    from robot_dynamics_ros.tools.identify_report import motion_report  # noqa: PLC0415

    log, other = _without_delay(robot, log, other)
    say(f'identifying, {settings["method"]}')
    found = identify(robot, log, **settings)
    say('cross-validating: five identifications, each without a block of the log that judges it')
    judged = {
        'described': validate(robot, log),
        'identified': validate(found.robot, log),
        'cross-validated': cross_validate(robot, log, **settings),
    }
    if other is not None:
        judged |= {
            'described, other log': validate(robot, other),
            'identified, other log': validate(found.robot, other),
        }
    return motion_report(found, judged)


def _without_delay(robot: Robot, log: 'Log', other: 'Log | None' = None) -> tuple['Log', 'Log | None']:
    """Return logs without the delay of the efforts in the first one, where it counts."""
    from robot_dynamics_ros.identification.delay import LEAST_DELAY, delay_of_torques  # noqa: PLC0415  (needs SciPy)

    delay = delay_of_torques(robot, log)
    if abs(delay) < LEAST_DELAY:
        return log, other
    say(f'efforts {"lag" if delay > 0.0 else "lead"} the motion by {1e3 * abs(delay):.1f} ms; shifting them')
    return log.without_delay(delay), other and other.without_delay(delay)


def _compared(folders: Sequence[Path], robot: Robot, log: 'Log') -> str:
    """Return tables that compare the results in two folders."""
    from robot_dynamics_ros.tools.identify_comparison import Result, comparison_text  # noqa: PLC0415  (needs SciPy)

    one, other = (Result.read(it, robot.joint_names) for it in folders)
    return comparison_text(one, other, _without_delay(robot, log)[0])


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
