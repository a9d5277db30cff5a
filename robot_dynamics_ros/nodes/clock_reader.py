"""Reads a simulated clock independently of the node's executor."""

import threading

from robot_dynamics_ros.nodes.raw_executor import NoExecutor, RawExecutor


class ClockReader(RawExecutor):
    """Takes the messages on ``/clock`` in a separate thread; other threads may take pending ones with ``read``."""

    name = 'clock'

    def __init__(self, node, group: NoExecutor, subscription):
        """Serve the ``subscription`` of ``node``; its callback sets the clock."""
        super().__init__(node, group, [subscription])
        self._one = threading.Lock()  # times are set in the order in which they came
        self._subscription = self._pairs()

    def read(self) -> None:
        """Take a pending message and set the clock; any thread."""
        self._take(self._subscription)

    def _take(self, pairs: list) -> None:
        with self._one:
            super()._take(pairs)
