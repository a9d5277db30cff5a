"""``payload_state`` and ``gravity_state``: over DDS between processes, handed over directly within one."""

from collections import deque
from collections.abc import Callable, Iterator
from weakref import WeakKeyDictionary, WeakSet

from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_ros.nodes import participant
from robot_dynamics_ros.nodes.qos import TRANSIENT_LOCAL

KINDS = {'payload_state': PayloadState, 'gravity_state': GravityState}
WITH_SERVER = 'bringup', 'dynamics_server'
"""Executables whose process may have a server."""
REMEMBERED = 64
"""Number of messages handed over directly whose copies may still arrive."""

# by context and resolved topic, which differ between robots of one process
_local: WeakKeyDictionary = WeakKeyDictionary()


class PayloadGravityPublisher:
    """Publishes one of ``KINDS``, transient local, and hands each message to the nodes of this process directly.

    It exists as long as its node: a subscriber knows that there is a server before the server is active.
    """

    def __init__(self, node, topic: str):
        """Create the publisher of ``topic``."""
        self._context = node.context
        self._publisher = node.create_lifecycle_publisher(KINDS[topic], topic, TRANSIENT_LOCAL)

    def publish(self, message) -> None:
        """Hand over and publish ``message``, which is not changed afterwards; the node is active."""
        for topics in list(_receivers(self._context, self._publisher.topic_name)):
            topics.hand_over(self._publisher.topic_name, message)
        self._publisher.publish(message)


class PayloadGravityTopics:
    """The subscriptions of one node to ``KINDS`` and the newest message of each, from the node's start to its end.

    The copy of a message that was handed over directly, which comes over DDS later, is ignored.
    """

    def __init__(self, node):
        """Subscribe."""
        self.discovering = participant.created(node.context)  # since then, s of the steady clock
        self._node = node
        self._newest: dict = {}
        self._handed: deque = deque(maxlen=REMEMBERED)
        self._receive: Callable | None = None
        self._resolved = {node.resolve_topic_name(topic): topic for topic in KINDS}
        for resolved in self._resolved:
            _receivers(node.context, resolved).add(self)
        self._subscribe()

    def renew(self) -> None:
        """Subscribe again, which drops the message of a server that has ended meanwhile."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._newest.clear()
        self._handed.clear()
        self._subscribe()

    def attach(self, receive: Callable[[str, object], None] | None) -> None:
        """Set the callback ``receive(topic, message)`` of new messages; None removes it."""
        self._receive = receive

    def newest(self) -> Iterator[tuple[str, object]]:
        """Yield the newest message of each topic that has a publisher: what a late joiner would receive."""
        for topic, message in self._newest.items():
            if self.has_publisher(topic):
                yield topic, message

    def has_publisher(self, topic: str) -> bool:
        """Return whether the graph has a publisher of one of ``KINDS``."""
        return self.publishers(topic) > 0

    def server_starts(self) -> bool:
        """Return whether a process that may have a server is on the graph, but does not have its nodes yet."""
        return participant.are_starting(self._node, WITH_SERVER)

    def publishers(self, topic: str) -> int:
        """Return how many publishers of one of ``KINDS`` the graph has."""
        return self._node.count_publishers(self._node.resolve_topic_name(topic))

    def hand_over(self, resolved: str, message) -> None:
        """Receive a message from a node of this process, in the thread of that node; not once the own is destroyed."""
        if set(self._subscriptions) <= set(self._node.subscriptions):
            self._handed.append(message)
            self._node.guarded(self._on_message)(self._resolved[resolved], message)

    def _subscribe(self) -> None:
        self._subscriptions = [
            self._node.create_subscription(kind, topic, self._callback(topic), TRANSIENT_LOCAL)
            for topic, kind in KINDS.items()
        ]

    def _callback(self, topic: str):
        """Return the callback for messages that come over DDS."""

        def callback(message) -> None:
            if message not in self._handed:
                self._on_message(topic, message)

        return callback

    def _on_message(self, topic: str, message) -> None:
        self._newest[topic] = message
        if self._receive is not None:
            self._receive(topic, message)


def publisher_warnings(publishers: Callable[[str], int]) -> list[str]:
    """Return the warnings of a node for ``publishers(topic)``, the number of publishers of each of ``KINDS``."""
    return [
        f'{topic} has {count} publishers, and the newest message counts: end all instances of dynamics_server but one'
        for topic in KINDS
        if (count := publishers(topic)) > 1
    ]


def _receivers(context, resolved: str) -> WeakSet:
    """Return the ``PayloadGravityTopics`` of this process that subscribe to a topic in a context."""
    return _local.setdefault(context, {}).setdefault(resolved, WeakSet())
