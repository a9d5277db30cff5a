"""Reads a simulated clock independently of the node's executor."""

import threading
from collections.abc import Callable

from rclpy.serialization import deserialize_message
from rclpy.time_source import CLOCK_TOPIC
from rosgraph_msgs.msg import Clock

from robot_dynamics_ros.nodes.process.raw_executor import NoExecutor, RawExecutor


class ClockReader(RawExecutor):
    """Takes the messages on ``/clock`` in a separate thread; other threads may take pending ones with ``read``."""

    name = 'clock'

    def __init__(self, node, create_subscription: Callable, set_clock: Callable[[Clock], object], qos):
        """Create the subscription of ``node``; ``set_clock`` sets the clock."""
        self._one = threading.Lock()  # times are set in the order in which they came
        group = NoExecutor()

        def receive(data: bytes, info: dict) -> None:
            set_clock(deserialize_message(data, Clock))

        self.subscription = create_subscription(
            Clock, CLOCK_TOPIC, node.guarded(receive), qos, callback_group=group, raw=True
        )
        super().__init__(node, group, [self.subscription])
        self._subscription = self._pairs()

    def read(self) -> None:
        """Take a pending message and set the clock; any thread."""
        self._take(self._subscription)

    def _take(self, pairs: list) -> None:
        with self._one:
            super()._take(pairs)
