"""Input of payload and gravity from ``payload_state`` and ``gravity_state`` of a dynamics_server."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from robot_dynamics_ros.control.payload_gravity import CarryingRobot, PayloadGravity
from robot_dynamics_ros.control.ramp import Ramp
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.payload_gravity import gravity_ramp_of, payload_gravity_report, payload_ramp_of
from robot_dynamics_ros.nodes.payload_gravity_topics import KINDS, PayloadGravityTopics, publisher_warnings
from robot_dynamics_ros.robot import Robot

RampOf = TypeVar('RampOf', bound=Ramp)
DISCOVERY = 0.6
"""s from the participant's creation in which a publisher on the graph may not be known yet; likewise from the end of
another process's start, if it may have a server.

With the profiles of ``discovery.py`` an existing server was known after 0.12 to 0.44 s on the idle machine, whether the
process imported modules meanwhile or waited (120 starts, 2026-11-26). A wait that ended 0.05 to 0.3 s after the last
participant had appeared missed one of 30. Nothing that rclpy offers tells whether discovery is complete: the endpoints
that each participant lists for others are not among it.
"""
PATIENCE = 5.0
"""s from activation after which the reason names a server that publishes nothing, and the node no longer waits for one
that starts."""
AHEAD = 1_000_000_000
"""ns by which a ramp may begin later than now: its message may come before that of the simulated clock."""
NOT_ACTIVATED = 'not activated'
LOOK_PERIOD = 0.02
"""s between two checks while something is missing."""


class PayloadGravityInput:
    """Payload and gravity of a configured node: ``current``, by the newest valid message of each topic.

    ``missing`` is '' once both are known, else why no torque may be published. A wrong message is refused and changes
    nothing; one whose ramp begins later than now is refused until then. Once they are ``in_use``, a message that does
    not continue them is followed by a ramp (``Ramp.without_step``): a server that starts anew, a second one, or a
    message that is late makes no step. Without a publisher there is no payload and gravity is the node's. The executor
    handles messages; any thread may report a clock that was set back. After a change ``laws`` take ``current``, then
    ``followers`` are called.
    """

    def __init__(self, node, awaited: bool = False):
        """Begin with the messages in ``node.payload_gravity_topics``.

        ``node`` is a BaseNode whose robot has no payload. ``awaited``: torques wait for both messages, even if no
        publisher is known yet.
        """
        self.current = PayloadGravity.of(node.robot)
        self.laws: list[Callable[[PayloadGravity], object]] = []
        self.followers: list[Callable[[], object]] = []
        self.refused = ''
        self._node, self._awaited = node, awaited
        self._topics: PayloadGravityTopics = node.payload_gravity_topics
        self._changing = threading.Lock()  # another thread may report a clock that was set back
        self._applied: dict = {}
        self._refusals: dict[str, str] = {}
        self._early: dict = {}  # of ramps that begin later than now: when (ns) and the message, by topic
        self._began = time.monotonic()
        self.missing, self.in_use = NOT_ACTIVATED, False
        self._first_seen: float | None = None  # when a publisher of either topic was seen first, s
        self._server_started = 0.0  # when a process that may have a server was last seen to start, s
        self._carrying = CarryingRobot(node.robot)
        for topic, message in self._topics.newest():
            self._apply(topic, message)
        self._topics.attach(self._on_message)
        self._timer = node.create_timer(LOOK_PERIOD, self.look, clock=node.steady_clock)
        self._timer.cancel()
        node.clock_followers.append(self.clock_set_back)
        node.resources.callback(self._destroy)

    def _destroy(self) -> None:
        """Destroy what the constructor made; the node's ``PayloadGravityTopics`` subscribe again."""
        self._topics.attach(None)
        self._topics.renew()
        self._node.destroy_timer(self._timer)

    @property
    def robot(self) -> Robot:
        """The node's robot under payload and gravity of now; the same object while nothing changes."""
        return self._carrying.at(self.current, self._node.get_clock().now().nanoseconds)

    def follow(self, take: Callable[[PayloadGravity], object]) -> None:
        """Let a law take payload and gravity, now and after each change."""
        with self._changing:
            take(self.current)
            self.laws.append(take)

    def begin(self) -> None:
        """Check again what is missing, as at activation."""
        self._began = time.monotonic()
        self.missing, self.in_use = NOT_ACTIVATED, False
        self.look()

    def look(self) -> None:
        """Check until nothing is missing or early: what appears on the graph later only changes them."""
        now = self._node.get_clock().now().nanoseconds
        for topic, (start, message) in list(self._early.items()):
            if start - now <= AHEAD:
                self._receive(topic, message)
        if self.missing:
            self.missing = self._reason()
        if not (self.missing or self._early):
            self._timer.cancel()
        elif self._timer.is_canceled():
            self._timer.reset()

    def clock_set_back(self, before: int, after: int) -> None:
        """Keep the progress of both ramps on a clock that went back from ``before`` to ``after`` (ns)."""
        with self._changing:
            self.current = self.current.clock_set_back(before, after)
            self._tell()

    def report(self) -> dict[str, str]:
        """Return payload and gravity for the diagnostics, and why a message was refused last."""
        now = self.current
        return {
            **payload_gravity_report(now.payload.mass, now.gravity.after),
            'load refused last': self.refused,
            **{f'publishers of {topic}': str(self._topics.publishers(topic)) for topic in KINDS},
        }

    def warnings(self) -> list[str]:
        """Return which message was refused and not replaced since, and that more than one server publishes."""
        refused = [] if self.missing else [f'refused, the value before stays: {why}' for why in self._refusals.values()]
        return refused + publisher_warnings(self._topics.publishers)

    def _on_message(self, topic: str, message) -> None:
        self._node.clock_watch.look()  # a message is of the new time, if the system clock has just been set
        self._receive(topic, message)
        self.look()

    def _receive(self, topic: str, message) -> None:
        """Apply a message and tell of the change."""
        with self._changing:
            if self._apply(topic, message):
                self._tell()

    def _tell(self) -> None:
        for take in self.laws:
            take(self.current)
        for follow in self.followers:
            follow()

    def _apply(self, topic: str, message) -> bool:
        """Return whether ``message`` changed payload or gravity; one that is wrong is refused by name."""
        self._early.pop(topic, None)
        if message == self._applied.get(topic):
            return False
        try:
            if topic == 'payload_state':
                payload = payload_ramp_of(self._node.robot, message)
                self._check_start(topic, message, payload)
                changed = replace(self.current, payload=self._followed(topic, self.current.payload, payload))
            else:
                gravity = gravity_ramp_of(self._node.robot, message)
                self._check_start(topic, message, gravity)
                changed = replace(self.current, gravity=self._followed(topic, self.current.gravity, gravity))
        except DynamicsError as error:
            self.refused = self._refusals[topic] = f'{topic}: {error}'
            self._node.get_logger().warning(f'refused: {self.refused}')
            return False
        self.current = changed
        self._applied[topic] = message
        self._refusals.pop(topic, None)
        return True

    def _followed(self, topic: str, held: RampOf, told: RampOf) -> RampOf:
        """Return the ramp that follows the message ``told``; where it makes no step, a warning is logged."""
        if not self.in_use:
            return told
        ramp = told.without_step(held, self._node.get_clock().now().nanoseconds)
        if ramp is not told:
            self._node.get_logger().warning(
                f'{topic} does not begin at the value in force: ramp over {ramp.duration * 1e-9:g} s; it is late, '
                'or from a dynamics_server that has started anew or runs beside another one'
            )
        return ramp

    def _check_start(self, topic: str, message, ramp: Ramp) -> None:
        """Refuse a ramp that begins later than now, and check it again later: its share is not known yet."""
        ahead = ramp.start - self._node.get_clock().now().nanoseconds
        if ramp.duration and ahead > AHEAD:
            self._early[topic] = ramp.start, message
            raise ArgumentError(
                f'its ramp begins {ahead * 1e-9:.1f} s later than now: it is of another clock, or of this one before '
                'it was set back; activate dynamics_server on the same clock'
            )

    def _reason(self) -> str:
        """Return what is missing now, '' for nothing."""
        unknown = [topic for topic in KINDS if topic not in self._applied]
        now = time.monotonic()
        for topic in unknown:
            if topic in self._refusals:
                return f'refused: {self._refusals[topic]}'
        if self._first_seen is None and any(self._topics.has_publisher(topic) for topic in KINDS):
            self._first_seen = now
        for topic in unknown:
            seen = self._topics.has_publisher(topic)
            if not (seen or self._awaited):
                continue
            if now - self._began < PATIENCE:
                return f'waiting for {topic}'
            late = 'has a publisher' if seen else 'is awaited (await_load)'
            return f'{topic} {late}, but no message came within {PATIENCE:g} s: activate dynamics_server'
        if not unknown:
            return ''
        if now - self._began < PATIENCE and self._topics.server_starts():
            self._server_started = now
        # of a server that has just been discovered, or has just started, one topic may be known before the other
        since = max(self._topics.discovering, self._first_seen or 0.0, self._server_started)
        return f'waiting for {unknown[0]}' if now - since < DISCOVERY else ''
