"""The newest joint state of an arm."""

import threading
import time
from contextlib import suppress

import numpy as np
from sensor_msgs.msg import JointState

from robot_dynamics_ros.client.values import ArmState
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.messages.cdr import stamp_of
from robot_dynamics_ros.messages.joint_state import OtherJointsError, StateInput
from robot_dynamics_ros.nodes.process.publishers import STATES
from robot_dynamics_ros.robot import Robot


class MeasuredStates:
    """Reads joint states of ``robot``; those of other joints alone, and those that a node would reject, are skipped.

    ``stamp`` is that of the newest one (ns), None before the first; ``arrived`` is when it came, ``advanced`` when
    stamps last increased (steady, s), and ``speed`` the largest of all joints (rad/s, m/s; NaN where it is not known).
    """

    KIND, TOPIC = JointState, STATES

    def __init__(self, robot: Robot | DrivenRobot):
        """Read no state so far."""
        driven = robot if isinstance(robot, DrivenRobot) else None
        self._robot, self._input = robot, StateInput(robot.joint_names, driven, effort=True)
        self._order = threading.Lock()  # of the thread that receives and the one that asks
        self._newest = b''
        self.stamp: int | None = None
        self.arrived = self.advanced = -float('inf')
        self.speed = float('nan')

    def on_state(self, data: bytes) -> None:
        """Keep a state."""
        with self._order:
            try:
                stamp = self._input.read(data)
            except OtherJointsError:
                self._report(data)
                return
            except DynamicsError:
                return
            self._newest, self.arrived = data, time.monotonic()
            if stamp != self.stamp:
                self.stamp, self.advanced = stamp, self.arrived
            self.speed = float(np.abs(self._input.qd).max())

    def _report(self, data: bytes) -> None:
        """Use the positions of measured joints in a state of other joints alone, unless they are wrong."""
        with suppress(DynamicsError):
            self._input.report(data, stamp_of(data))

    def state(self, frame: str) -> ArmState:
        """Return the newest state, with the pose of ``frame``."""
        with self._order:
            found = self._input
            found.read(self._newest)
            found.follow()
            effort = found.effort if found.has_effort else np.full_like(found.q, np.nan)
            copies = (it.copy() for it in (found.q, found.qd, effort))
            return ArmState(found.stamp, *copies, self._robot.link_pose(found.q, frame))
