"""Options of commands that describe a robot, and the robot that they describe."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot, in_driven_joints
from robot_dynamics_ros.control.arm.following.mimic_joints import with_followers
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.description import found_description
from robot_dynamics_ros.formats.xacro import xacro_arguments
from robot_dynamics_ros.robot import Robot


def add_robot_options(parser: argparse.ArgumentParser, gravity: str = '--gravity') -> None:
    """Add the arguments that describe a robot to ``robot_of``; ``gravity`` is the name of that of the vector."""
    parser.add_argument(
        'robot',
        help='robot of the package, for instance aubo_i5, or of robot_descriptions, for instance panda_description, or '
        'path of a URDF, xacro, SDF, MJCF or YAML file',
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
        help='gravity in the base frame, m/s^2 (default: that of an SDF, MJCF or YAML file, else (0, 0, -9.81) in the '
        'root)',
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
    """Return the position (rad, m) of each joint to lock."""
    positions: dict[str, float] = {}
    for entry in options.lock:
        joint, _, text = entry.rpartition(':')
        try:
            positions[joint.strip()] = float(text)
        except ValueError:
            raise ArgumentError(f'--lock: expected JOINT:POSITION, got {entry!r:.80}') from None
    return positions


def add_xacro_option(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a xacro file to ``stated_description``."""
    parser.add_argument(
        '--xacro-args', default='', metavar='ARGUMENTS', help="arguments of a xacro file: 'name:=value ...'"
    )


def stated_description(options) -> str:
    """Return path, name or URDF text of the robot that the options name: what a node reads."""
    return found_description(options.robot, xacro_arguments(options.xacro_args))


def robot_of(
    options, mimic: str = 'ignore', locked: Mapping[str, float] | None = None, description: str | None = None
) -> Robot:
    """Return the robot that the options describe; ``mimic`` as in ``Robot``.

    Joints that are ``locked`` at positions (rad, m), and what mimics them, become part of the links that carry them.
    ``description`` is the ``stated_description`` for a command that has it.
    """
    description = stated_description(options) if description is None else description
    robot = coupled = Robot.from_description(description, mimic, options.loops)
    if options.actuators:
        robot = robot.with_actuators(options.actuators)
    if locked:
        if mimic != 'couple':
            coupled = Robot.from_description(description, 'couple', options.loops)
        robot = robot.with_locked_joints(with_followers(coupled.loops.couplings, locked))
    return robot.chain(options.base_link, options.tip_link, options.gravity)


def driven_robot_of(options) -> Robot | DrivenRobot:
    """Return the robot that the options describe in its driven joints, locked joints and what mimics them left out."""
    return in_driven_joints(robot_of(options, 'couple', locked_of(options)))
