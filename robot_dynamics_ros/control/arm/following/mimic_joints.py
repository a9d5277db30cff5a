"""Mimic joints: followers at a multiple of the position of a driven joint, plus an offset.

The positions of all joints are q = G y + c with those of the driven joints y; G and c, of the multipliers and offsets,
are constant. Where positions of followers are measured, c is what they differ from G y. A joint that is locked where it
is measured follows no other joint; until it was measured it is where its coupling says.
"""

import math
import threading
from collections.abc import Iterable, Mapping

import numpy as np

from robot_dynamics_ros.control.arm.following.following_joints import Motion
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.robot import Robot


class _OfThread(threading.local):
    """Arrays of one thread for a single state."""

    def __init__(self, n: int):
        self.state = np.zeros((3, n))


class MimicJoints:
    """Joints that follow the m driven joints of a tree of n joints, each of one coordinate.

    Parameters
    ----------
    robot : Robot
        The tree.
    couplings : iterable of Coupling
        One for each follower, with a polynomial of degree one or zero.
    measured : mapping of str to float, optional
        Followers that are where they are measured, and where they count until they were (rad, m; NaN: they have to be
        measured); their couplings are constant.

    Raises
    ------
    ModelError
        For a coupling of a higher degree, followers that follow each other, or no driven joint, naming a joint.

    Attributes
    ----------
    places : ndarray of int, (m,)
        Indices of the driven joints.
    followers : tuple of str
        Names of the others.
    alone : ndarray of bool, (m,)
        Driven joints that nothing follows.
    gear : ndarray, (m,)
        How many turns of each driven joint make one of all that follows it, 1 or more.
    constant_G : ndarray, (n, m)
        Multipliers.
    has_springs : bool
        Whether joints have springs.
    home : ndarray, (m,)
        Zeros.
    """

    mechanism = None

    def __init__(self, robot: Robot, couplings: Iterable[Coupling], measured: Mapping[str, float] | None = None):
        self.couplings = tuple(couplings)
        self.stated = dict(measured or {})
        names = robot.joint_names
        if robot.model.motor_coupling and self.couplings:
            motor = robot.model.joint_of_velocity(robot.model.motor_coupling[0][0])
            raise ModelError(
                f'{robot.name}: the motor of joint {motor!r} is coupled; mimic joints beside it are not supported'
            )
        leader, slope, nominal, anchor = _resolved(names, self.couplings)
        followers = {coupling.joint for coupling in self.couplings}
        self.places = np.array([i for i, name in enumerate(names) if name not in followers], np.intp)
        if not len(self.places):
            raise ModelError(f'{robot.name}: every joint follows another one')
        self.followers = tuple(name for name in names if name in followers)
        order = {int(place): k for k, place in enumerate(self.places)}
        self._leader = np.array([order.get(i, 0) for i in leader], np.intp)  # a constant one has slope 0
        self._slope, self._nominal, self._offset = np.array(slope), tuple(nominal), np.array(nominal)
        # index of the follower's position, of the joint, of the constant joint that it follows, and by which multiplier
        of_followers = [(k, names.index(name), *anchor[names.index(name)]) for k, name in enumerate(self.followers)]
        self._following = sorted(of_followers, key=lambda it: it[1] != it[2])  # a constant joint before those behind it
        self.constant_G = np.zeros((len(self.places), robot.nv)).T
        self.constant_G[np.arange(robot.nv), self._leader] = self._slope
        self.alone = (self.constant_G != 0.0).sum(axis=0) == 1
        slowest = np.where(self.constant_G == 0.0, np.inf, np.abs(self.constant_G)).min(axis=0)
        self.gear = np.maximum(1.0, 1.0 / slowest)
        self.home = np.zeros(len(self.places))
        self._own = _OfThread(robot.nv)
        self._robot, self._at_rest = robot, np.zeros(robot.nv)
        self.has_springs = robot.model.arrays.has_springs

    def motion(self, y, yd=None, ydd=None) -> Motion:
        """Return G y + c, and G yd and G ydd, None where these are; those of single states are arrays of the thread."""
        return Motion(
            self._full(0, y, self._offset),
            None if yd is None else self._full(1, yd),
            None if ydd is None else self._full(2, ydd),
            self.constant_G,
        )

    def matrix_rate(self, y, yd) -> None:
        """Return that G does not change."""

    def spring_torque(self, motion: Motion) -> np.ndarray | None:
        """Return the torques (..., n; N m, N) of springs of joints, None where there are none."""
        return self._robot.spring_torque(motion.q, self._at_rest) if self.has_springs else None

    def measure(
        self, y, positions, stamp: int, limits: PositionLimits | None = None, arrival: float = math.nan
    ) -> None:
        """Use measured positions of the followers (rad, m) at those of the driven joints y (m); NaN: as they mimic.

        Raises ArgumentError where that of a joint that has to be measured is NaN, and for one beyond ``limits``, those
        of the followers.
        """
        for k, i, constant, _ in self._following:
            position = float(positions[k])
            if position != position:
                if i == constant and np.isnan(self.stated.get(self.followers[k], 0.0)):
                    raise ArgumentError(
                        f"joint {self.followers[k]!r} is missing or not finite; locked_joints says 'measured' for it"
                    )
            elif limits is not None and (fault := limits.fault(k, position)):
                raise ArgumentError(fault)
        for k, i, constant, multiplier in self._following:
            position = positions[k]
            if position == position:
                self._offset[i] = position - self._slope[i] * y[self._leader[i]]
            else:
                moved = self._offset[constant] - self._nominal[constant] if i != constant else 0.0
                self._offset[i] = self._nominal[i] + multiplier * moved

    def _full(self, buffer: int, y, offset=0.0) -> np.ndarray:
        """Return G y + offset (..., n), in a buffer for a single state."""
        y = np.asarray(y, float)
        if y.ndim > 1:
            return y[..., self._leader] * self._slope + offset
        full = np.take(y, self._leader, out=self._own.state[buffer], mode='clip')
        full *= self._slope
        full += offset
        return full


