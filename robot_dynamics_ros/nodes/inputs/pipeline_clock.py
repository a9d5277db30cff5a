"""Clock of the hot path: ROS time, and the time that passes for the arm."""

import time
from collections.abc import Callable
from math import nan


class PipelineClock:
    """The ROS time of a node: ``now()`` in ns, and whether it is ``simulated``."""

    def __init__(self, node):
        """Read the clock of ``node``, and its ``clock_reader`` where time is simulated."""
        self._node, self._ros_clock = node, node.get_clock()
        self.look()

    def look(self) -> None:
        """Check whether time is simulated; not done for each state."""
        self.simulated = self._ros_clock.ros_time_is_active
        # reading the system's clock directly costs a tenth of asking rclpy
        self.now: Callable[[], int] = self._simulated_time if self.simulated else time.time_ns

    def passing(self, steady: float, now: int) -> float:
        """Return the time of the clock of the arm, s: ROS time ``now`` (ns) where it is simulated, else ``steady``."""
        return now * 1e-9 if self.simulated else steady

    def arrival(self, steady: float) -> float:
        """Return a ``steady`` time if it is that of the arm, s; NaN where time is simulated: that can be set."""
        return nan if self.simulated else steady

    def _simulated_time(self) -> int:
        self._node.clock_reader.read()  # a state is often the next message after its time
        return self._ros_clock.now().nanoseconds
