"""Notices that ROS time has gone back: a simulation or a bag that begins again, a system clock that was set."""

import time
from collections.abc import Callable

from rclpy.clock import JumpThreshold
from rclpy.duration import Duration

STEP = 100_000_000
"""ns by which a system clock goes back before it counts as set."""


class ClockWatch:
    """Calls ``set_back(before, after)`` (ns) in the executor's thread where the clock of a node has gone back.

    A simulated clock says so at once, a system clock is compared with the steady one at each ``look``.
    """

    def __init__(self, node, set_back: Callable[[int, int], object]):
        """Watch the clock of ``node``; ``set_back`` raises nothing."""
        self._clock, self._set_back = node.get_clock(), set_back
        self._before = 0
        self._last = self._now()
        self._jumps = self._clock.create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True),
            pre_callback=self._before_jump,
            post_callback=self._after_jump,
        )

    def look(self) -> None:
        """Compare the clocks."""
        last_steady, last = self._last
        self._last = steady, now = self._now()
        expected = last + steady - last_steady
        if not self._clock.ros_time_is_active and now < expected - STEP:
            self._set_back(expected, now)

    def knows(self, now: int) -> bool:
        """Return whether the last look was at the clock that says ``now`` (ns), not at one that was set since."""
        steady, last = self._last
        return abs((now - time.monotonic_ns()) - (last - steady)) < STEP

    def _before_jump(self) -> None:
        self._before = self._clock.now().nanoseconds

    def _after_jump(self, jump) -> None:
        self._last = _, now = self._now()
        if now < self._before:
            self._set_back(self._before, now)

    def _now(self) -> tuple[int, int]:
        """Return steady and ROS time, ns."""
        return time.monotonic_ns(), self._clock.now().nanoseconds
