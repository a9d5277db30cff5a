"""Export quantities of a robot as C99, with a CMakeLists.txt, for a controller or a microcontroller."""

import argparse
from pathlib import Path

from robot_dynamics_ros.control.arm.driven_code import write_driven_c
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot.compiled_code import PROGRAMS, Program
from robot_dynamics_ros.tools.reported_errors import reported_errors
from robot_dynamics_ros.tools.robot_options import (
    add_lock_option,
    add_robot_options,
    driven_robot_of,
    locked_of,
    robot_of,
)
from robot_dynamics_ros.validation import REFERENCE_FRAMES


def main() -> None:
    """Write the files and print their paths; on an error exit with 1 and the reason."""
    parser = argparse.ArgumentParser(prog='robot_dynamics_export_c', description=__doc__)
    add_robot_options(parser)
    add_lock_option(parser)
    parser.add_argument('folder', type=Path, help='folder of the files; it is created if it does not exist')
    parser.add_argument(
        '--program',
        action='append',
        metavar='NAME[:LINK[:FRAME]]',
        help='quantity, for instance inverse_dynamics, link_pose:tool0 or jacobian:tool0:local; repeat it for several '
        f'(default: {", ".join(PROGRAMS)})',
    )
    parser.add_argument(
        '--driven',
        action='store_true',
        help='gravity torque and inverse dynamics of the driven joints alone: those that others mimic, or the actuated '
        'ones of closed loops',
    )
    options = parser.parse_args()
    if options.driven and options.program:
        parser.error('--driven: it has programs of its own; leave --program out')
    with reported_errors(parser.prog):
        for path in exported(options):
            print(path)


def exported(options) -> list[Path]:
    """Write the files that the options describe, and return their paths."""
    if not options.driven:
        programs = [program(text) for text in options.program] if options.program else PROGRAMS
        return robot_of(options, locked=locked_of(options)).export_c(options.folder, programs)
    robot = driven_robot_of(options)
    if not isinstance(robot, DrivenRobot):
        raise ArgumentError(f'--driven: no joint of {robot.name} follows another one or has a spring; leave it out')
    return write_driven_c(robot, options.folder)


def program(text: str) -> Program:
    """Return the program of ``name``, ``name:link`` or ``name:link:reference_frame``; a link's name may have colons."""
    name, colon, link = text.partition(':')
    if not colon:
        return name
    front, _, last = link.rpartition(':')
    return (name, front, last) if front and last in REFERENCE_FRAMES else (name, link)


if __name__ == '__main__':
    main()
