"""Input of planned trajectories: JointTrajectory, or MoveIt's DisplayTrajectory where moveit_msgs is installed."""

from collections.abc import Callable

from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.display_trajectory import plans_of
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints
from robot_dynamics_ros.nodes.trajectory_input import check_active

DISPLAYED = 'display_planned_path'
"""Topic of MoveIt's plans: they are shown before somebody decides to execute them."""


def display_trajectory_type():
    """Return moveit_msgs/msg/DisplayTrajectory; ArgumentError where its package is not installed."""
    try:
        from moveit_msgs.msg import DisplayTrajectory  # noqa: PLC0415
    except ImportError as error:
        raise ArgumentError(
            f'plan_topic: {DISPLAYED!r} needs the package moveit_msgs, which is not installed '
            f'(for instance: apt install ros-$ROS_DISTRO-moveit-msgs): {error}'
        ) from None
    return DisplayTrajectory


class PlanInput:
    """Passes the plans on a topic to a function; a wrong one is refused by name, and ``refusals`` are counted.

    ``refused`` is the last reason.
    """

    def __init__(self, node, topic: str, receive: Callable[[TrajectoryPoints, bytes], object]):
        """Subscribe for a BaseNode.

        ``receive(points, data)`` may raise DynamicsError; ``data`` is the serialised JointTrajectory, b'' for a plan
        that is only displayed. Raises ArgumentError where the message type of ``topic`` is not installed.
        """
        self._node, self._receive = node, receive
        self.refusals, self.refused = 0, ''
        if topic == DISPLAYED:
            subscription = node.create_subscription(display_trajectory_type(), topic, self._on_display, 10)
        else:
            subscription = node.create_subscription(JointTrajectory, topic, self._on_trajectory, 10, raw=True)
        node.resources.callback(node.destroy_subscription, subscription)

    def _on_trajectory(self, data: bytes, info) -> None:
        self._guarded(info, lambda: [(TrajectoryPoints.read(data), data)])

    def _on_display(self, message, info) -> None:
        self._guarded(info, lambda: [(points, b'') for points in plans_of(message, self._node.robot.joint_names)])

    def _guarded(self, info, plans: Callable[[], list[tuple[TrajectoryPoints, bytes]]]) -> None:
        """Pass the plans of a message on, until one is refused; ``info`` says when the middleware received it."""
        try:
            check_active(self._node, info['received_timestamp'])
            for points, data in plans():
                self._receive(points, data)
        except DynamicsError as error:
            self.refusals, self.refused = self.refusals + 1, str(error)
            self._node.get_logger().warning(f'plan refused: {error}')
