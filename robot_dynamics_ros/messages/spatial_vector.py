"""Conversion of TwistStamped and WrenchStamped messages to a velocity of a frame, or a wrench at it."""

import struct
from math import isfinite
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.cdr import stamped_numbers

NUMBERS = struct.Struct('<6d')
KINDS = {'twist': ('TwistStamped', 'linear', 'angular'), 'wrench': ('WrenchStamped', 'force', 'torque')}
"""Type of the message, and its parts with three numbers each."""


def finite_numbers(name: str, data: bytes) -> tuple[int, str, np.ndarray]:
    """Return stamp (ns), frame_id and numbers (6, rotation first) of a serialised 'twist' or 'wrench'.

    ArgumentError unless it is such a message with finite numbers.
    """
    kind, *parts = KINDS[name]
    stamp, frame, numbers = stamped_numbers(kind, data, NUMBERS)
    for field, number in zip((f'{part}.{axis}' for part in parts for axis in 'xyz'), numbers, strict=True):
        if not isfinite(number):
            raise ArgumentError(f'{field}: {number} is not finite')
    return stamp, frame, np.roll(numbers, 3)


class SpatialVector(NamedTuple):
    """Contents of such a message.

    The stamp of the header (ns), the vector (6, rotation first; rad/s and m/s, or N m and N), and whether it is in the
    axes of the frame, else in those of the base.
    """

    stamp: int
    vector: np.ndarray
    is_local: bool

    @classmethod
    def read(cls, name: str, base: str, frame: str, data: bytes) -> 'SpatialVector':
        """Return the 'twist' or 'wrench' in a serialised message about a ``frame`` of an arm on a ``base``.

        ArgumentError unless it is that message with finite numbers in the axes of one of them; no frame_id: the base.
        """
        stamp, stated, vector = finite_numbers(name, data)
        if stated not in ('', base, frame):
            raise ArgumentError(f'{name}: expected it in the axes of {base!r} or {frame!r}, got frame {stated!r}')
        return cls(stamp, vector, stated == frame != base)
