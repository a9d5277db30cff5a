"""Queue of JointTrajectory messages, and of others that lead a frame, overtaken by stops."""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol

from rclpy.callback_groups import CallbackGroup
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.trajectories.followed import Followed
from robot_dynamics_ros.control.trajectories.motion_tolerance import MotionTolerance
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.joint_trajectory import point_count
from robot_dynamics_ros.nodes.process.raw_executor import NoExecutor, RawExecutor

MOST_WAITING = 10
"""Number of trajectories that wait; of more the oldest ones are refused."""
MOST_STREAMED = 125
"""Likewise of the other messages, which may come in a stream: those of 0.25 s at 500 Hz."""


class Sender(Protocol):
    """Who wants to know what becomes of a message; the threads that read messages tell it."""

    tolerance: MotionTolerance | None
    """Of the motion."""

    def follows(self, plan: Followed) -> None:
        """Know that the trajectory of the message is followed, or waits for its start."""

    def is_refused(self, reason: str) -> None:
        """Know that it is not."""


class Waiting(NamedTuple):
    """A message that waits: its bytes, the info that rclpy has of it, the number of stops before it, and its topic.

    ``sender`` is told what becomes of it, where there is one.
    """

    data: bytes
    info: dict
    stops: int
    topic: str
    sender: Sender | None = None


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


class TrajectoryQueue:
    """Messages in the order in which they came; a stop, a JointTrajectory without points, overtakes them.

    From ``begin`` to ``end`` a thread of its own takes messages and handles stops, whatever the executor is doing; else
    the executor does. A stop drops the messages that wait. The others wait until ``next`` takes them, for a long one
    needs a second.
    """

    def __init__(
        self,
        node,
        topic: str,
        stop: Callable[[bytes, dict], object],
        announce: Callable[[], object],
        refuse: Callable[[DynamicsError], object],
        others: Mapping[str, type],
    ):
        """Subscribe for a BaseNode to JointTrajectory messages on ``topic``, and to ``others``, types by topic.

        ``stop(data, info)`` handles a stop, ``announce()`` is told that a message waits, ``refuse(error)`` that one is
        no JointTrajectory or waited behind too many newer ones. All three are called by the thread that takes the
        messages; ``stop`` may raise DynamicsError, and drops nothing then.
        """
        self._node, self._topic = node, topic
        self._stop, self._announce, self._refuse = stop, announce, refuse
        self._waiting: deque[Waiting] = deque()
        self._stops, self._is_idle = 0, True
        self._order = threading.Lock()  # of what is done: nothing that is older follows a stop
        # of two messages that lie there the stop is handled last: it drops the other, whichever came first
        subscribed = [(JointTrajectory, topic, self.on_message)]
        subscribed += [(kind, other, partial(self.let_wait, topic=other)) for other, kind in others.items()]
        group, subscriptions = _IdleGroup(lambda: self._is_idle), []
        for kind, name, callback in subscribed:
            depth = self._most(name)
            subscriptions.append(node.create_subscription(kind, name, callback, depth, raw=True, callback_group=group))
            node.resources.callback(node.destroy_subscription, subscriptions[-1])
        self._reader = RawExecutor(node, NoExecutor(), subscriptions, failed=node.crashed)
        node.resources.callback(self._reader.destroy)

    def begin(self) -> None:
        """Take messages in the thread, first those that lie in the middleware's queue."""
        self._is_idle = False
        self._reader.start()

    def end(self) -> None:
        """Leave the messages to the executor; what is being done for one counts as stopped."""
        self._reader.stop()
        with self._order:
            self._stops += 1
        self._is_idle = True

    def on_message(self, data: bytes, info: dict) -> None:
        """Handle a stop, or let another message wait."""
        try:
            if not point_count(data):
                self.stop(data, info)
                return
        except DynamicsError as error:
            self._refuse(error)
            return
        self.let_wait(data, info, self._topic)

    def let_wait(self, data: bytes, info: dict, topic: str, sender: Sender | None = None) -> None:
        """Let a message that is no stop wait."""
        with self._order:
            self._waiting.append(Waiting(data, info, self._stops, topic, sender))
            waiting = [it for it in self._waiting if it.topic == topic]
            oldest = waiting[0] if len(waiting) > self._most(topic) else None
            if oldest is not None:
                self._waiting.remove(oldest)
        if oldest is not None:
            name = 'trajectory' if topic == self._topic else topic
            error = ArgumentError(f'{name}: {self._most(topic)} newer ones wait, for the machine is busy')
            self._refuse(error)
            _tell([oldest], str(error))
        self._announce()

    def _most(self, topic: str) -> int:
        """Return how many messages of a topic wait."""
        return MOST_WAITING if topic == self._topic else MOST_STREAMED

    def next(self) -> Waiting | None:
        """Return the message that came first, and no longer keep it; None where none waits."""
        with self._order:
            return self._waiting.popleft() if self._waiting else None

    def drop(self, why: str) -> None:
        """Drop the messages that wait, and log ``why``."""
        with self._order:
            dropped = self._clear()
        self._log(dropped, why)

    def unless_stopped(self, message: Waiting, action: Callable[[], Any]) -> bool:
        """Call ``action()``, which a stop waits for, unless a stop has come since ``message``; return whether."""
        with self._order:
            if self._stops != message.stops:
                return False
            action()
            return True

    def stop(self, data: bytes, info: dict) -> None:
        """Handle a stop, and drop what waits; DynamicsError where it is refused."""
        with self._order:
            self._stop(data, info)
            dropped = self._clear()
        self._log(dropped, 'a stop has come')

    def _clear(self) -> list[Waiting]:
        """Drop what waits, and what is being done, inside ``_order``; return what waited."""
        dropped = list(self._waiting)
        self._waiting.clear()
        self._stops += 1
        return dropped

    def _log(self, dropped: list[Waiting], why: str) -> None:
        if dropped:
            self._node.get_logger().warning(f'{len(dropped)} trajectories dropped that waited: {why}')
            _tell(dropped, f'trajectory dropped: {why}')


def _tell(messages: list[Waiting], why: str) -> None:
    """Tell the senders of messages that these were refused."""
    for message in messages:
        if message.sender is not None:
            message.sender.is_refused(why)
