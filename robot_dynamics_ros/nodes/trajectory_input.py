"""Input of JointTrajectory messages."""

import time

from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of
from robot_dynamics_ros.messages.stamps import nanoseconds


class TrajectoryInput:
    """Passes each trajectory on ``joint_trajectory`` to a follower; one without points ends the last.

    A wrong one is refused by name, and the old one is followed further. ``refused`` is the last reason.
    """

    def __init__(self, node, follower: TrajectoryFollower):
        """Subscribe for a BaseNode."""
        self._node, self._follower = node, follower
        self.refused = ''
        node.clock_followers.append(self._clock_set_back)
        self._subscription = node.create_subscription(JointTrajectory, 'joint_trajectory', self._on_trajectory, 10)
        node.resources.callback(node.destroy_subscription, self._subscription)

    def _clock_set_back(self, before: int, after: int) -> None:
        """In simulated time drop the trajectory: it is from before; any thread.

        A system clock that was set may be noticed late; the pipeline drops what is followed then.
        """
        if self._node.get_clock().ros_time_is_active:
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
        """Follow a trajectory that was received at ``received`` (ns, system clock); return its interpolations.

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
