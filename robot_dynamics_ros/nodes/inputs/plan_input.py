"""Input of planned trajectories: JointTrajectory, or MoveIt's DisplayTrajectory where moveit_msgs is installed."""

import time
from collections.abc import Callable
from typing import Any

from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.display_trajectory import plans_of
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints
from robot_dynamics_ros.nodes.inputs.trajectory_input import check_active
from robot_dynamics_ros.nodes.inputs.trajectory_queue import TrajectoryQueue
from robot_dynamics_ros.nodes.process.publishers import publishers_of, several

DISPLAYED = 'display_planned_path'
"""Topic of MoveIt's plans: they are shown before somebody decides to execute them."""
OLDEST = 1.0
"""s that a plan may be on its way and wait for its check: later the arm may be elsewhere."""


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
    """Has the plans on a topic checked and published; a wrong one is refused by name, and ``refusals`` are counted.

    A message without points is a stop: while the node is active it is passed on in a thread of its own, whatever is
    being checked, and plans that came before it are dropped unless they were published already. Plans are checked by
    the executor, one a callback, in the order in which they came. ``refused`` is the last reason.
    """

    def __init__(
        self,
        node,
        topic: str,
        check: Callable[[TrajectoryPoints, bytes], Any],
        publish: Callable[[Any], object],
        pass_on: Callable[[bytes], object],
    ):
        """Subscribe for a BaseNode.

        ``publish`` gets what ``check(points, data)`` returns, which may raise DynamicsError. ``data`` is the serialised
        JointTrajectory, b'' for a plan that is only displayed. ``pass_on`` gets a stop. Raises ArgumentError where the
        message type of ``topic`` is not installed.
        """
        self._node, self._topic = node, topic
        self._check, self._publish, self._pass_on = check, publish, pass_on
        self.refusals, self.refused = 0, ''
        self._queue: TrajectoryQueue | None = None
        if topic == DISPLAYED:
            subscription = node.create_subscription(display_trajectory_type(), topic, self._on_display, 10)
            node.resources.callback(node.destroy_subscription, subscription)
            return
        due = node.create_guard_condition(node.guarded(self._check_next))
        node.resources.callback(node.destroy_guard_condition, due)
        self._queue = TrajectoryQueue(node, topic, self._on_stop, due.trigger, self._refuse, {})
        self._due = due

    def begin(self) -> None:
        """Take messages in a thread; those from before the activation are refused."""
        if self._queue is not None:
            self._queue.begin()

    def end(self) -> None:
        """Leave the messages to the executor, which refuses them."""
        if self._queue is not None:
            self._queue.end()

    def drop(self) -> None:
        """Drop the plans that wait, for another description of the robot."""
        if self._queue is not None:
            self._queue.drop('another robot is described')

    @property
    def publishers(self) -> list[tuple[bytes, str]]:
        """The nodes that publish on the topic."""
        return publishers_of(self._node, self._topic)

    def warnings(self) -> list[str]:
        """Return that more than one planner publishes plans to be executed."""
        nodes = [] if self._queue is None else self.publishers
        if len(nodes) < 2:
            return []
        return [
            f'{several(nodes, self._topic)}: the plans of all of them are published, and a stop drops those of '
            'all; stop the others (one that was killed counts for up to 20 s)'
        ]

    def _on_stop(self, data: bytes, info: dict) -> None:
        check_active(self._node, info['received_timestamp'])
        self._pass_on(data)

    def _check_next(self) -> None:
        """Check the plan that came first; the executor comes back for the next one."""
        message = self._queue.next()
        if message is None:
            return
        self._due.trigger()

        def publish(checked) -> None:
            if not self._queue.unless_stopped(message, lambda: self._publish(checked)):
                self._node.get_logger().warning(
                    'plan dropped: a stop, or the end of the node, has come during its check'
                )

        self._handle(message.info, lambda: [(TrajectoryPoints.read(message.data), message.data)], publish)

    def _on_display(self, message, info) -> None:
        names = self._node.robot.joint_names
        self._handle(info, lambda: [(it, b'') for it in plans_of(message, names)], self._publish)

    def _handle(self, info: dict, plans: Callable[[], list[tuple[TrajectoryPoints, bytes]]], publish: Callable) -> None:
        """Check and ``publish`` the plans of a message, until one is refused."""
        try:
            check_age(check_active(self._node, info['received_timestamp']), info['source_timestamp'])
            for points, data in plans():
                publish(self._check(points, data))
        except DynamicsError as error:
            self._refuse(error)

    def _refuse(self, error: DynamicsError) -> None:
        self.refusals, self.refused = self.refusals + 1, str(error)
        self._node.get_logger().warning(f'plan refused: {error}')


def check_age(waited: int, sent: int) -> None:
    """Raise ArgumentError for a plan that has ``waited`` for its check (ns) or was ``sent`` (system clock) too early.

    In a process that was stopped the middleware receives nothing: only its source says when. 0: it does not.
    """
    if waited * 1e-9 > OLDEST:
        raise ArgumentError(
            f'trajectory: it waited {waited * 1e-9:.1f} s for its check, at most {OLDEST:g} s are allowed; plan from '
            'where the arm is, and send it again'
        )
    age = (time.time_ns() - sent) * 1e-9
    if sent and age > OLDEST:
        raise ArgumentError(
            f'trajectory: by the clock of its source it was sent {age:.1f} s ago, at most {OLDEST:g} s are allowed; '
            'plan from where the arm is, and send it again, or synchronise the clocks'
        )
