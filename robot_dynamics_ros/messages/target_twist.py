"""Conversion of TwistStamped messages to the velocity of a frame."""

import struct
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.cdr import stamped_numbers

NUMBERS = struct.Struct('<6d')
"""Linear and angular velocity."""


class TargetTwist(NamedTuple):
    """Contents of a TwistStamped.

    The stamp of the header (ns), the velocity (6; rad/s and m/s, rotation first), and whether it is in the axes of the
    frame that moves, else in those of the base.
    """

    stamp: int
    twist: np.ndarray
    is_local: bool

    @classmethod
    def read(cls, base: str, frame: str, data: bytes) -> 'TargetTwist':
        """Return the contents of a serialised message about a ``frame`` of an arm on a ``base``.

        ArgumentError unless it is a TwistStamped with finite numbers in the axes of one of them; no frame_id: the base.
        """
        stamp, stated, numbers = stamped_numbers('TwistStamped', data, NUMBERS)
        if stated not in ('', base, frame):
            raise ArgumentError(f'twist: expected it in the axes of {base!r} or {frame!r}, got frame {stated!r}')
        twist = np.roll(validation.finite('twist', numbers, (6,)), 3)
        return cls(stamp, twist, stated == frame != base)
