"""Expected torques of a node: checks the torque of every joint state, and the torques on a timeout.

Times are ns. Expectations are derived from the node's inputs alone. Of the node itself only its reason for silence is
read: it shows whether a torque belongs to a state or to a timeout, and must agree with the published messages.
"""

from contextlib import suppress
from typing import NamedTuple

from support import graph

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from broken_messages.bytes import understood
from broken_messages.load import Load, is_gravity, is_payload
from broken_messages.nodes import AGE, RAMP, RATE
from broken_messages.oracle import ROBOT, Read, read_state
from broken_messages.rules import (
    ANSWERED,
    FUTURE,
    LIMITS,
    LOADED,
    OLD,
    ORDER,
    RATES,
    REASON,
    RIGHT,
    STALE,
    STAMPS,
    WHOLE,
    Findings,
)
from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_ros.errors import DynamicsError

SECOND = 1_000_000_000
LIMIT = round(AGE * SECOND)
RESOLUTION = 5e-7
"""Rounding of the time since 1970 as a floating-point number, s."""
LARGEST = 1e6
"""Largest position with a comparable gravity torque, rad."""
ABSENT = 'an input is missing'
"""Beginning of the reason for a torque without a state."""
IDLE = 'no trajectory', 'the trajectory has not begun', 'trajectory dropped'
"""Beginnings of the reason if no torque is requested, so that none may be sent on a timeout."""

LACKS = 'refused: ', 'waiting for '
"""Beginning of the reason if a node has no payload and gravity yet."""
LOADS = {'payload_state': (PayloadState, is_payload), 'gravity_state': (GravityState, is_gravity)}


class Sent(NamedTuple):
    """A torque as a node sent it."""

    stamp: int | None  # None: commands have none
    torque: np.ndarray


class Answered(NamedTuple):
    """The last state with a torque."""

    stamp: int
    time: int
    torque: np.ndarray


