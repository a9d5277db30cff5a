"""Plays a measured motion through ``feedforward_node``: its states out, the torques of the node in."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.messages.joint_trajectory import trajectory_message
from robot_dynamics_ros.messages.stamps import nanoseconds, set_nanoseconds
from robot_dynamics_ros.tools.processes import Client, ProcessError, Processes

if TYPE_CHECKING:
    from robot_dynamics_ros.identification.logs.log import Log

WINDOW = 4
"""States sent ahead of their torques: fewer than the node's input queue has places, so that none is dropped."""
TORQUE_TIMEOUT = 5.0
"""Time after which a state without a torque counts as lost, s."""


def played(log: 'Log', joint_names: Sequence[str], arguments: Sequence[str], output: Path) -> 'Comparison':
    """Return the torques of a ``feedforward_node`` with ROS ``arguments`` beside those of a log.

    Topics are in a namespace of this process: no other node receives the states of the log. The node's log is in
    ``output``.
    """
    namespace = ('-r', f'__ns:=/replay_{os.getpid()}')
    try:
        with Processes(output) as processes, Client('replay', processes, ['--ros-args', *namespace]) as client:
            processes.start('feedforward_node', *namespace, *arguments)
            client.wait_until_active('feedforward_node')
            return Player(client, joint_names).play(log)
    except ExternalShutdownException:
        raise KeyboardInterrupt from None


@dataclass(frozen=True)
class Comparison:
    """Published and measured torques, (m, n) N m each, at time (m,) s; ``lost`` counts states without a torque."""

    time: np.ndarray
    published: np.ndarray
    measured: np.ndarray
    lost: int

    @property
    def rms(self) -> np.ndarray:
        """RMS difference of each joint (n,) in N m."""
        return np.sqrt(np.mean((self.published - self.measured) ** 2, axis=0))

    @property
    def r2(self) -> np.ndarray:
        """Coefficient of determination of each joint (n,)."""
        spread = np.mean((self.measured - self.measured.mean(axis=0)) ** 2, axis=0)
        return 1.0 - self.rms**2 / spread


class Player:
    """Publishes the states of a log to ``feedforward_node`` and records its torques by stamp."""

    def __init__(self, client: Client, joint_names):
        """Connect to the topics of the running node."""
        self._client, node = client, client.node
        self._state = JointState(name=list(joint_names))
        self._torque_at: dict[int, np.ndarray] = {}
        self._torques = node.create_subscription(JointState, 'feedforward_torque', self._on_torque, 10 * WINDOW)
        self._states = node.create_publisher(JointState, 'joint_states', 10 * WINDOW)
        self._trajectories = node.create_publisher(JointTrajectory, 'joint_trajectory', 1)
        for publisher in (self._states, self._trajectories):
            client.spin_until(lambda p=publisher: p.get_subscription_count(), 10.0, 'subscriptions of feedforward_node')
        client.spin_until(lambda: node.count_publishers('feedforward_torque'), 10.0, 'publisher of feedforward_node')

    def play(self, log: 'Log') -> Comparison:
        """Publish the log as a trajectory and its states one by one, as fast as the torques arrive."""
        start = self._client.node.get_clock().now().nanoseconds
        stamps = [start + round(t * 1e9) for t in log.t]
        trajectory = trajectory_message(self._state.name, log.t, log.q, log.qd, log.qdd)
        set_nanoseconds(trajectory.header.stamp, start)
        self._trajectories.publish(trajectory)
        self._send_first(stamps[0], log.q[0], log.qd[0])
        lost = 0
        for k in range(1, len(stamps)):
            self._send(stamps[k], log.q[k], log.qd[k])
            if k >= WINDOW:
                lost += not self._receive(stamps[k - WINDOW + 1])
        lost += sum(not self._receive(stamp) for stamp in stamps[-WINDOW + 1 :])
        known = [k for k, stamp in enumerate(stamps) if stamp in self._torque_at]
        published = np.array([self._torque_at[stamps[k]] for k in known])
        return Comparison(log.t[known], published, log.tau[known], lost)

    def _send_first(self, stamp: int, q, qd) -> None:
        """Repeat the first state until it has a torque: it may arrive before the trajectory, on another topic."""
        for _ in range(100):
            self._send(stamp, q, qd)
            if self._receive(stamp, 0.1):
                return
        raise ProcessError('feedforward_node publishes no torque for the first state of the log; see its log')

    def _send(self, stamp: int, q, qd) -> None:
        """Publish one state."""
        set_nanoseconds(self._state.header.stamp, stamp)
        self._state.position, self._state.velocity = q.tolist(), qd.tolist()
        self._states.publish(self._state)

    def _receive(self, stamp: int, timeout: float = TORQUE_TIMEOUT) -> bool:
        """Return whether the torque for the state of ``stamp`` (ns) arrives within ``timeout`` s."""
        return self._client.spin_while_waiting(lambda: stamp in self._torque_at, timeout)

    def _on_torque(self, message: JointState) -> None:
        """Record a torque."""
        self._torque_at[nanoseconds(message.header.stamp)] = np.array(message.effort)
