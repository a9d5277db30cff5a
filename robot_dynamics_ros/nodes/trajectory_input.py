"""From JointTrajectory messages to the trajectory that a node follows."""

import time

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.joint_order import permutation
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.control.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.state_input import nanoseconds


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


def trajectory_of(joint_names, message, ignored=()) -> Trajectory:
    """Return the motion of a JointTrajectory, joints in the order of ``joint_names``.

    Joints among ``ignored`` may be there too. Raises DynamicsError naming the joint or point that is wrong.
    """
    places = permutation(joint_names, message.joint_names, ignored)
    times = [point.time_from_start.sec + point.time_from_start.nanosec * 1e-9 for point in message.points]
    fields = ('positions', 'velocities', 'accelerations')
    columns = [_column(message, field, places) for field in fields]
    return Trajectory(times, *columns)


def _column(message, field: str, places) -> np.ndarray:
    """Return one field of all points (m, n) in the robot's order, NaN rows where a point leaves it out."""
    rows = np.full((len(message.points), len(places)), np.nan)
    count = len(message.joint_names)
    for k, point in enumerate(message.points):
        values = getattr(point, field)
        if len(values) == count:
            rows[k] = np.take(values, places)
        elif len(values) or field == 'positions':
            raise ArgumentError(f'trajectory point {k}: expected {count} {field}, got {len(values)}')
    return rows
