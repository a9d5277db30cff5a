"""``payload_state`` and ``gravity_state``: over DDS between processes, handed over directly within one."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary, WeakSet

try:
    from rclpy.event_handler import SubscriptionEventCallbacks, UnsupportedEventTypeError
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks, UnsupportedEventTypeError

from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_ros.control.payload.ramp import Ramp
from robot_dynamics_ros.messages.payload_gravity import gravity_ramp_of, gravity_state, payload_ramp_of, payload_state
from robot_dynamics_ros.nodes.process.publishers import publishers_of, several
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL, WITH_LIVELINESS

KINDS = {'payload_state': PayloadState, 'gravity_state': GravityState}
FIELD = {'payload_state': 'payload', 'gravity_state': 'gravity'}
"""Of ``PayloadGravity``, by topic; then the ramp of a message, and the message of a ramp."""
RAMP_OF: dict[str, Callable[..., Ramp]] = {'payload_state': payload_ramp_of, 'gravity_state': gravity_ramp_of}
STATE_OF: dict[str, Callable] = {'payload_state': payload_state, 'gravity_state': gravity_state}
IN_FORCE = {'payload_state': 'payload_in_force', 'gravity_state': 'gravity_in_force'}
"""Topics on which a node publishes what it holds, of the same types; ``assumed``: nobody has set it."""
UNFIT = 'what was set does not fit the robot that is described now, set it again'
REMEMBERED = 64
"""Number of messages handed over directly whose copies may still arrive."""


class _Local(NamedTuple):
    """Who has a topic in this process."""

    receivers: WeakSet
    publishers: WeakSet


# by context and resolved topic, which differ between robots of one process
_local: WeakKeyDictionary = WeakKeyDictionary()


class PayloadGravityPublisher:
    """Publishes one of ``KINDS``, transient local, and hands each message to the nodes of this process directly.

    It exists as long as its node: a subscriber knows that there is a server before the server is active.
    """

    def __init__(self, node, topic: str):
        """Create the publisher of ``topic``."""
        self._node = node
        self._publisher = node.create_lifecycle_publisher(KINDS[topic], topic, WITH_LIVELINESS)
        _in_process(node.context, self._publisher.topic_name).publishers.add(self)

    @property
    def exists(self) -> bool:
        """Whether the node has not been destroyed."""
        return self._publisher in self._node.publishers

    def publish(self, message) -> None:
        """Hand over and publish ``message``, which is not changed afterwards; the node is active."""
        for topics in list(_in_process(self._node.context, self._publisher.topic_name).receivers):
            topics.hand_over(self._publisher.topic_name, message)
        self._publisher.publish(message)


class Receiver(Protocol):
    """What messages are passed to."""

    def on_message(self, topic: str, message) -> None:
        """Receive a message of one of ``KINDS``."""


class PayloadGravityTopics:
    """The subscriptions of one node to ``KINDS`` and the newest message of each, from the node's start to its end.

    The copy of a message that was handed over directly, which comes over DDS later, is ignored.
    """

    def __init__(self, node):
        """Subscribe."""
        self._node = node
        self._newest: dict = {}
        self._handed: deque = deque(maxlen=REMEMBERED)
        self._receivers: list[Receiver] = []
        self._words: dict = {}  # publishers of ``IN_FORCE``, by topic
        self._ended: set[str] = set()  # topics whose last publisher has ended or died
        self._resolved = {node.resolve_topic_name(topic): topic for topic in KINDS}
        for resolved in self._resolved:
            _in_process(node.context, resolved).receivers.add(self)
        self._subscriptions = self._subscribed()

    def attach(self, receiver: 'Receiver') -> 'Receiver | None':
        """Pass each new message to ``receiver``; return the one before it, if there is one that it is to replace."""
        before = self._receivers[-1] if self._receivers else None
        self._receivers.append(receiver)
        return before

    def detach(self, receiver: 'Receiver') -> None:
        """Pass none any more; without a receiver subscribe again, which drops the messages of a server that ended."""
        self._receivers.remove(receiver)
        if self._receivers:
            return
        while self._words:
            self._node.destroy_publisher(self._words.popitem()[1])
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._newest.clear()
        self._handed.clear()
        # the graph has a publisher that has died for a while: the new subscriptions would not hear of its end
        self._subscriptions = self._subscribed()

    def newest(self) -> Iterator[tuple[str, object]]:
        """Yield the newest message of each topic whose publisher is alive: what a late joiner would receive."""
        for topic, message in self._newest.items():
            if not self.has_ended(topic):
                yield topic, message

    def publishers(self, topic: str) -> list[tuple[bytes, str]]:
        """Return the nodes that publish one of ``KINDS``."""
        return publishers_of(self._node, topic)

    def has_ended(self, topic: str) -> bool:
        """Return whether one of ``KINDS`` has no publisher that is alive."""
        resolved = self._node.resolve_topic_name(topic)
        if any(publisher.exists for publisher in _in_process(self._node.context, resolved).publishers):
            return False  # Fast DDS (3.2) does not assert the liveliness of a participant to itself
        return topic in self._ended or not self.publishers(topic)

    def say(self, topic: str, message) -> None:
        """Publish on the topic of ``IN_FORCE`` what this node holds, also for a server that starts later."""
        if topic not in self._words:
            self._words[topic] = self._node.create_publisher(KINDS[topic], IN_FORCE[topic], TRANSIENT_LOCAL)
        self._words[topic].publish(message)

    def expect(self, message) -> None:
        """Receive ``message`` again, from a server that continues it."""
        while message in self._handed:
            self._handed.remove(message)

    def hand_over(self, resolved: str, message) -> None:
        """Receive a message from a node of this process, in the thread of that node; not once the own is destroyed."""
        if set(self._subscriptions) <= set(self._node.subscriptions):
            self._handed.append(message)
            self._node.guarded(self._on_message)(self._resolved[resolved], message)

    def _subscribed(self) -> list:
        return [self._subscription(topic) for topic in KINDS]

    def _subscription(self, topic: str):
        """Return the subscription to a topic, with an event where its last publisher ends, if the middleware can."""
        arguments = KINDS[topic], topic, self._callback(topic), WITH_LIVELINESS
        events = SubscriptionEventCallbacks(liveliness=self._node.guarded(self._on_liveliness(topic)))
        try:
            return self._node.create_subscription(*arguments, event_callbacks=events)
        except UnsupportedEventTypeError:
            return self._node.create_subscription(*arguments)

    def _callback(self, topic: str):
        """Return the callback for messages that come over DDS."""

        def callback(message) -> None:
            if message not in self._handed:
                self._on_message(topic, message)

        return callback

    def _on_liveliness(self, topic: str):
        """Return the callback for publishers that appear or end; the diagnostics say so at once."""

        def callback(event) -> None:
            known = topic in self._ended
            # Fast DDS (3.2) counts -1 where the publisher had died before this subscription was made
            begins = event.alive_count > 0 or event.alive_count_change > 0
            (self._ended.discard if begins else self._ended.add)(topic)
            if known is not (topic in self._ended) and self._node.diagnostics is not None:
                self._node.diagnostics.publish()

        return callback

    def _on_message(self, topic: str, message) -> None:
        self._newest[topic] = message
        self._ended.discard(topic)  # whoever has published it is alive, whatever the middleware counts
        for receiver in list(self._receivers):
            receiver.on_message(topic, message)


def publisher_warnings(publishers: Callable[[str], list[tuple[bytes, str]]]) -> list[str]:
    """Return the warnings of a node for ``publishers(topic)``, the nodes that publish each of ``KINDS``."""
    return [
        f'{several(nodes, topic)}: the newest message counts; end all instances of dynamics_server but one'
        for topic in KINDS
        if len(nodes := publishers(topic)) > 1
    ]


def _in_process(context, resolved: str) -> _Local:
    """Return who has a topic in a context of this process."""
    return _local.setdefault(context, {}).setdefault(resolved, _Local(WeakSet(), WeakSet()))
