"""Conversion of WrenchStamped messages to the stiffness of a frame."""

import struct
from math import isfinite

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.cdr import stamped_numbers

NUMBERS = struct.Struct('<6d')
"""Force and torque."""
FIELDS = tuple(f'{part}.{axis}' for part in ('force', 'torque') for axis in 'xyz')


def read_stiffness(data: bytes, frame: str) -> np.ndarray:
    """Return the stiffness in a serialised message, (6,): torque as N m/rad, then force as N/m.

    ArgumentError unless it is a WrenchStamped with finite numbers in the axes of ``frame``, or with an empty frame_id.
    """
    _, stated, numbers = stamped_numbers('WrenchStamped', data, NUMBERS)
    if stated not in ('', frame):
        raise ArgumentError(f'stiffness: expected it in the axes of {frame!r}, got frame {stated!r}')
    for name, number in zip(FIELDS, numbers, strict=True):
        if not isfinite(number):
            raise ArgumentError(f'{name}: {number} is not finite')
    return np.roll(numbers, 3)
