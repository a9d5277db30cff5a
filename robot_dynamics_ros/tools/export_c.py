"""Export quantities of a robot as C99, with a CMakeLists.txt, for a controller or a microcontroller."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from robot_dynamics_ros.control.arm.driven_code import write_driven_c
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, in_driven_joints
from robot_dynamics_ros.control.arm.mimic_joints import with_followers
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.description import found_description
from robot_dynamics_ros.formats.xacro import xacro_arguments
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.compiled_code import PROGRAMS, Program
from robot_dynamics_ros.tools.reported_errors import reported_errors
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


def add_robot_options(parser: argparse.ArgumentParser, gravity: str = '--gravity') -> None:
    """Add the arguments that describe a robot to ``robot_of``; ``gravity`` is the name of that of the vector."""
    parser.add_argument(
        'robot',
        help='robot of the package, for instance aubo_i5, or of robot_descriptions, for instance panda_description, or '
        'path of a URDF, xacro, MJCF or YAML file',
    )
    add_xacro_option(parser)
    parser.add_argument('--loops', type=Path, metavar='FILE', help='loops file: what closes the loops of a cut URDF')
    parser.add_argument('--actuators', type=Path, help='actuator file with rotor inertias')
    parser.add_argument('--base-link', help='link whose frame becomes the base frame')
    parser.add_argument('--tip-link', help='last link of the chain')
    parser.add_argument(
        gravity,
        dest='gravity',
        type=float,
        nargs=3,
        metavar=('X', 'Y', 'Z'),
        help='gravity in the base frame, m/s^2 (default: that of an MJCF or YAML file, else (0, 0, -9.81) in the root)',
    )


def add_lock_option(parser: argparse.ArgumentParser) -> None:
    """Add the argument with joints to lock, which ``locked_of`` reads."""
    parser.add_argument(
        '--lock',
        action='append',
        default=[],
        metavar='JOINT:POSITION',
        help="joint to lock at a position (rad, m), such as a gripper's; what mimics it is locked, too; repeat it",
    )


def locked_of(options) -> dict[str, float]:
    """Return the position (rad, m) of each joint to lock, and of what mimics it."""
    positions: dict[str, float] = {}
    for entry in options.lock:
        joint, _, text = entry.rpartition(':')
        try:
            positions[joint.strip()] = float(text)
        except ValueError:
            raise ArgumentError(f'--lock: expected JOINT:POSITION, got {entry!r:.80}') from None
    if not positions:
        return {}
    return with_followers(
        Robot.from_description(stated_description(options), 'couple', options.loops).loops.couplings, positions
    )


def add_xacro_option(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a xacro file to ``stated_description``."""
    parser.add_argument(
        '--xacro-args', default='', metavar='ARGUMENTS', help="arguments of a xacro file: 'name:=value ...'"
    )


def stated_description(options) -> str:
    """Return path, name or URDF text of the robot that the options name: what a node reads."""
    return found_description(options.robot, xacro_arguments(options.xacro_args))


def robot_of(options, mimic: str = 'ignore', locked: Mapping[str, float] | None = None) -> Robot:
    """Return the robot that the options describe, with ``locked`` joints at positions; ``mimic`` as in ``Robot``."""
    robot = Robot.from_description(stated_description(options), mimic, options.loops)
    if options.actuators:
        robot = robot.with_actuators(options.actuators)
    if locked:
        robot = robot.with_locked_joints(locked)
    return robot.chain(options.base_link, options.tip_link, options.gravity)


def driven_robot_of(options) -> Robot | DrivenRobot:
    """Return the robot that the options describe in its driven joints, locked joints and what mimics them left out."""
    return in_driven_joints(robot_of(options, 'couple', locked_of(options)))


def program(text: str) -> Program:
    """Return the program of ``name``, ``name:link`` or ``name:link:reference_frame``; a link's name may have colons."""
    name, colon, link = text.partition(':')
    if not colon:
        return name
    front, _, last = link.rpartition(':')
    return (name, front, last) if front and last in REFERENCE_FRAMES else (name, link)


if __name__ == '__main__':
    main()
