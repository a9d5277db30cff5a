"""The thread that computes torques, its schedule, and the interpreter's settings while it runs."""

import gc
import sys
import threading
from collections.abc import Callable
from typing import NamedTuple

from rclpy.qos import QoSProfile, qos_profile_sensor_data

from robot_dynamics_ros.nodes.process import realtime
from robot_dynamics_ros.nodes.process.raw_executor import RawExecutor

PATIENCE = 1e-4
"""Switch interval of the interpreter's threads, s; Python's default is 5 ms."""


class Input(NamedTuple):
    """A topic of the hot path: its thread calls ``handler`` with the bytes, and what rclpy knows of the message."""

    topic: str
    kind: type
    handler: Callable[[bytes, dict], object]
    qos: QoSProfile = qos_profile_sensor_data


class InterpreterSettings:
    """Settings of the interpreter while a thread with little time runs.

    The garbage collector ignores existing objects, and threads release the interpreter sooner, until the last of those
    that have applied the settings restores them.
    """

    _counting = threading.Lock()  # at the end of a process several are restored at once
    _applied = 0  # in this process
    _patience = 0.0  # of the interpreter before the first of them

    def __init__(self):
        """Apply nothing yet."""
        self._mine = False

    def apply(self) -> None:
        """Apply the settings, once."""
        with InterpreterSettings._counting:
            if self._mine:
                return
            if not InterpreterSettings._applied:
                gc.collect()
                gc.freeze()
                InterpreterSettings._patience = sys.getswitchinterval()
                sys.setswitchinterval(PATIENCE)
            InterpreterSettings._applied += 1
            self._mine = True

    def restore(self) -> None:
        """Restore the earlier settings, unless another thread of this process still needs these."""
        with InterpreterSettings._counting:
            if not self._mine:
                return
            self._mine = False
            InterpreterSettings._applied -= 1
            if not InterpreterSettings._applied:
                gc.unfreeze()
                sys.setswitchinterval(InterpreterSettings._patience)


class HotPath(RawExecutor):
    """A ``RawExecutor`` with a real-time schedule and ``InterpreterSettings`` while it runs."""

    name = 'hot path'

    def __init__(self, *arguments, **options):
        """Make a RawExecutor."""
        super().__init__(*arguments, **options)
        self._settings = InterpreterSettings()

    def apply_settings(self) -> None:
        """Apply the interpreter's settings before ``start``: a garbage collection, unless another thread has them."""
        self._settings.apply()

    def start(self, schedule: realtime.Schedule) -> None:
        """Start the thread with ``schedule``; messages that came before are dropped."""
        self._settings.apply()
        self._schedule = schedule
        self.drop()
        super().start()

    def stop(self) -> bool:
        """Stop the thread after the message that is being handled; return whether it was running."""
        was_running = super().stop()
        self._settings.restore()
        return was_running

    def _begin(self) -> None:
        """Apply the schedule, and log what the operating system refuses."""
        for refusal in realtime.apply(self._schedule):
            self._logger.warning(refusal)
