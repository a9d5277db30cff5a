"""Measured efforts of joint_states, sampled while their meaning is stated, and compared with gravity at rest."""

import time
from typing import Protocol

import numpy as np
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from robot_dynamics_ros.control.guards.effort_check import EffortCheck
from robot_dynamics_ros.control.guards.measured_effort import MeasuredEffort
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.messages.cdr import stamp_of
from robot_dynamics_ros.messages.joint_state import JointStateInput, OtherJointsError
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.nodes.process.raw_executor import NoExecutor
from robot_dynamics_ros.robot import Robot

PERIOD = 0.1
"""s between two looks at the newest joint states; no callback is called for each of them."""
SILENCE = 2.0
"""s without a joint state after which the efforts at rest are no longer reported."""
QOS = QoSProfile(depth=8, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Several publishers, such as a gripper's, have a place."""


class Carrying(Protocol):
    """Payload and gravity in force."""

    @property
    def robot(self) -> Robot:
        """The robot under them; the same object while nothing changes. DynamicsError where they are not known."""


class EffortInput:
    """Measured efforts of a configured node's arm; without the parameter ``effort`` it has no subscription.

    The node's executor calls all methods.
    """

    POSITION, EFFORT = 0b001, 0b100

    def __init__(self, node, payload_gravity: Carrying):
        """Sample for ``node``, a BaseNode, whose arm has payload and gravity of ``payload_gravity``.

        DynamicsError for currents without torque constants, and for a robot with closed loops: its gravity torque is
        not determined by its position.
        """
        self._payload_gravity, self._robot, self._meaning = payload_gravity, node.robot, node.value('effort')
        self._check: EffortCheck | None = None
        self._missing, self._heard = '', -np.inf
        if not self._meaning:
            return
        robot = self._robot
        check_tree(robot.model, 'the parameter effort')
        self._check = EffortCheck(MeasuredEffort(self._meaning, robot.joint_names, self._constants), robot.nv)
        limits = PositionLimits(robot, node.value('position_limit_tolerance'))
        self._input = JointStateInput(robot.joint_names, 'position', 'velocity', 'effort', limits=limits)
        self._subscription = node.create_subscription(
            JointState, 'joint_states', self._on_state, QOS, callback_group=NoExecutor(), raw=True
        )
        node.resources.callback(node.destroy_subscription, self._subscription)
        timer = node.create_timer(PERIOD, self._on_timer, clock=node.steady_clock)
        node.resources.callback(node.destroy_timer, timer)

    def warnings(self) -> list[str]:
        """Return what contradicts the stated meaning."""
        if self._check is None:
            return []
        if self._missing:
            return [f'effort: stated as {self._meaning}, but joint_states has none: {self._missing}']
        verdict = self._check.verdict()
        return [f'effort: {verdict.sentence}'] if verdict.fits is False else []

    def report(self) -> dict[str, str]:
        """Return the meaning, what efforts at rest say, and the largest difference from gravity of each joint."""
        sentence, differences = '', np.zeros(0)
        if self._check is not None:
            is_silent = time.monotonic() - self._heard > SILENCE
            sentence = 'no joint_states with efforts' if is_silent else self._check.verdict().sentence
            differences = self._check.differences()
        return {
            'effort': self._meaning or 'not stated',
            'effort at rest': sentence,
            'effort minus gravity at rest, N m': ' '.join(f'{torque:.3g}' for torque in differences),
        }

    def _on_timer(self) -> None:
        """Take the joint states since the last look."""
        while (taken := self._subscription.handle.take_message(None, True)) is not None:
            self._on_state(*taken)

    def _on_state(self, data: bytes, info: dict) -> None:
        """Add the joint state in a message (bytes), or remember why it has no effort; other joints are ignored."""
        try:
            found = self._input.receive(data)
            stamp = stamp_of(data)
        except OtherJointsError:
            return
        except DynamicsError as error:
            self._missing = str(error)
            return
        if found & self.POSITION and found & self.EFFORT:
            try:
                robot = self._payload_gravity.robot
            except DynamicsError:  # the diagnostics have it: payload or gravity are not known
                return
            self._missing, self._heard = '', time.monotonic()
            self._check.add(robot, stamp, *self._input.numbers)
        else:
            self._missing = self._input.missing('effort' if found & self.POSITION else 'position')

    def _constants(self) -> np.ndarray:
        return torque_constants(self._robot)


def torque_constants(robot: Robot) -> np.ndarray:
    """Return the torque constants of a robot's joints (n,); ModelError naming a joint whose constant is unknown."""
    known = dict(zip(robot.model.joint_names, robot.model.torque_constant(), strict=True))
    return np.array([known[name] for name in robot.joint_names])
