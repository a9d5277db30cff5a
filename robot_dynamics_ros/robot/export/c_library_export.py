"""Export of a robot as a shared library for controllers of ros2_control: which robots can be one, and its content."""

import numpy as np

from robot_dynamics_ros.codegen.c.frame_law import FrameLawCode
from robot_dynamics_ros.codegen.c.library import Library
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.robot.compiled_code import CompiledCode


def controller_library(robot: CompiledCode, frame_law: FrameLawCode | None = None) -> Library:
    """Return the content of the library of a robot, with a law of a frame if it is given.

    ModelError for what a controller cannot command: a robot without joints, a joint of several coordinates, closed
    loops and joints that mimic others, coupled motors, a payload, and friction that is not finite.
    """
    _check(robot)
    return Library(robot.model, robot.digest, robot.runtime_inputs, robot.continuous_joints, frame_law)


def _check(robot: CompiledCode) -> None:
    """Raise ModelError where effort commands of the joints are not the torques of the exported functions."""
    if not robot.nv:
        raise ModelError(f'{robot.name}: no joint moves')
    for joint, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True):
        if KINDS[kind].coordinates != 1:
            raise ModelError(
                f'{robot.name}: joint {joint!r} is {kind}, and a controller commands joints of one coordinate; choose '
                'the arm by its base link and tip link'
            )
    for loop in robot.loops.all:
        if isinstance(loop, Coupling):
            raise ModelError(
                f'{robot.name}: joint {loop.joint!r} follows {loop.other!r}, so that its torque counts at that joint; '
                'lock both, or leave them out by the tip link'
            )
        raise ModelError(
            f'{robot.name}: torques of a robot with closed loops ({loop.name!r}) are not those of its tree'
        )
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
    for field, row in robot.friction._asdict().items():
        if not np.isfinite(row).all():
            raise ModelError(f'{robot.name}: friction {field} is not finite')
