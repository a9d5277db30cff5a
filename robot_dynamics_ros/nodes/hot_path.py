"""The thread that answers joint states, and what the process is like while it runs."""

import gc
import sys

from robot_dynamics_ros.nodes import realtime
from robot_dynamics_ros.nodes.raw_executor import RawExecutor

PATIENCE = 1e-4
"""s that a thread waits for the interpreter before it asks the one that has it to let go; Python's own is 5 ms."""


class HotPath(RawExecutor):
    """A ``RawExecutor`` on a schedule of its own.

    While one runs, the garbage collector leaves alone what exists, and no thread keeps the interpreter for long.
    """

    _running = 0  # in this process
    _patience = 0.0  # of the interpreter before the first of them
    _schedule = realtime.Schedule(0, (), False)

    def start(self, schedule: realtime.Schedule) -> None:
        """Begin to take messages; what came before is dropped."""
        if not HotPath._running:
            gc.collect()
            gc.freeze()
            HotPath._patience = sys.getswitchinterval()
            sys.setswitchinterval(PATIENCE)
        HotPath._running += 1
        self._schedule = schedule
        super().start('hot path')

    def stop(self) -> bool:
        """Take nothing more, after the message that is being handled; return whether it was running."""
        was_running = super().stop()
        if was_running:
            HotPath._running -= 1
            if not HotPath._running:
                gc.unfreeze()
                sys.setswitchinterval(HotPath._patience)
        return was_running

    def _run(self) -> None:
        """Set the thread up, and tell what the operating system refuses."""
        for refusal in realtime.apply(self._schedule):
            self._logger.warning(refusal)
        super()._run()
