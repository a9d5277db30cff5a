"""Input of planned trajectories: JointTrajectory, or MoveIt's DisplayTrajectory where moveit_msgs is installed."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.display_trajectory import plans_of
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints, point_count
from robot_dynamics_ros.nodes.raw_executor import NoExecutor, RawExecutor
from robot_dynamics_ros.nodes.trajectory_input import check_active

DISPLAYED = 'display_planned_path'
"""Topic of MoveIt's plans: they are shown before somebody decides to execute them."""
OLDEST = 1.0
"""s that a plan may be on its way and wait for its check: later the arm may be elsewhere."""
MOST_WAITING = 10
"""Number of plans that wait; of more the oldest ones are refused."""


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


class _IdleGroup(CallbackGroup):
    """The callback group of a subscription whose messages the executor takes while no other thread does."""

    def __init__(self, is_idle: Callable[[], bool]):
        """Ask ``is_idle()`` whether the executor may take messages."""
        super().__init__()
        self._is_idle = is_idle

    def can_execute(self, entity) -> bool:
        """Return whether the executor may take a message."""
        return self._is_idle()

    def beginning_execution(self, entity) -> bool:
        """Return whether the executor may handle a message."""
        return self._is_idle()

    def ending_execution(self, entity) -> None:
        """Do nothing."""


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
        self._waiting: deque[tuple[bytes, dict]] = deque()
        self._stops, self._is_idle = 0, True
        self._order = threading.Lock()  # of what is published: nothing that is older follows a stop
        self._due = node.create_guard_condition(node.guarded(self._check_next))
        node.resources.callback(node.destroy_guard_condition, self._due)
        self._reader: RawExecutor | None = None
        if topic == DISPLAYED:
            subscription = node.create_subscription(display_trajectory_type(), topic, self._on_display, 10)
        else:
            group = _IdleGroup(lambda: self._is_idle)
            self._subscription = subscription = node.create_subscription(
                JointTrajectory, topic, self._on_trajectory, 10, raw=True, callback_group=group
            )
            self._reader = RawExecutor(node, NoExecutor(), [subscription], failed=node.crashed)
        node.resources.callback(node.destroy_subscription, subscription)
        if self._reader is not None:
            node.resources.callback(self._reader.destroy)

    def begin(self) -> None:
        """Take messages in the thread; those from before the activation are refused."""
        if self._reader is None:
            return
        self._is_idle = False
        while (taken := self._subscription.handle.take_message(None, True)) is not None:
            self._subscription.callback(*taken)
        self._reader.start()

    def end(self) -> None:
        """Leave the messages to the executor, which refuses them."""
        if self._reader is not None:
            self._reader.stop()
            self._is_idle = True

    def drop(self) -> None:
        """Drop the plans that wait, for another description of the robot."""
        with self._order:
            dropped = len(self._waiting)
            self._waiting.clear()
        self._log_dropped(dropped, 'another robot is described')

    @property
    def publishers(self) -> int:
        """How many publishers the topic has."""
        return self._node.count_publishers(self._node.resolve_topic_name(self._topic))

    def warnings(self) -> list[str]:
        """Return that more than one planner publishes plans to be executed."""
        count = 0 if self._reader is None else self.publishers
        if count < 2:
            return []
        return [
            f'{count} publishers of {self._topic}: the plans of all of them are published, and a stop drops those of '
            'all; stop the others (one that was killed counts for up to 20 s)'
        ]

    def _on_trajectory(self, data: bytes, info) -> None:
        """Pass a stop on, or have a plan checked; any thread."""
        try:
            if not point_count(data):
                self._on_stop(data, info)
                return
        except DynamicsError as error:
            self._refuse(error)
            return
        with self._order:
            self._waiting.append((data, info))
            oldest = self._waiting.popleft() if len(self._waiting) > MOST_WAITING else None
        if oldest is not None:
            self._refuse(ArgumentError(f'trajectory: {MOST_WAITING} newer ones wait for their check'))
        self._due.trigger()

    def _on_stop(self, data: bytes, info) -> None:
        check_active(self._node, info['received_timestamp'])
        with self._order:
            dropped = len(self._waiting)
            self._waiting.clear()
            self._stops += 1
            self._pass_on(data)
        self._log_dropped(dropped, 'a stop has come')

    def _log_dropped(self, count: int, why: str) -> None:
        if count:
            self._node.get_logger().warning(f'{count} plans dropped that waited for their check: {why}')

    def _check_next(self) -> None:
        """Check the plan that came first."""
        with self._order:
            if not self._waiting:
                return
            data, info = self._waiting.popleft()
            stops, more = self._stops, bool(self._waiting)
        if more:
            self._due.trigger()
        self._handle(info, stops, lambda: [(TrajectoryPoints.read(data), data)])

    def _on_display(self, message, info) -> None:
        self._handle(info, self._stops, lambda: [(it, b'') for it in plans_of(message, self._node.robot.joint_names)])

    def _handle(self, info, stops: int, plans: Callable[[], list[tuple[TrajectoryPoints, bytes]]]) -> None:
        """Check and publish the plans of a message, until one is refused; it came after as many ``stops``."""
        try:
            check_age(check_active(self._node, info['received_timestamp']), info['source_timestamp'])
            for points, data in plans():
                checked = self._check(points, data)
                with self._order:
                    is_stopped = self._stops != stops
                    if not is_stopped:
                        self._publish(checked)
                if is_stopped:
                    self._node.get_logger().warning('plan dropped: a stop has come during its check')
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