class Torques:
    """Expected torques of one node; call ``begin`` when it is activated."""

    def __init__(self, findings: Findings, node):
        """Check the torques of ``node``."""
        self._check, self._node = findings.check, node
        self._counts = findings.counts
        self._newest = 0
        self.load = Load()
        self.begin()

    def begin(self, anew: bool = False) -> None:
        """Reset the last state, and the load too if the node was configured ``anew``."""
        if anew:
            self.load = Load()
        if anew or not hasattr(self, '_sent'):
            # time and torque, whatever they answered; what was sent since configuration is gone on from
            self._sent: tuple[int, np.ndarray] = (0, np.zeros(ROBOT.nv))
        self._answered: Answered | None = None
        self._due = self._acting = False  # something to go on with; whether the last torque went on
        self._began: float | None = None  # how long states were overdue then, s
        self._seen: list[np.ndarray] = []  # where the arm may have been seen last, positions

    @property
    def latest(self) -> int:
        """Stamp of the last state that was answered, 0 for none."""
        return self._answered.stamp if self._answered else 0

    def state(self, data: bytes, now: int, before: str) -> Sent | None:
        """Check the torques after a valid or invalid state; return the one that belongs to it.

        ``before`` is the node's reason for silence before it: a state of other joints that is skipped leaves it.
        """
        node, read = self._node, read_state(data)
        if read is not None and abs(now - read.stamp) <= LIMIT:
            self.load.reach(read.stamp)
        absent = node.reason.startswith(ABSENT)
        if node.sent and not absent:
            return self._answer(read, now)
        if node.reason == before and not node.sent and _is_of_others(data):
            return None
        self._check(REASON, bool(node.reason), 'no torque and no reason')
        good = read is not None and read.good and abs(now - read.stamp) < LIMIT // 2
        # what else a node needs, a trajectory for instance, is known of these alone
        if (
            good
            and node.always
            and self.load.moderate
            and read.stamp > self._newest
            and not node.reason.startswith(LACKS)
        ):
            self._check(ANSWERED, False, node.reason)
        if read is not None and abs(now - read.stamp) <= LIMIT:
            self._newest = max(self._newest, read.stamp)
        fresh = read is not None and abs(now - read.stamp) <= node.oldest
        if not node.reason.startswith(IDLE):
            if fresh and read.q is not None and not node.always:  # it may lack what the node needs beside
                self._seen.append(read.q)
            self.absence(now)
            return None
        self._check(STALE, fresh, f'{node.reason}: the state is {read}')
        self._check(STALE, not node.sent, f'{node.reason}, but {len(node.sent)} messages were sent')
        self._due = False
        return None

    def told(self, topic: str, data: bytes) -> None:
        """Check whether a payload or gravity was accepted or rejected, and adopt it."""
        kind, good = LOADS[topic]
        message = understood(data, kind)
        if message is None:
            return
        start = graph.nanoseconds(message.stamp if topic == 'payload_state' else message.header.stamp)
        early = message.ramp_time >= 1e-9 and start - self._node.get_clock().now().nanoseconds > SECOND
        refused, known = self._node.task.arm.payload_gravity.refused, False if early else good(message)
        self._check(LOADED, known is None or known is not bool(refused), f'{message} was {refused or "not refused"}')
        if not refused and self._node.task.arm.payload_gravity.in_use:
            self.load.follow(topic, message, start, self._node.get_clock().now().nanoseconds)
        elif not refused and topic == 'payload_state':
            self.load.carry(message, start)
        elif not refused:
            self.load.pull(message, start)

    def absence(self, now: int) -> None:
        """Check the torques after a time without a usable state."""
        node = self._node
        if not node.sent:
            if self._due and now - self._answered.time > LIMIT:
                known = np.abs(self._seen).max() < LARGEST and self.load.moderate
                if known and node.on_stale == 'gravity_only':
                    self._check(STALE, False, f'nothing was sent: {node.reason}')
                if node.on_stale == 'ramp_to_zero':
                    self._check(STALE, not self._sent[1].any(), f'nothing follows {self._sent}: {node.reason}')
                self._due = False
            return
        sent = self._read()
        if sent is None:
            return
        self._counts['torques without a state'] += 1
        self._check(STALE, node.on_stale != 'silent', f'{sent} was sent')
        self._check(STALE, self._due, f'{sent} was sent, but there was nothing to go on with')
        if not self._due:
            return
        last = self._answered
        overdue = (now - last.time - LIMIT) / SECOND
        self._check(STALE, overdue > -1e-6, f'{sent} was sent {-overdue} s too early')
        self._check(STAMPS, sent.stamp in (None, last.stamp), f'{sent.stamp}, not of the last state {last.stamp}')
        if self._began is None:
            self._began = overdue
        if node.on_stale == 'gravity_only':
            self.load.reach(now)
            right = self._carrying(now)
        else:
            right = [last.torque * max(0.0, 1.0 - (overdue - self._began) / RAMP)]
        room = RATE * self._passed(now) / SECOND if node.rate_limited else np.inf
        right = [np.clip(_clamped(torque), self._sent[1] - room, self._sent[1] + room) for torque in right]
        rounding = (RATE + np.abs(last.torque).max() / RAMP) * RESOLUTION  # of the rate limit, and of the ramp
        self._check(STALE, _is_one(sent.torque, right, 1e-6 + rounding), f'{sent.torque}, expected one of {right}')
        self._sent, self._acting = (now, sent.torque), True

    def _carrying(self, time: int) -> list[np.ndarray]:
        """Return the gravity torques at a time, one for each position that may be the last known one."""
        found = []
        for q in self._seen:
            with suppress(DynamicsError):
                found += self.load.answers(time, lambda robot, q=q: robot.gravity_torque(q))
        return found

    def _answer(self, read: Read | None, now: int) -> Sent | None:
        """Check the torque of a state."""
        self._counts['torques'] += 1
        self._check(RIGHT, read is not None and read.q is not None, f'the state is {read}')
        sent = self._read()
        if sent is None or read is None or read.q is None:
            return None
        self._look_at(read, sent, now)
        self._answered, self._seen = Answered(read.stamp, now, sent.torque), [read.q]
        self._sent, self._due, self._acting, self._began = (now, sent.torque), True, False, None
        self._newest = max(self._newest, read.stamp)
        return sent

    def _read(self) -> Sent | None:
        """Return the torque that the node has sent on all of its topics."""
        node = self._node
        by_topic = dict(node.sent)
        whole = len(node.sent) == len(by_topic) and set(by_topic) == set(node.outputs)
        self._check(WHOLE, whole, f'topics {[topic for topic, _ in node.sent]}')
        if not whole:
            return None
        *named, (topic, commands) = by_topic.items()
        torque = np.array(deserialize_message(commands, Float64MultiArray).data)
        self._check(WHOLE, len(torque) == ROBOT.nv, f'{topic}: {len(torque)} numbers')
        limits = np.isfinite(torque).all() and (np.abs(torque) <= ROBOT.limits.effort).all()
        self._check(LIMITS, bool(limits), f'{torque}')
        for topic, data in named:
            message = deserialize_message(data, JointState)
            same = list(message.effort) == torque.tolist() and message.name == list(ROBOT.joint_names)
            self._check(WHOLE, same, f'{topic}: {message}, commands {torque}')
            return Sent(graph.nanoseconds(message.header.stamp), torque)
        return Sent(None, torque)

    def _look_at(self, read: Read, sent: Sent, now: int) -> None:
        """Check stamps, age, order, rates and, if it is known, the torque itself."""
        node, torque, age = self._node, sent.torque, now - read.stamp
        self._check(STAMPS, sent.stamp in (None, read.stamp), f'{sent.stamp} for {read.stamp}')
        self._check(OLD, age <= node.oldest, f'{age} ns old')
        self._check(FUTURE, age >= -node.oldest, f'{-age} ns in the future')
        before = self.latest
        self._check(ORDER, read.stamp >= before, f'{read.stamp} after {before}')
        if node.rate_limited:
            step = self._passed(now)
            change = np.abs(torque - self._sent[1]).max()
            self._check(
                RATES, change <= RATE * step * 1e-9 + RATE * RESOLUTION, f'changed by {change} N m in {step} ns'
            )
        if node.always and not node.rate_limited:
            self.compare(torque, self.load.answers(read.stamp, lambda robot: robot.gravity_torque(read.q)))

    @property
    def last(self) -> np.ndarray:
        """The last torque that was sent."""
        return self._sent[1]

    def _passed(self, now: int) -> int:
        """Return the time that the rate limit counts since the last torque, at most the age limit."""
        return min(now - self._sent[0], LIMIT)

    def compare(self, torque, right, tolerance: float = 1e-9) -> None:
        """Check that a torque is one of the ``right`` ones within the effort limits."""
        right = [_clamped(expected) for expected in right]
        self._check(
            RIGHT, _is_one(torque, right, tolerance * (1.0 + np.abs(right).max())), f'{torque}, expected one of {right}'
        )


def _clamped(torque) -> np.ndarray:
    """Return a torque within the effort limits."""
    return np.clip(torque, -ROBOT.limits.effort, ROBOT.limits.effort)


def _is_one(torque, right, tolerance: float) -> bool:
    """Return whether a torque is one of the ``right`` ones."""
    return any(np.allclose(torque, expected, rtol=0, atol=tolerance) for expected in right)


def _is_of_others(data: bytes) -> bool:
    """Return whether a JointState has joints, and none of the robot: it is skipped while others come."""
    message = understood(data, JointState)
    return message is not None and bool(message.name) and not set(message.name).intersection(ROBOT.joint_names)
