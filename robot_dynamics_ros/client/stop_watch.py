"""Stops that others send: a node reports none, but all that listen to ``joint_trajectory`` receive them."""

import time
from collections import deque

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.messages.joint_trajectory import point_count

ECHO = 2.0
"""Time within which a message of the client comes back to it, s."""


class StopWatch:
    """``last`` is when the last stop was sent or came, ``foreign`` when the last of another publisher came; steady, s.

    The client receives its own trajectories, too. rclpy says only from version 9 on who has published one, so they are
    known by their bytes.
    """

    def __init__(self, stop: bytes):
        """Know what a ``stop`` of the client is."""
        self._stop = stop
        self._own: deque[tuple[float, bytes]] = deque()
        self.last = self.foreign = -float('inf')

    def know(self, data: bytes) -> None:
        """Expect a message that the client sends."""
        now = time.monotonic()
        while self._own and now - self._own[0][0] > ECHO:
            self._own.popleft()
        self._own.append((now, data))
        if data == self._stop:
            self.last = now

    def since(self, began: float) -> str:
        """Return that a stop was sent after ``began`` (steady, s), '' where none was."""
        if self.last <= began:
            return ''
        return 'another node has sent a stop' if self.foreign > began else 'it was stopped by hold'

    def on_trajectory(self, data: bytes) -> None:
        """Look whether a message is a stop of another publisher."""
        now = time.monotonic()
        own = next((it for it in self._own if it[1] == data and now - it[0] <= ECHO), None)
        if own is not None:
            self._own.remove(own)
            return
        try:
            is_stop = not point_count(data)
        except DynamicsError:
            return  # the node refuses it
        if is_stop:
            self.last = self.foreign = now
