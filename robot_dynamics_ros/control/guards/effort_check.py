"""Check of measured efforts against the gravity torque, each time the arm stands still."""

from collections import deque

import numpy as np

from robot_dynamics_ros.control.arm.static_torque import largest_static_torque
from robot_dynamics_ros.control.guards.measured_effort import MeasuredEffort, Resting, Verdict
from robot_dynamics_ros.control.joints.joint_friction import static_friction
from robot_dynamics_ros.control.joints.standstill import Standstill
from robot_dynamics_ros.robot import Robot

POSITIONS = 16
"""Number of positions that are compared; a new one replaces the oldest."""


class EffortCheck:
    """Efforts in the last ``POSITIONS`` positions in which the arm stood, under one payload and gravity.

    Parameters
    ----------
    effort : MeasuredEffort
        The stated meaning.
    n : int
        Number of joints.
    """

    def __init__(self, effort: MeasuredEffort, n: int):
        self._effort, self._standstill = effort, Standstill(n)
        self._robot: Robot | None = None
        self._largest = 0.0
        self._rests: deque[Resting] = deque(maxlen=POSITIONS)
        self._is_known = False  # this standstill is the last of the rests

    def add(self, robot: Robot, stamp: int, q: np.ndarray, qd: np.ndarray, effort: np.ndarray) -> None:
        """Add a joint state.

        Parameters
        ----------
        robot : Robot
            The arm with its payload in force. Efforts under another one are dropped, so it has to be the same object
            while nothing changes.
        stamp : int
            Time of the state, ns.
        q, qd, effort : ndarray, (n,)
            Positions (rad, m), velocities (rad/s, m/s; may be NaN) and efforts (as stated).
        """
        if robot is not self._robot:
            self._robot = robot
            self._rests.clear()
            self._standstill.reset()
        rests = self._standstill.add(stamp, q, qd, effort)
        if self._standstill.is_new:
            self._is_known = False
        if not rests:
            return
        if self._is_known:
            self._rests.pop()
        elif not self._rests:
            self._largest = float(largest_static_torque(robot).torque.max(initial=0.0))
        gravity = robot.gravity_torque(self._standstill.position)
        friction = static_friction(robot, self._standstill.position, gravity)
        self._rests.append(Resting(gravity, friction, self._standstill.effort))
        self._is_known = True

    def verdict(self) -> Verdict:
        """Return whether the efforts fit their stated meaning."""
        return self._effort.judge(self._rests, self._largest)

    def differences(self) -> np.ndarray:
        """Return of each joint (n,) the joint torque minus the gravity torque of largest magnitude, N m (N).

        Shape (0,) while the arm has not stood still.
        """
        if not self._rests:
            return np.zeros(0)
        found = np.array([self._effort.difference(rest) for rest in self._rests])
        return found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
