"""Input of payload and gravity from ``payload_state`` and ``gravity_state`` of a dynamics_server."""

import threading
from collections.abc import Callable
from copy import copy
from dataclasses import replace

from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity, RobotWithPayload
from robot_dynamics_ros.control.payload.ramp import Ramp
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.payload_gravity import payload_gravity_report
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import (
    FIELD,
    KINDS,
    RAMP_OF,
    STATE_OF,
    UNFIT,
    PayloadGravityTopics,
    publisher_warnings,
)
from robot_dynamics_ros.robot import Robot

AHEAD_NS = 1_000_000_000
"""ns by which a ramp may begin later than now: its message may come before that of the simulated clock."""
NOT_ACTIVATED = 'not activated'
LOOK_PERIOD = 0.02
"""s between two checks while something is missing."""


class PayloadGravityInput:
    """Payload and gravity of a configured node: ``current``, by the newest valid message of each topic.

    ``missing`` is '' where torques may be published, else why not. A wrong message is refused and changes nothing; one
    whose ramp begins later than now is refused until then. Once they are ``in_use``, a message that does not continue
    them is followed by a ramp (``Ramp.without_step``): a second server, or a message that is late, makes no step. What
    a server only assumes does not replace what was set, and neither does another description of the robot. Without a
    message there is no payload and gravity is the node's. The executor handles messages; any thread may report a clock
    that was set back. After a change ``laws`` take ``current``, then ``followers`` are called.
    """

    def __init__(self, node, awaited: bool = False):
        """Begin with the messages in ``node.payload_gravity_topics``.

        ``node`` is a BaseNode whose robot has no payload. ``awaited``: torques wait for both messages.
        """
        self.current = PayloadGravity.of(node.robot)
        self.laws: list[Callable[[PayloadGravity], object]] = []
        self.followers: list[Callable[[], object]] = []
        self.rejected = ''
        self._node, self._robot, self._awaited = node, node.robot, awaited
        self._topics: PayloadGravityTopics = node.payload_gravity_topics
        self._changing = threading.Lock()  # another thread may report a clock that was set back
        self._applied: dict = {}
        self._refusals: dict[str, str] = {}
        self._early: dict = {}  # of ramps that begin later than now: when (ns) and the message, by topic
        self._is_set: set[str] = set()  # topics whose value was set, and does not yield to what a server assumes
        self._contradicted: set[str] = set()  # those for which a server assumes another value
        self.missing, self.in_use = NOT_ACTIVATED, False
        self._carrying = RobotWithPayload(node.robot)
        self._timer = node.create_timer(LOOK_PERIOD, self.look, clock=node.steady_clock)
        self._timer.cancel()
        before = self._topics.attach(self)
        node.resources.callback(self._destroy)
        node.follow_clock(self.clock_set_back)
        if before is not None:
            self._continue_from(before)
        for topic, message in self._topics.newest():
            if before is None or topic not in self._refusals or message != before._applied.get(topic):
                self._apply(topic, message)
        for topic in KINDS:
            self._say(topic)

    def _destroy(self) -> None:
        """Destroy what the constructor made."""
        self._topics.detach(self)
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

    def begin(self, in_use: bool = False) -> None:
        """Check again what is missing, as at activation; ``in_use``: torques continue those of another description."""
        self.missing, self.in_use = NOT_ACTIVATED, in_use
        self.look()
        self.in_use = in_use and not self.missing

    def look(self) -> None:
        """Check until nothing is missing or early."""
        now = self._node.get_clock().now().nanoseconds
        for topic, (start, message) in list(self._early.items()):
            if start - now <= AHEAD_NS:
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
        """Return payload and gravity for the diagnostics, and why a message was rejected last."""
        now = self.current
        return {
            **payload_gravity_report(now.payload.mass, now.gravity.after),
            'payload or gravity message rejected': self.rejected,
            **{f'publishers of {topic}': str(len(self._topics.publishers(topic))) for topic in KINDS},
        }

    def warnings(self) -> list[str]:
        """Return which message was refused and not replaced since, and what is wrong with the servers."""
        found = [] if self.missing else [f'refused, the value before stays: {why}' for why in self._refusals.values()]
        ended = [topic for topic in KINDS if topic in self._applied and self._topics.has_ended(topic)]
        if ended:
            found.append(f'no publisher of {" and ".join(ended)} any more: dynamics_server has ended, its values stay')
        found += [
            f'{topic}: dynamics_server assumes another value since its start, the one that was set stays; set it again'
            for topic in sorted(self._contradicted)
        ]
        return found + publisher_warnings(self._topics.publishers)

    def on_message(self, topic: str, message) -> None:
        """Follow a message."""
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
        if _repeats(message, self._applied.get(topic)):
            self._applied[topic] = message
            self._contradicted.discard(topic)
            return False
        try:
            ramp = RAMP_OF[topic](self._robot, message)
            self._check_start(topic, message, ramp)
        except DynamicsError as error:
            self._refuse(topic, str(error))
            return False
        field = FIELD[topic]
        held = getattr(self.current, field)
        if self._is_kept(topic, message):
            if topic in self._applied and not ramp.ends_like(held):
                self._contradict(topic)
            return False
        self._contradicted.discard(topic)
        self.current = replace(self.current, **{field: self._followed(topic, held, ramp)})
        self._applied[topic] = message
        self._refusals.pop(topic, None)
        if not message.assumed:
            self._is_set.add(topic)
        self._say(topic)
        return True

    def _refuse(self, topic: str, why: str) -> None:
        self.rejected = self._refusals[topic] = f'{topic}: {why}'
        self._node.get_logger().warning(f'refused: {self.rejected}')

    def _is_kept(self, topic: str, message) -> bool:
        """Return whether the value of a topic was set, and the message has one that a server assumes."""
        return message.assumed and topic in self._is_set

    def _say(self, topic: str) -> None:
        """Publish what this node holds, for a server that was told none."""
        word = STATE_OF[topic](self._robot, getattr(self.current, FIELD[topic]))
        word.assumed = topic not in self._is_set
        self._topics.say(topic, word)

    def _contradict(self, topic: str) -> None:
        """Keep the value that was set, and publish it again: a ramp is that of the clock now."""
        if topic not in self._contradicted:
            self._node.get_logger().warning(f'{topic}: dynamics_server was told none since its start: the last stays')
        self._contradicted.add(topic)
        continued = STATE_OF[topic](self._robot, getattr(self.current, FIELD[topic]))
        continued.settled = True
        self._topics.expect(continued)
        self._say(topic)

    def _continue_from(self, before: 'PayloadGravityInput') -> None:
        """Keep what was in force while the node used ``before``, with another description of the robot.

        Where a value that was set does not fit this robot, as if its frame is gone, torques wait until it is set again.
        """
        self._is_set |= before._is_set
        for topic in KINDS:
            if topic not in before._applied:
                if topic in self._is_set:
                    self._refuse(topic, before._refusals[topic].removeprefix(f'{topic}: '))
                continue
            field = FIELD[topic]
            try:
                in_force = STATE_OF[topic](before._robot, getattr(before.current, field))
                ramp = RAMP_OF[topic](self._robot, in_force)
            except DynamicsError as error:
                if topic in self._is_set:
                    self._refuse(topic, f'{UNFIT}: {error}')
                continue
            self.current = replace(self.current, **{field: ramp})
            self._applied[topic] = before._applied[topic]
            self._contradicted |= before._contradicted & {topic}
        self.in_use = before.in_use

    def _followed(self, topic: str, held: Ramp, told: Ramp) -> Ramp:
        """Return the ramp that follows the message ``told``; where it makes no step, a warning is logged."""
        if not self.in_use:
            return told
        # a first message may be of a change that was made long ago
        is_first = topic not in self._applied
        ramp = told.without_step(held, self._node.get_clock().now().nanoseconds, may_be_asked_for=not is_first)
        if ramp is not told:
            self._node.get_logger().warning(
                f'{topic} does not begin at the value in force: ramp over {ramp.duration * 1e-9:g} s; it is late, '
                'or from a dynamics_server that has started anew or runs beside another one'
            )
        return ramp

    def _check_start(self, topic: str, message, ramp: Ramp) -> None:
        """Refuse a ramp that begins later than now, and check it again later: its share is not known yet."""
        ahead = ramp.start - self._node.get_clock().now().nanoseconds
        if ramp.duration and ahead > AHEAD_NS:
            self._early[topic] = ramp.start, message
            raise ArgumentError(
                f'its ramp begins {ahead * 1e-9:.1f} s later than now: it is of another clock, or of this one before '
                'it was set back; activate dynamics_server on the same clock'
            )

    def _reason(self) -> str:
        """Return what is missing now, '' for nothing."""
        unknown = [topic for topic in KINDS if topic not in self._applied]
        for topic in unknown:
            if topic in self._refusals:
                return f'refused: {self._refusals[topic]}'
        if not self._awaited:
            return ''
        if not unknown:
            return '' if self.in_use else self._unsettled()
        if not self._topics.has_ended(unknown[0]):
            return f'waiting for {unknown[0]}: activate dynamics_server'
        return (
            f'waiting for {unknown[0]}: start dynamics_server, or set await_payload_gravity to false for an arm '
            'without one'
        )

    def _unsettled(self) -> str:
        """Return which value a server assumes that nodes may still contradict, '' for none."""
        for topic in KINDS:
            message = self._applied[topic]
            if message.assumed and not message.settled:
                return f'waiting for {topic}: dynamics_server has just started, and nodes may hold what was set before'
        return ''


def _repeats(message, before) -> bool:
    """Return whether a message says what the one ``before`` (None: none) did, whether it is settled or not."""
    if before is None:
        return False
    same = copy(message)
    same.settled = before.settled
    return same == before
