"""Conversion of payload and gravity in messages and requests."""

from collections.abc import Mapping

import numpy as np
from geometry_msgs.msg import Vector3, Vector3Stamped

from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_interfaces.msg import Payload as PayloadMessage
from robot_dynamics_ros import validation
from robot_dynamics_ros.control.payload.payload_gravity import (
    LONGEST,
    GravityRamp,
    PayloadRamp,
    carried,
    carrier,
    together,
)
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.base_frame import check_base
from robot_dynamics_ros.messages.stamps import nanoseconds, set_nanoseconds
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot


def body_of(robot: Robot, message) -> tuple[str, Payload]:
    """Return the frame and the payload of a ``Payload`` message, or of any message with its fields.

    DynamicsError names the field that is wrong for ``robot``, which has no payload.
    """
    payload = _payload_of(message)
    return carrier(robot, payload, message.frame), payload


def _payload_of(message) -> Payload:
    """Return the payload of a message, without its frame."""
    ixx, iyy, izz, ixy, ixz, iyz = validation.finite('inertia', message.inertia, (6,))
    return Payload(message.mass, message.com, np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]))


def ramp_time_of(message) -> float:
    """Return the ramp time (s) of a message or request; ArgumentError unless it is between 0 and ``LONGEST``."""
    ramp_time = float(validation.not_negative('ramp_time', message.ramp_time, (), 's'))
    if ramp_time > LONGEST:
        raise ArgumentError(f'ramp_time: expected at most {LONGEST:g} s, got {ramp_time:g}')
    return ramp_time


def gravity_of(robot: Robot, message: Vector3Stamped) -> tuple[float, float, float]:
    """Return gravity (m/s^2) in the base link of ``robot``; ArgumentError for another frame or a NaN or inf."""
    check_base('gravity', robot, message.header.frame_id)
    return _vector('gravity', message.vector)


def payload_ramp_of(robot: Robot, message: PayloadState) -> PayloadRamp:
    """Return the ramp of a ``PayloadState``; DynamicsError names the field that is wrong for ``robot``."""
    after = carried(robot, _payload_of(message), message.frame)
    duration = round(ramp_time_of(message) * 1e9)
    before: list[tuple[str, Payload]] = []
    for k, body in enumerate(message.before):
        try:
            before += carried(robot, _payload_of(body), body.frame).items()
        except DynamicsError as error:
            raise ArgumentError(f'before[{k}]: {error}') from error
    return PayloadRamp(after, together(before), nanoseconds(message.stamp), duration)


def gravity_ramp_of(robot: Robot, message: GravityState) -> GravityRamp:
    """Return the ramp of a ``GravityState``; ArgumentError names the field that is wrong for ``robot``."""
    check_base('gravity', robot, message.header.frame_id)
    after, before = _vector('gravity', message.gravity), _vector('before', message.before)
    return GravityRamp(after, before, nanoseconds(message.header.stamp), round(ramp_time_of(message) * 1e9))


def payload_state(robot: Robot, ramp: PayloadRamp) -> PayloadState:
    """Return the message of ``ramp``, without a payload a mass of 0 on the last link of ``robot``."""
    (body,) = payload_messages(ramp.after) or [PayloadMessage(frame=robot.link_names[-1])]
    state = PayloadState(
        mass=body.mass,
        com=body.com,
        inertia=body.inertia,
        frame=body.frame,
        ramp_time=ramp.duration * 1e-9,
        before=payload_messages(ramp.before),
    )
    set_nanoseconds(state.stamp, ramp.start)
    return state


def gravity_state(robot: Robot, ramp: GravityRamp) -> GravityState:
    """Return the message of ``ramp``, in the base link of ``robot``."""
    after, before = (Vector3(x=x, y=y, z=z) for x, y, z in (ramp.after, ramp.before))
    state = GravityState(gravity=after, before=before, ramp_time=ramp.duration * 1e-9)
    set_nanoseconds(state.header.stamp, ramp.start)
    state.header.frame_id = robot.link_names[0]
    return state


def payload_messages(payloads: Mapping[str, Payload]) -> list[PayloadMessage]:
    """Return a ``Payload`` message for each of ``payloads``, whose keys are names of frames."""
    return [
        PayloadMessage(
            mass=payload.mass,
            com=payload.com,
            inertia=[payload.inertia[place] for place in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
            frame=frame,
        )
        for frame, payload in payloads.items()
    ]


def payload_gravity_report(mass: float, gravity) -> dict[str, str]:
    """Return the diagnostics of a payload of ``mass`` (kg) and of ``gravity`` (3, m/s^2)."""
    return {'payload, kg': f'{mass:g}', 'gravity, m/s^2': ' '.join(f'{part:g}' for part in gravity)}


def _vector(name: str, vector: Vector3) -> tuple[float, float, float]:
    """Return the components of ``vector``; ArgumentError unless they are finite."""
    x, y, z = validation.finite(name, (vector.x, vector.y, vector.z), (3,)).tolist()
    return x, y, z
