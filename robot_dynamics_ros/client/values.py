"""Values of a client: a joint state, the error at the end of a motion, a stiffness."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation


class ArmState(NamedTuple):
    """The newest joint state, in the joint order of ``Arm.robot``."""

    stamp: int
    """Of the joint state, ns."""
    positions: np.ndarray
    """(n,) rad, m."""
    velocities: np.ndarray
    """(n,) rad/s, m/s; NaN where the driver reports none."""
    efforts: np.ndarray
    """(n,) as the driver reports them; NaN where it reports none."""
    pose: np.ndarray
    """(4, 4) of ``Arm.frame`` in the base link, m."""


class Reached(NamedTuple):
    """How far the measured frame is from the pose to which it was led."""

    distance: float
    """Between both origins, m."""
    angle: float
    """Of the rotation from one to the other, rad."""

    @classmethod
    def between(cls, measured: np.ndarray, pose: np.ndarray) -> 'Reached':
        """Return the distance between two poses (4, 4)."""
        R = measured[:3, :3].T @ pose[:3, :3]
        twice_sine = np.linalg.norm([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        angle = math.atan2(twice_sine, np.trace(R) - 1.0)
        return cls(float(np.linalg.norm(measured[:3, 3] - pose[:3, 3])), angle)


class FrameStiffness:
    """Stiffness of the frame of a Cartesian impedance.

    Parameters
    ----------
    translational : array_like, (3,)
        In x, y and z, at least 0 N/m.
    rotational : array_like, (3,)
        About x, y and z, at least 0 N m/rad.

    Raises
    ------
    ArgumentError
        For another shape, a number that is negative or not finite.
    """

    def __init__(self, translational: ArrayLike, rotational: ArrayLike):
        """Check the numbers."""
        self.translational: np.ndarray = validation.not_negative('translational', translational, (3,), 'N/m')
        self.rotational: np.ndarray = validation.not_negative('rotational', rotational, (3,), 'N m/rad')

    def of_axes(self, axes: ArrayLike, others: 'FrameStiffness') -> 'FrameStiffness':
        """Return this stiffness for ``axes`` (2, 3; bool, translation first), and that of ``others`` for all others."""
        mine, other = ([it.translational, it.rotational] for it in (self, others))
        return FrameStiffness(*np.where(axes, mine, other))

    def __repr__(self) -> str:
        """Return the numbers."""
        return f'FrameStiffness({self.translational.tolist()}, {self.rotational.tolist()})'