def with_followers(couplings: Iterable[Coupling], positions: Mapping[str, float]) -> dict[str, float]:
    """Return positions of locked joints (rad, m) with those of their followers; a locked follower keeps its own."""
    locked, left = dict(positions), [it for it in couplings if it.joint not in positions]
    while led := [it for it in left if it.other is None or it.other in locked]:
        for it in led:
            x = 0.0 if it.other is None else locked[it.other]
            locked[it.joint] = float(np.polynomial.polynomial.polyval(x, it.polynomial))
        left = [it for it in left if it.joint not in locked]
    return locked


def _resolved(names, couplings: Iterable[Coupling]) -> tuple[list[int], list[float], list[float], list]:
    """Return for each joint its place, multiplier and offset relative to a joint that does not follow (-1: none).

    Last for each joint the constant one that it follows, itself where there is none, and by which multiplier.
    """
    by_joint = {coupling.joint: coupling for coupling in couplings}
    leaders, slopes, offsets, anchors = [], [], [], []
    for i, name in enumerate(names):
        joint: str | None = name
        slope, offset, passed, anchor = 1.0, 0.0, {name}, (i, 0.0)
        while joint in by_joint:
            c0, c1, *higher = (*by_joint[joint].polynomial, 0.0)
            if any(higher):
                raise ModelError(f'coupling of joint {joint!r}: it is not linear; lock the joint')
            if by_joint[joint].other is None:
                anchor = names.index(joint), slope
            # q = slope (c0 + c1 q_other) + offset
            offset, slope, joint = offset + slope * c0, slope * c1, by_joint[joint].other
            if joint in passed:
                raise ModelError(f'joint {name!r}: it mimics itself, by {joint!r}')
            passed.add(str(joint))
        leaders.append(-1 if joint is None else names.index(joint))
        slopes.append(0.0 if joint is None else slope)
        offsets.append(offset)
        anchors.append(anchor)
    return leaders, slopes, offsets, anchors
