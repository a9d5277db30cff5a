"""The thread that computes torques, its schedule, and the interpreter's settings while it runs."""

import gc
import sys
import threading

from robot_dynamics_ros.nodes import realtime
from robot_dynamics_ros.nodes.raw_executor import RawExecutor

PATIENCE = 1e-4
"""Switch interval of the interpreter's threads, s; Python's default is 5 ms."""


class HotPath(RawExecutor):
    """A ``RawExecutor`` with a real-time schedule.

    While one runs, the garbage collector ignores existing objects, and threads release the interpreter sooner.
    """

    name = 'hot path'

    _counting = threading.Lock()  # at the end of a process several are stopped at once
    _running = 0  # in this process
    _patience = 0.0  # of the interpreter before the first of them

    def start(self, schedule: realtime.Schedule) -> None:
        """Start the thread with ``schedule``; messages that came before are dropped."""
        with HotPath._counting:
            if not HotPath._running:
                gc.collect()
                gc.freeze()
                HotPath._patience = sys.getswitchinterval()
                sys.setswitchinterval(PATIENCE)
            HotPath._running += 1
        self._schedule = schedule
        super().start()

    def stop(self) -> bool:
        """Stop the thread after the message that is being handled; return whether it was running."""
        was_running = super().stop()
        if was_running:
            with HotPath._counting:
                HotPath._running -= 1
                if not HotPath._running:
                    gc.unfreeze()
                    sys.setswitchinterval(HotPath._patience)
        return was_running

    def _begin(self) -> None:
        """Apply the schedule, and log what the operating system refuses."""
        for refusal in realtime.apply(self._schedule):
            self._logger.warning(refusal)
