"""Conversion of WrenchStamped messages to the stiffness of a frame."""

import struct

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.cdr import stamped_numbers

NUMBERS = struct.Struct('<6d')
"""Force and torque."""


def read_stiffness(data: bytes, frame: str) -> np.ndarray:
    """Return the stiffness in a serialised message, (6,): torque as N m/rad, then force as N/m.

    ArgumentError unless it is a WrenchStamped with finite numbers in the axes of ``frame``, or with an empty frame_id.
    """
    _, stated, numbers = stamped_numbers('WrenchStamped', data, NUMBERS)
    if stated not in ('', frame):
        raise ArgumentError(f'stiffness: expected it in the axes of {frame!r}, got frame {stated!r}')
    return np.roll(validation.finite('stiffness', numbers, (6,)), 3)
