"""Plays a measured log through ``feedforward_node`` over DDS and compares its torques with the measured ones."""

from dataclasses import dataclass

import numpy as np
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.messages.stamps import nanoseconds, set_nanoseconds
from robot_dynamics_ros.tools.log_file import Log
from robot_dynamics_ros.tools.motions import trajectory_message
from robot_dynamics_ros.tools.processes import Client, ProcessError

WINDOW = 4
"""States that may be under way unanswered: fewer than the node's input queue holds, so that none is dropped."""
ANSWER_TIMEOUT = 5.0
"""Time after which a state that got no answer counts as lost, s."""


@dataclass(frozen=True)
class Comparison:
    """Published against measured torques, (m, n) N m each, at time (m,) s; ``lost`` states got no answer."""

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
    """Publishes a log's states to ``feedforward_node`` and keeps its answers by stamp."""

    def __init__(self, client: Client, joint_names):
        """Join the running node's topics."""
        self._client, node = client, client.node
        self._state = JointState(name=list(joint_names))
        self._answers: dict[int, np.ndarray] = {}
        self._torques = node.create_subscription(JointState, 'feedforward_torque', self._on_torque, 10 * WINDOW)
        self._states = node.create_publisher(JointState, 'joint_states', 10 * WINDOW)
        self._trajectories = node.create_publisher(JointTrajectory, 'joint_trajectory', 1)
        for publisher in (self._states, self._trajectories):
            client.spin_until(lambda p=publisher: p.get_subscription_count(), 10.0, 'a listening feedforward_node')
        client.spin_until(lambda: node.count_publishers('feedforward_torque'), 10.0, 'a publishing feedforward_node')

    def play(self, log: Log) -> Comparison:
        """Send the log as trajectory and state by state, as fast as the node answers."""
        start = self._client.node.get_clock().now().nanoseconds
        stamps = [start + round(t * 1e9) for t in log.time]
        trajectory = trajectory_message(self._state.name, log.time, log.q, log.qd, log.qdd)
        set_nanoseconds(trajectory.header.stamp, start)
        self._trajectories.publish(trajectory)
        self._send_until_answered(stamps[0], log.q[0], log.qd[0])
        lost = 0
        for k in range(1, len(stamps)):
            self._send(stamps[k], log.q[k], log.qd[k])
            if k >= WINDOW:
                lost += not self._answered(stamps[k - WINDOW + 1])
        lost += sum(not self._answered(stamp) for stamp in stamps[-WINDOW + 1 :])
        known = [k for k, stamp in enumerate(stamps) if stamp in self._answers]
        published = np.array([self._answers[stamps[k]] for k in known])
        return Comparison(log.time[known], published, log.torque[known], lost)

    def _send_until_answered(self, stamp: int, q, qd) -> None:
        """Repeat the first state until the trajectory has arrived before it (topics keep no order among them)."""
        for _ in range(100):
            self._send(stamp, q, qd)
            if self._answered(stamp, 0.1):
                return
        raise ProcessError('feedforward_node does not answer the first state of the log')

    def _send(self, stamp: int, q, qd) -> None:
        """Publish one state."""
        set_nanoseconds(self._state.header.stamp, stamp)
        self._state.position, self._state.velocity = q.tolist(), qd.tolist()
        self._states.publish(self._state)

    def _answered(self, stamp: int, timeout: float = ANSWER_TIMEOUT) -> bool:
        """Return whether a state is answered in time."""
        return self._client.spin_while_waiting(lambda: stamp in self._answers, timeout)

    def _on_torque(self, message: JointState) -> None:
        """Keep an answer."""
        self._answers[nanoseconds(message.header.stamp)] = np.array(message.effort)
