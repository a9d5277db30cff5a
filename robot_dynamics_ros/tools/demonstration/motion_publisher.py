"""Publishes the demo's motion repeatedly, at stamps that follow joint states."""

from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.messages.stamps import nanoseconds, set_nanoseconds
from robot_dynamics_ros.tools.demonstration.motions import SWEEP, Motion

SECOND = 1_000_000_000
LEAD = SECOND // 2
"""Time from the first publication of a trajectory to its start, ns."""
PAUSE = SECOND
"""Time between two motions, ns."""
PERIOD = 0.1
"""Period of the timer, s."""


class DemoMotion(Node):
    """Publishes ``joint_trajectory``, a motion that ends where it begins, at stamps that follow ``joint_states``."""

    def __init__(self, motion: Motion = SWEEP, joint_names=()):
        """Publish ``motion`` of ``joint_names`` (default: those of the joint states)."""
        super().__init__('demo_motion')
        self._stamp = 0
        self._start: int | None = None
        self._motion, self._of = motion, list(joint_names)
        self._joint_names: list[str] = []
        self._trajectories = self.create_publisher(JointTrajectory, 'joint_trajectory', 1)
        self.create_subscription(JointState, 'joint_states', self._on_state, 1)
        self.create_timer(PERIOD, self._on_timer)

    def _on_state(self, message: JointState) -> None:
        self._stamp, self._joint_names = nanoseconds(message.header.stamp), self._of or list(message.name)

    def _on_timer(self) -> None:
        if not self._joint_names:
            return
        if self._start is None or self._stamp > self._start + round(self._motion.times[-1] * SECOND) + PAUSE:
            self._start = self._stamp + LEAD
            self.get_logger().info(self._motion.name)
        if self._stamp < self._start:
            # repeated until it starts, for a node that has not discovered this publisher yet
            message = self._motion.message(self._joint_names)
            set_nanoseconds(message.header.stamp, self._start)
            self._trajectories.publish(message)
