"""From JointTrajectory messages to the trajectory that a node follows."""

import time

from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of
from robot_dynamics_ros.messages.stamps import nanoseconds


class TrajectoryInput:
    """Subscribes to ``joint_trajectory`` and hands each trajectory to a follower; one without points ends the last.

    A wrong one is refused by name, and the old one goes on. ``refused`` is the last reason.
    """

    def __init__(self, node, follower: TrajectoryFollower):
        """Subscribe for a TorqueNode."""
        self._node, self._follower = node, follower
        self.refused = ''
        self._subscription = node.create_subscription(JointTrajectory, 'joint_trajectory', self._on_trajectory, 10)

    def destroy(self) -> None:
        """Destroy the subscription."""
        self._node.destroy_subscription(self._subscription)

    def drop(self) -> None:
        """Follow nothing."""
        self._follower.stop()

    def _on_trajectory(self, message: JointTrajectory, info) -> None:
        """Follow a new trajectory; ``info`` says when the middleware received it."""
        node = self._node
        try:
            kinds = self._receive(message, info['received_timestamp'])
        except DynamicsError as error:
            self.refused = str(error)
            node.get_logger().warning(f'trajectory refused: {error}')
            return
        rough = [kind for kind in kinds if kind != 'quintic']
        if rough:
            node.get_logger().info(
                f'trajectory without all velocities and accelerations: {" and ".join(rough)} interpolation between its '
                'points, as joint_trajectory_controller does (said once)',
                once=True,
            )

    def _receive(self, message: JointTrajectory, received: int) -> list[str]:
        """Follow a trajectory that was received at ``received`` (ns of the system's clock); return its interpolations.

        Raises DynamicsError naming what is wrong.
        """
        node = self._node
        waited = max(0, time.time_ns() - received)  # a busy executor may handle it only after the activation
        if not node.active or time.monotonic_ns() - waited < node.activated:
            raise ArgumentError(f'trajectory: {node.get_name()} is not active, or was not when it was received')
        if not message.points:
            self._follower.stop()
            return []
        trajectory = trajectory_of(node.robot.joint_names, message, ignored=node.locked_joint_names)
        now = node.get_clock().now().nanoseconds
        start = nanoseconds(message.header.stamp)
        if not start:
            if not now:
                raise ArgumentError('trajectory: its stamp is zero, and the simulated clock does not run yet')
            # a stamp of zero means the time of reception, however long the executor has been busy since then
            start = now = now - waited
        self._follower.receive(trajectory, start, now)
        return trajectory.interpolations
