"""Detects that ROS time has gone back: a simulation or a bag that starts again, a system clock that was set."""

import threading
import time
from collections.abc import Callable

from rclpy.clock import JumpThreshold
from rclpy.duration import Duration

STEP_NS = 100_000_000
"""ns by which a system clock goes back before it counts as set."""


class ClockWatch:
    """Calls ``set_back(before, after)`` (ns) once where a node's clock has gone back, in the thread that detects it.

    A jump callback reports a simulated clock; a system clock is compared with the steady one at each ``look``.
    """

    def __init__(self, node, set_back: Callable[[int, int], object]):
        """Watch the clock of ``node``; ``set_back`` raises nothing."""
        self._clock, self._set_back = node.get_clock(), set_back
        self._one = threading.Lock()
        self._last = self._now()
        self._jumps = self._clock.create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True),
            pre_callback=self._before_jump,
            post_callback=self._after_jump,
        )

    def look(self) -> None:
        """Check whether the clock has gone back since the last check, and if so call ``set_back`` before returning.

        Any thread may call it: while a simulated clock is being set, another thread may read it before its callbacks.
        """
        with self._one:
            last_steady, last = self._last
            self._last = steady, now = self._now()
            simulated = self._clock.ros_time_is_active
            expected = last if simulated else last + steady - last_steady
            if now < expected - (0 if simulated else STEP_NS):
                self._set_back(expected, now)

    def _before_jump(self) -> None:
        with self._one:
            self._last = self._now()

    def _after_jump(self, jump) -> None:
        self.look()

    def _now(self) -> tuple[int, int]:
        """Return steady and ROS time, ns."""
        return time.monotonic_ns(), self._clock.now().nanoseconds
