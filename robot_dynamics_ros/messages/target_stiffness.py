"""Conversion of WrenchStamped messages to the stiffness of a frame."""

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.spatial_vector import finite_numbers


def read_stiffness(data: bytes, frame: str) -> np.ndarray:
    """Return the stiffness in a serialised message, (6,): torque as N m/rad, then force as N/m.

    ArgumentError unless it is a WrenchStamped with finite numbers in the axes of ``frame``, or with an empty frame_id.
    """
    _, stated, stiffness = finite_numbers('wrench', data)
    if stated not in ('', frame):
        raise ArgumentError(f'stiffness: expected it in the axes of {frame!r}, got frame {stated!r}')
    return stiffness
