"""Joints that follow the driven joints of a robot: what each way of following computes."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.robot import Robot


class Motion(NamedTuple):
    """A motion of all n joints, and how it follows from that of the m driven ones: qd = G yd."""

    q: np.ndarray  # (..., nq) rad, m
    qd: np.ndarray | None  # (..., n) rad/s, m/s; None where no velocities were given
    qdd: np.ndarray | None  # (..., n) rad/s^2, m/s^2; None where it is zero for driven joints without acceleration
    G: np.ndarray  # (..., n, m); that of a single state has contiguous columns

    @property
    def known(self) -> tuple[np.ndarray, ...]:
        """Positions, velocities and accelerations, without those that are None."""
        return tuple(it for it in self[:3] if it is not None)


class FollowingJoints(Protocol):
    """How all joints follow the driven ones, whose positions are y (m).

    Attributes
    ----------
    places : ndarray of int, (m,)
        Indices of the velocities of driven joints.
    followers : tuple of str
        Joints whose positions may be measured.
    stated : mapping of str to float
        Those of them that are where they are measured, and where they count until then (rad, m; NaN: they have to be
        measured).
    couplings : tuple of Coupling
        Those of mimic joints.
    mechanism : Robot or None
        The robot with its closed loops; None for mimic joints alone.
    alone : ndarray of bool, (m,)
        Driven joints that nothing follows.
    gear : ndarray, (m,)
        How many turns of each driven joint make one of all that follows it through gears, 1 or more.
    constant_G : ndarray, (n, m)
        Of G what is the same at all positions.
    has_springs : bool
        Whether joints or closures have springs or dampers.
    home : ndarray, (m,)
        A position of the driven joints at which the others can follow, rad, m.
    """

    places: np.ndarray
    followers: tuple[str, ...]
    couplings: tuple[Coupling, ...]
    alone: np.ndarray
    gear: np.ndarray
    constant_G: np.ndarray
    has_springs: bool
    home: np.ndarray

    @property
    def stated(self) -> Mapping[str, float]:
        """See above."""

    @property
    def mechanism(self) -> Robot | None:
        """See above."""

    def motion(self, y: ArrayLike, yd: ArrayLike | None = None, ydd: ArrayLike | None = None) -> Motion:
        """Return the motion of all joints at y (..., m), for velocities and accelerations of the driven joints."""

    def matrix_rate(self, y: ArrayLike, yd: ArrayLike) -> np.ndarray | None:
        """Return dG/dt (..., n, m) at y and yd, None where G is constant."""

    def spring_torque(self, motion: Motion) -> np.ndarray | None:
        """Return the torques (..., n) of springs of joints and closures, None where there are none."""
