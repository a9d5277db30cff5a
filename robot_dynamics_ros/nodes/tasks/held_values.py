"""What nodes say that they hold, for a dynamics_server that was told no payload or gravity since its start."""

import time
from collections.abc import Callable, Iterator
from typing import Protocol

from rclpy.qos import DurabilityPolicy, QoSProfile

from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import IN_FORCE, KINDS
from robot_dynamics_ros.nodes.inputs.torque_producers import gid_of
from robot_dynamics_ros.nodes.process.publishers import publishers_of

DISCOVERY = 0.5
"""s in which the graph shows the nodes that were there."""
PATIENCE = 3.0
"""s in which each of them has said what it holds; one that was killed counts for longer than that."""
WORDS = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""The newest word of each of so many nodes waits."""
LOOK_PERIOD = 0.05
"""s between two checks while a value is assumed and not settled."""


class Assuming(Protocol):
    """What assumes values by topic, and continues those of nodes."""

    settled: set[str]
    """Topics for which no node holds another value."""

    def is_set(self, topic: str) -> bool:
        """Return whether the value of one of ``KINDS`` is not an assumed one."""

    def adopt(self, topic: str, message) -> None:
        """Continue with the value that a node holds."""

    def publish(self) -> None:
        """Publish all values, and whether they are settled."""


class HeldValues:
    """The words of nodes on ``IN_FORCE``; what a server assumes is settled once all nodes have said what they hold.

    A node publishes its word before another server starts, so it waits in the middleware, whatever either executor is
    doing. Nodes are counted by their publishers on the graph.
    """

    def __init__(self, node, values: Assuming, before: 'HeldValues | None' = None):
        """Listen for a BaseNode whose payload and gravity are ``values``.

        ``before`` has listened for another description of the robot: its wait goes on, and does not begin again.
        """
        self._node, self._values, self._since = node, values, time.monotonic()
        self._waiting = set(KINDS)  # topics that are not settled
        self._words: dict[str, dict[bytes, object]] = {topic: {} for topic in KINDS}  # by the publisher's GID
        self._silent: dict[str, int] = {}  # number of nodes that said nothing in time, by topic
        if before is not None:
            self._since, self._waiting, self._words = before._since, before._waiting, before._words
            self._silent = before._silent
        self._subscriptions = {
            topic: node.create_subscription(kind, IN_FORCE[topic], self._callback(topic), WORDS)
            for topic, kind in KINDS.items()
        }
        self._timer = node.create_timer(LOOK_PERIOD, self.look, clock=node.steady_clock)
        for subscription in self._subscriptions.values():
            node.resources.callback(node.destroy_subscription, subscription)
        node.resources.callback(node.destroy_timer, self._timer)

    def look(self) -> None:
        """Handle each word that has come, and settle what none contradicts."""
        if not self._node.active:
            return
        for topic in sorted(self._waiting):
            self._take(topic)
            for message in list(self._words[topic].values()):
                self._hear(topic, message)
            elapsed, lacking = time.monotonic() - self._since, self._lacking(topic)
            if self._values.is_set(topic) or elapsed >= (PATIENCE if lacking else DISCOVERY):
                self._settle(topic, lacking)
        if not self._waiting:
            self._timer.cancel()

    def warnings(self) -> list[str]:
        """Return which assumed values are not settled, or were settled without the word of each node."""
        return [*self._unsettled(), *self._unheard()]

    def _unsettled(self) -> Iterator[str]:
        for topic in sorted(self._waiting):
            lacking = self._lacking(topic)
            if lacking and self._node.active and time.monotonic() - self._since >= DISCOVERY:
                yield f'{topic}: assumed, and {lacking} nodes have not said what they hold'

    def _unheard(self) -> Iterator[str]:
        for topic, count in sorted(self._silent.items()):
            if not self._values.is_set(topic):
                yield (
                    f'{topic}: assumed, while {count} nodes have not said within {PATIENCE:g} s what they hold; set it'
                )

    def _settle(self, topic: str, lacking: int) -> None:
        self._waiting.discard(topic)
        self._words[topic].clear()
        if not self._values.is_set(topic):
            self._silent |= {topic: lacking} if lacking else {}
            self._values.settled.add(topic)
            self._values.publish()

    def _lacking(self, topic: str) -> int:
        """Return how many nodes have not said yet what they hold."""
        return max(len(publishers_of(self._node, IN_FORCE[topic])) - len(self._words[topic]), 0)

    def _take(self, topic: str) -> None:
        """Take the words that have come; the executor may call this before it does."""
        subscription = self._subscriptions[topic]
        while (taken := subscription.handle.take_message(subscription.msg_type, False)) is not None:
            message, info = taken
            self._words[topic][gid_of(info)] = message

    def _callback(self, topic: str) -> Callable:
        """Return the callback for words on a topic."""

        def callback(message, info: dict) -> None:
            if topic in self._waiting:
                self._words[topic][gid_of(info)] = message
            if self._node.active:
                self._hear(topic, message)

        return callback

    def _hear(self, topic: str, message) -> None:
        """Continue with a value that was set."""
        if not self._values.is_set(topic) and not message.assumed:
            self._values.adopt(topic, message)
