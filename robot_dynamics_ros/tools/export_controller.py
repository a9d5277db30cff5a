"""Write a package for a ROS 2 workspace: dynamics of one arm as a shared library, and its ros2_control controllers."""

import argparse
import sys
from pathlib import Path

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.torque_presets import PRESETS
from robot_dynamics_ros.codegen.c.frame_law import FrameLawCode
from robot_dynamics_ros.codegen.c.library import Library, library_source
from robot_dynamics_ros.control.arm.driven_code import driven_library, write_driven_c
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.laws.gain_limits import check_stated
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import IMPEDANCE
from robot_dynamics_ros.control.laws.impedance.frame_law_code import impedance_code, operational_space_code
from robot_dynamics_ros.control.laws.impedance.operational_space import OPERATIONAL_SPACE
from robot_dynamics_ros.control.laws.impedance.stated_impedance import (
    stated_impedance,
    stated_operational_space,
    warning_of_posture,
)
from robot_dynamics_ros.control.terms.compensation_policy import CompensationPolicy
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.lifecycle.stated_parameters import StatedParameters
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.export.c_export import check_replaceable, write_files
from robot_dynamics_ros.robot.export.c_library_export import controller_library
from robot_dynamics_ros.tools.controller_package import ControllerPackage, checked_name
from robot_dynamics_ros.tools.reported_errors import reported_errors
from robot_dynamics_ros.tools.robot_options import add_lock_option, add_robot_options, driven_robot_of

LARGEST_RATE = 100_000
LAWS = IMPEDANCE, OPERATIONAL_SPACE
"""Laws of torque_controller that a library may have."""


def main() -> None:
    """Write the files and print their paths; on an error exit with 1 and the reason."""
    parser = argparse.ArgumentParser(prog='robot_dynamics_export_controller', description=__doc__)
    add_robot_options(parser)
    parser.add_argument('folder', type=Path, help='folder of the package; it is created if it does not exist')
    add_lock_option(parser)
    parser.add_argument('--preset', choices=sorted(PRESETS), help='kind of robot: what it compensates itself')
    parser.add_argument('--rate', type=int, default=1000, help='of the controllers, Hz (default: 1000)')
    parser.add_argument(
        '--impedance',
        type=Path,
        metavar='FILE',
        help=f'parameter file of torque_controller whose {" or ".join(LAWS)} the library gets',
    )
    parser.add_argument('--package', help='name of the package (default: that of the robot and _controllers)')
    options = parser.parse_args()
    with reported_errors(parser.prog):
        for path in write_package(options):
            print(path)


def write_package(options) -> list[Path]:
    """Write the package that the options describe, and return the paths of its files.

    DynamicsError, before anything is written: for a robot that no controller can command, a wrong option, and a file
    that is not of an earlier export.
    """
    robot = driven_robot_of(options)
    # a robot that no controller can command is refused before its gains are judged
    library = _library(robot)
    preset = options.preset or ''
    policy = CompensationPolicy(preset, '', ())
    if not policy.takes_commands:
        raise ArgumentError(f'--preset {preset}: such an arm takes no efforts, and needs no controller')
    if not 1 <= options.rate <= LARGEST_RATE:
        raise ArgumentError(f'--rate: expected 1 to {LARGEST_RATE} Hz, got {options.rate}')
    frame_law = None
    if options.impedance is not None:
        frame_law = exported_frame_law(options, robot, policy)
        library = _library(robot, frame_law)
    name = checked_name(options.package or f'{library.prefix.lower()}_controllers')
    package = ControllerPackage(name, library, robot.joint_names, preset, options.rate)
    dynamics = validation.output_folder('folder', options.folder) / 'dynamics'
    source = {dynamics / f'{library.title}.c': library_source(library)}
    texts = {options.folder / path: text for path, text in package.files().items()}
    check_replaceable(source, library.title)
    check_replaceable(texts, name)
    if isinstance(robot, DrivenRobot):
        exported = write_driven_c(robot, dynamics, frame_law)
    else:
        exported = robot.export_c(dynamics, library.programs)
    return [*exported, *write_files({**source, **texts})]


def _library(robot: Robot | DrivenRobot, frame_law: FrameLawCode | None = None) -> Library:
    """Return the content of the library of a robot."""
    if isinstance(robot, DrivenRobot):
        return driven_library(robot, frame_law)
    return controller_library(robot, frame_law)


def exported_frame_law(options, robot, policy: CompensationPolicy) -> FrameLawCode:
    """Return the law of the file of the options; ArgumentError names file and parameter."""
    if policy.motor_pd:
        raise ArgumentError('--impedance: with preset motor_pd the PD of the motors would be added to it')
    stated = StatedParameters('torque_controller', options.impedance)
    try:
        _check_arm(options, stated)
        for name in ('stiffness', 'damping'):
            check_stated(name, stated.value(name))
        of_controller = policy.terms, options.rate, stated.value('torque_delay')
        if _law_of(stated) == OPERATIONAL_SPACE:
            settings = stated_operational_space(robot, stated.value)
            warning = warning_of_posture(robot, settings.posture_damping)
            code = operational_space_code(robot, settings, *of_controller)
        else:
            impedance, _, _, stiffness, warning = stated_impedance(robot, stated.value)
            code = impedance_code(robot, impedance, stiffness, *of_controller)
    except DynamicsError as error:
        raise ArgumentError(f'{options.impedance}: {error}') from None
    unused = stated.unused
    notes = [warning, f'not used, state in controllers.yaml what counts there: {", ".join(unused)}' if unused else '']
    for note in filter(None, notes):
        print(f'{options.impedance}: {note}', file=sys.stderr)
    return code


def _law_of(stated: StatedParameters) -> str:
    """Return the law of a file, the impedance where it states none."""
    law = stated.value('control_law')
    return law if stated.is_stated('control_law') else IMPEDANCE


def _check_arm(options, stated: StatedParameters) -> None:
    """Raise ArgumentError for a parameter of the arm that the options contradict: the library is theirs."""
    if _law_of(stated) not in LAWS:
        raise ArgumentError(f'control_law: expected {" or ".join(LAWS)}, got {_law_of(stated)!r}')
    gravity = [0.0] if options.gravity is None else list(options.gravity)
    of_options = {
        'model': (options.robot, 'state it as robot'),
        'loops': (str(options.loops or ''), 'state it by --loops'),
        'base_link': (options.base_link or '', 'state it by --base-link'),
        'tip_link': (options.tip_link or '', 'state it by --tip-link'),
        'actuators': (str(options.actuators or ''), 'state it by --actuators'),
        'locked_joints': (options.lock or [''], 'state it by --lock'),
        'gravity': (gravity, 'state it by --gravity'),
        'preset': (options.preset or '', 'state it by --preset'),
        'gravity_owner': ('', 'state it in controllers.yaml'),
    }
    for name, (value, how) in of_options.items():
        if stated.is_stated(name) and str(stated.value(name)).replace(' ', '') != str(value).replace(' ', ''):
            raise ArgumentError(f'{name}: {how}, where it is {value!r}; the file says {stated.value(name)!r}')


if __name__ == '__main__':
    main()
