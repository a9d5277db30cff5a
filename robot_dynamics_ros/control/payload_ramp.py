"""What a robot carries over time."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from robot_dynamics_ros.control.ramp import Ramp
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot

LARGEST = 1e8
"""kg, m, kg m, kg m^2: beyond it rounding alone would make two bodies none. Cranes stay below."""
SMALLEST = 1e-9
"""kg: a share of less may be no number any more, while its inertia is one."""
LONGEST = 3600.0
"""s from one payload to another."""


@dataclass(frozen=True)
class PayloadRamp(Ramp[Mapping[str, Payload]]):
    """Payloads over time, by the name of the frame that carries them.

    Mass, first moments and inertia change linearly from ``before`` to ``after``, whatever frames they are on: what lies
    between two bodies is a body.
    """

    after: Mapping[str, Payload] = field(default_factory=dict)
    before: Mapping[str, Payload] = field(default_factory=dict)

    def at(self, time: int) -> Mapping[str, Payload]:
        """Return what is carried at ``time`` (ns): ``after`` itself once the ramp is finished, ``before`` before it."""
        share = self.share(time)
        if share >= 1.0:
            return self.after
        if share <= 0.0:
            return self.before
        carried: dict[str, Payload] = {}
        for payloads, part in ((self.before, 1.0 - share), (self.after, share)):
            for frame, payload in payloads.items():
                body = Payload(part * payload.mass, payload.com, part * payload.inertia)
                carried[frame] = carried[frame] + body if frame in carried else body
        return carried

    def to(self, frame: str, payload: Payload, start: int, ramp_time: float) -> 'PayloadRamp':
        """Return the ramp from what is carried at ``start`` (ns) to ``payload`` alone, over ``ramp_time`` s."""
        after = {frame: payload} if payload.mass else {}
        return PayloadRamp(after, self.at(start), start, round(ramp_time * 1e9))

    @property
    def mass(self) -> float:
        """Mass of ``after``, kg."""
        return sum(payload.mass for payload in self.after.values())


def carrier(robot: Robot, payload: Payload, frame: str) -> str:
    """Return the name of the frame that carries ``payload``, the last link for ''; DynamicsError if none can.

    ``robot`` carries nothing yet. What another link than the last carries would need code that is not compiled.
    """
    check_size(payload)
    loaded = robot.with_payload(payload, frame or None)
    (name,) = loaded.payloads
    if loaded.binding != robot.binding:
        raise ArgumentError(f'frame: {name!r} is not fixed to the last link; what other links carry is in the URDF')
    return name


def check_size(payload: Payload) -> None:
    """Refuse a mass below ``SMALLEST``, and any figure, about the frame's origin too, beyond ``LARGEST``."""
    within = np.abs(payload.com).max() <= LARGEST and np.abs(payload.ten_parameters).max() <= LARGEST
    if not within:
        raise ArgumentError(
            f'mass, com, inertia: expected none beyond {LARGEST:g} kg, m, kg m, kg m^2 about the origin of the frame'
        )
    if 0.0 < payload.mass < SMALLEST:
        raise ArgumentError(f'mass: expected 0 or at least {SMALLEST:g} kg, got {payload.mass:g}')


def carrying(robot: Robot, payloads: Mapping[str, Payload]) -> Robot:
    """Return ``robot`` with ``payloads`` added to the frames that they are named after."""
    for frame, payload in payloads.items():
        robot = robot.with_payload(payload, frame)
    return robot
