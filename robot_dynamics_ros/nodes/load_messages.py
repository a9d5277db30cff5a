"""From messages to what an arm carries and how gravity pulls at it."""

import numpy as np
from geometry_msgs.msg import Vector3Stamped

from robot_dynamics_ros import arguments
from robot_dynamics_ros.control.payload_ramp import LONGEST, carrier
from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot


def payload_of(robot: Robot, message) -> tuple[Payload, str, float]:
    """Return payload, frame that carries it and ramp time (s) of a SetPayload request or a PayloadState.

    DynamicsError names the field that is wrong for ``robot``, which carries nothing yet.
    """
    ixx, iyy, izz, ixy, ixz, iyz = message.inertia
    payload = Payload(message.mass, message.com, np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]))
    ramp_time = float(arguments.not_negative('ramp_time', message.ramp_time, (), 's'))
    if ramp_time > LONGEST:
        raise ArgumentError(f'ramp_time: expected at most {LONGEST:g} s, got {ramp_time:g}')
    return payload, carrier(robot, payload, message.frame), ramp_time


def gravity_of(robot: Robot, message: Vector3Stamped) -> tuple[float, float, float]:
    """Return gravity (m/s^2) in the base of ``robot``; ArgumentError where the message has it in another frame."""
    frame, base = message.header.frame_id, robot.link_names[0]
    if frame not in ('', base):
        raise ArgumentError(f'gravity: expected it in the base link {base!r}, got frame {frame!r}')
    return message.vector.x, message.vector.y, message.vector.z


def load_report(robot: Robot, mass: float) -> dict[str, str]:
    """Return what a node's diagnostics say of a payload of ``mass`` (kg) and of the gravity of ``robot``."""
    return {'payload, kg': f'{mass:g}', 'gravity, m/s^2': ' '.join(f'{part:g}' for part in robot.gravity)}
