"""Export of a robot as a shared library for controllers of ros2_control: which robots can be one, and its content."""

import numpy as np

from robot_dynamics_ros.codegen.c.frame_law import FrameLawCode
from robot_dynamics_ros.codegen.c.library import CommandedJoints, Library
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.robot.compiled_code import CompiledCode


def controller_library(
    robot: CompiledCode, frame_law: FrameLawCode | None = None, driven: CommandedJoints | None = None
) -> Library:
    """Return the content of the library of a robot, with a law of a frame if it is given.

    ``driven`` are the joints of a tree that its other joints follow, all by default.

    ModelError for what a controller cannot command: a robot without joints, a joint of several coordinates, closed
    loops and couplings whose joints nothing says, coupled motors, a payload, and friction that is not finite.
    """
    joints = driven or CommandedJoints(robot.joint_names, robot.continuous_joints, robot.limits, robot.friction)
    _check(robot, joints)
    return Library(robot.model, robot.digest, robot.runtime_inputs, joints, frame_law)


def _check(robot: CompiledCode, joints: CommandedJoints) -> None:
    """Raise ModelError where effort commands of the joints are not the torques of the exported functions."""
    if not robot.nv:
        raise ModelError(f'{robot.name}: no joint moves')
    for joint, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True):
        if KINDS[kind].coordinates != 1 and joint in joints.names:
            raise ModelError(
                f'{robot.name}: joint {joint!r} is {kind}, and a controller commands joints of one coordinate; choose '
                'the arm by its base link and tip link'
            )
    check_tree(robot.model, 'the library of a controller')
    for motor, other, _ in robot.model.motor_coupling:
        turned, turning = (robot.model.joint_of_velocity(k) for k in (motor, other))
        raise ModelError(
            f'{robot.name}: joint {turning!r} turns the motor of joint {turned!r}, which controllers do not support; '
            'leave motor_coupling out of the actuator file, and the friction of these joints with it'
        )
    for frame in robot.payloads:
        raise ModelError(
            f'{robot.name}: the payload on {frame!r} would become part of the code; leave it out: the payload of a '
            'controller is that of dynamics_server, and what is always there belongs in the description'
        )
    for field, row in joints.friction._asdict().items():
        if not np.isfinite(row).all():
            raise ModelError(f'{robot.name}: friction {field} is not finite')
