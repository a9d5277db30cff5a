"""Plane surfaces that a simulated arm touches with the origin of one frame, such as a table or a wall."""

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.validation import finite


class Surfaces:
    """Planes n x = d in the base frame, and the frame whose origin stays on the side to which n points.

    Parameters
    ----------
    planes : array_like, (4 k,)
        n (of any length but 0) and d (m, along n) of each plane.
    frame : str
        Link or frame that touches them.

    Raises
    ------
    ArgumentError
        For other than four finite numbers for each plane, and for a normal of 0.
    """

    def __init__(self, planes, frame: str):
        planes = np.array(planes, float)
        if planes.ndim != 1 or len(planes) % 4:
            raise ArgumentError(f'surfaces: expected four numbers (x, y, z, d) for each plane, got {planes.size}')
        planes = finite('surfaces', planes, planes.shape).reshape(-1, 4)
        lengths = np.linalg.norm(planes[:, :3], axis=1)
        for k, length in enumerate(lengths):
            if not length:
                raise ArgumentError(f'surfaces: plane {k + 1}: expected a normal, got 0 0 0')
        self.normals, self.distances, self.frame = planes[:, :3] / lengths[:, None], planes[:, 3], frame

    def check_start(self, place: np.ndarray) -> None:
        """Raise ArgumentError where the frame begins at a ``place`` (3, m, base frame) behind one of the planes."""
        for k, height in enumerate(self.normals @ place - self.distances):
            if height < 0.0:
                raise ArgumentError(f'surfaces: {self.frame!r} begins {-height:.4g} m behind plane {k + 1}')
