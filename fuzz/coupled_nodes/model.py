"""Reference model of a torque node: its expected torque, if any, written from the rules and not from the nodes.

ROS times are ns, steady times s. An ``Expected`` bounds each joint's torque: both bounds are equal unless a rule leaves
something open. ``sent`` passes the torque that the node published, so that deviations do not accumulate.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coupled_nodes.load import SECOND, Load
from coupled_nodes.settings import Settings, TorqueSettings

DISCOVERY = 0.5
"""Time from the creation of the load's subscriptions to the first torque, s (R6)."""
PERIODS = 5
"""The first estimate of the period is the second longest of so many."""
LONGEST = 1.0
"""Largest estimated age limit, s."""
SHORTEST = 0.005
"""Smallest estimated age limit, s."""
LOOKED_AT = 0.006
"""Time between two checks of the timeout, with a margin, s (R17)."""
ROUNDING = 1e-6
"""Rounding of the time since 1970 as a floating-point number, s."""
OWN = 1.0
"""Time since the last state of the arm in which those of other joints alone are skipped, s."""
LOADS = ('payload_state', 'gravity_state')


class State(NamedTuple):
    """A joint state in the arm's joint order."""

    stamp: int
    q: np.ndarray | None  # None: a joint is missing, doubled or not finite
    qd: np.ndarray | None


@dataclass
class Expected:
    """Expected output: a torque between ``low`` and ``high``; None: no torque. A deviation violates ``rule``."""

    rule: str
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    sure: bool = True  # False: no torque is correct, too
    missing: str = ''  # the rule that a missing torque violates, if it is another one


class Clock:
    """Age limit and interruptions, from the stamps of states."""

    def __init__(self, age_limit: float):
        """Estimate the limit if ``age_limit`` is 0."""
        self._stated = age_limit
        self.forget()

    def forget(self) -> None:
        """Reset the stamps and the estimate."""
        self._period = 0.0
        self._gaps: list[float] = []
        self._newest: int | None = None
        self.answered: int | None = None
        self.usable: int | None = None

    @property
    def limit(self) -> float:
        """Age limit, s."""
        return self._stated or min(self._periods, LONGEST)

    @property
    def interruption(self) -> float:
        """Time without a complete state from which on it is an interruption, s: a larger age limit hides none."""
        return min(self.limit, self._periods)

    @property
    def _periods(self) -> float:
        """Three periods, s."""
        return max(3.0 * self._period, SHORTEST) if self._period else LONGEST

    def refuses(self, stamp: int, now: int) -> str:
        """Return why a state is not usable, '' if it is; update the period."""
        if stamp == 0:
            return 'without a stamp'
        if (stamp - now) / SECOND > self.limit:
            return 'from the future'
        limit = self.limit
        if self._newest is not None and stamp > self._newest:
            gap = (stamp - self._newest) / SECOND
            self._gaps.append(gap)
            if len(self._gaps) == PERIODS:
                self._period = sorted(self._gaps)[-2]
            elif len(self._gaps) > PERIODS:
                self._period += 0.1 * (min(gap, 3.0 * self._period) - self._period)
        self._newest = max(stamp, self._newest or stamp)
        if self.answered is not None and stamp < self.answered:
            return 'out of order'
        return 'too old' if (now - stamp) / SECOND > limit else ''

    def is_near_the_limit(self, stamp: int) -> bool:
        """Return whether it is undecidable if this stamp ends an interruption."""
        if self.usable is None:
            return False
        gap = (stamp - self.usable) / SECOND
        room = 0.02 if self.interruption == self._stated else 0.35  # a gap changes the period that a node learns
        return (1.0 - room) * self.interruption < gap < (1.0 + room) * self.interruption

    def ends_silence(self, stamp: int) -> bool:
        """Return whether a state ends an interruption."""
        return self.usable is not None and (stamp - self.usable) / SECOND > self.interruption


class TorqueModel:
    """A torque node; a subclass defines its ``law``."""

    needs_velocity = False
    missing = ''

    def __init__(self, settings: Settings, node: TorqueSettings, fills_before: bool):
        """Model ``node`` in the graph of ``settings``."""
        self.arm, self.settings, self.graph = settings.arm, node, settings
        self._fills_before = fills_before
        self.configured = self.active = False

    def configure(self, steady: float) -> None:
        """Reset the model at ``steady``, when the load's subscriptions may be created."""
        self.configured, self.active = True, False
        self.clock = Clock(self.settings.age_limit)
        self.load = Load()
        self._newest: dict = {}  # message of each load topic
        self._ramp_ends = 0  # of a ramp of the node's own (R25)
        self._looked: int | None = None
        self.heard: set[str] = set()
        self._created = steady
        self._last = np.zeros(self.arm.n)  # sent since configuration (R14)
        self._last_sent: float | None = None
        self.activate()
        self.active = False

    def activate(self) -> None:
        """Activate the model (R1)."""
        self.active, self.ready = True, False
        self.clock.forget()
        self._now: int | None = None  # at the last state
        self.why = 'R1'  # the special case that the latest answers come from
        self._answered: np.ndarray | None = None  # the latest torque for a state
        self._missing_for = self._missed_at = 0.0  # of states, and until when, on the clock of the arm, s (R17)
        self._seen: np.ndarray | None = None
        self.due = self.acts = False
        self._began: tuple[float, float] | None = None  # how long states were overdue when on_stale began to act, s
        self.sent_at: float | None = None  # steady time, since activation
        self._own: float | None = None  # steady time of the last state with the joints of the arm, since activation

    def told(self, topic: str, message, now: int) -> None:
        """Apply a payload or gravity; without a step where torques are computed already (R25)."""
        self.heard.add(topic)
        if message == self._newest.get(topic):
            return
        self._newest[topic] = message
        if self.ready:
            self._ramp_ends = max(self._ramp_ends, self.load.follow(topic, message, self._fills_before, now))
        elif topic == 'payload_state':
            self.load.carry(message, self._fills_before)
        else:
            self.load.pull(message)

    def law(self, state: State, silence: bool):
        """Return (rule, torque or None, idle, sure) for a usable state."""
        raise NotImplementedError

    def set_back(self, now: int) -> None:
        """Process a ROS time that was set back (R3)."""
        self.clock.forget()
        self.why = 'R3'

    def state(self, state: State, now: int, steady: float, publishers, waits: bool = True) -> Expected:
        """Return the expected output for a joint state; ``publishers`` are the load topics that have a publisher.

        Unless it ``waits``, the node begins before it knows of them.
        """
        self.look(now)
        if self._now is not None and now < self._now:
            self.set_back(now)
        self._now = now
        since_created = steady - self._created
        if not self.ready and waits:
            unheard = [topic for topic in LOADS if topic not in self.heard]
            # only of what has not come it must be found out whether somebody publishes it
            early = since_created < DISCOVERY - 0.01
            if any(early or topic in publishers or self.settings.await_load for topic in unheard):
                return Expected('R6')
        self.ready = True
        if state.q is None:
            return Expected('GATE')
        self._own = steady
        if self.clock.refuses(state.stamp, now):
            return Expected('GATE')
        if self.needs_velocity and state.qd is None:
            self._seen = state.q
            return Expected('GATE')
        silence = self.clock.ends_silence(state.stamp)
        if silence:
            self.why = 'R2'
        self.arm.turned = False
        rule, torque, idle, sure = self.law(state, silence)
        rule = 'R11' if self.arm.turned else rule
        self._seen = state.q
        if torque is not None or idle:
            self.clock.usable = state.stamp  # where something else was missing, the state was not complete
        if torque is None:
            self.due = self.due and not idle
            return Expected(rule)
        if np.isnan(torque).any():  # one of several
            return Expected(rule, -self.arm.effort, self.arm.effort, False)
        low, high = self._limited(torque, torque, now, steady)
        sure = sure and (since_created > DISCOVERY + 0.01 or self.heard >= set(LOADS))
        if self._is_slowed(torque, torque, (low, high)) or (self.settings.rate_limit and rule == 'ANSWER'):
            rule = 'R14'
        if self.settings.preset == 'monitor_only' and rule in ('ANSWER', 'R14'):
            rule = 'R15'
        return Expected(rule, low, high, sure, self.missing)

    def look(self, now: int) -> None:
        """Keep the progress of ramps if the ROS time was set back since the last call (R3)."""
        if self._looked is not None and now < self._looked:
            self.load.set_back(self._looked, now)
        self._looked = now

    def skips(self, steady: float) -> bool:
        """Return whether a state of other joints alone is skipped now; otherwise it is rejected by name."""
        return self._own is not None and steady - self._own <= OWN

    def subscribed(self, steady: float) -> None:
        """Record since when the load's subscriptions exist."""
        self._created = steady

    def unanswered(self) -> None:
        """Record that a state got no torque although it could have."""

    def answered(self, state: State, torque, now: int, steady: float) -> None:
        """Record that a state got a torque."""
        self._sent(torque, now, steady)
        self._answered, self._missing_for, self._missed_at = np.array(torque), 0.0, self._time(now, steady)
        self.clock.answered = state.stamp
        self.due, self.acts = True, False
        self._began = None

    def absence(self, now: int, steady: float) -> Expected | None:
        """Return the torque that ``on_stale`` requires without a usable state; None: there must be none."""
        if not self.active or not self.due or self._answered is None or self.settings.on_stale == 'silent':
            return None
        time, torque = self._time(now, steady), self._answered
        self._missing_for += max(time - self._missed_at, 0.0)
        self._missed_at = time
        overdue = self._missing_for - self.clock.limit
        if overdue < -ROUNDING:
            return None
        self.look(now)
        sure = overdue > LOOKED_AT
        earliest, latest = self._began or (overdue, overdue)
        latest = overdue if latest <= ROUNDING else latest  # at the limit itself it may begin, or at the next look
        self._began = earliest, latest
        if self.settings.on_stale == 'gravity_only':
            torques = [self.arm.gravity_torque(self._seen, self.load.at(now))] * 2
        else:
            ended = self.acts and not self._last.any()
            ends = overdue - earliest, max(0.0, overdue - latest - LOOKED_AT)
            if ended and ends[1] > self.settings.ramp_time:
                self.due = False
                return None
            sure = sure and not ended  # further zeros are allowed
            torques = [torque * max(0.0, 1.0 - end / self.settings.ramp_time) for end in ends]
        low, high = np.minimum(*torques), np.maximum(*torques)
        bounds = self._limited(low, high, now, steady)
        return Expected('R14' if self._is_slowed(low, high, bounds) else 'R17', *bounds, sure, 'R17')

    def acted(self, torque, now: int, steady: float) -> None:
        """Record that ``on_stale`` sent a torque."""
        self._sent(torque, now, steady)
        self.acts = True

    def answers(self, steady: float) -> bool:
        """Return whether diagnostics may report that the node publishes torques (R4)."""
        return self.sent_at is not None and steady - self.sent_at <= max(self.clock.limit, 1.0)

    def step(self, now: int, steady: float) -> tuple[float, float]:
        """Return the least and the largest step of a joint's torque that the rate limit allows now, N m (R14)."""
        time, limit = self._time(now, steady), self.clock.limit
        if self._last_sent is None or time < self._last_sent:
            return 0.0, self.settings.rate_limit * limit
        step = self.settings.rate_limit * min(time - self._last_sent, limit)
        return step, step

    @property
    def last(self) -> np.ndarray:
        """The torque that was sent last since configuration, zero before the first."""
        return self._last

    def _sent(self, torque, now: int, steady: float) -> None:
        self._last, self._last_sent, self.sent_at = np.array(torque), self._time(now, steady), steady

    def _time(self, now: int, steady: float) -> float:
        """Return the time that the rate limit counts, s."""
        return now / SECOND if self.graph.simulated_time else steady

    def _is_slowed(self, low, high, bounds) -> bool:
        """Return whether the ``bounds`` of a torque between ``low`` and ``high`` are due to the rate limit."""
        if self.settings.preset == 'monitor_only':
            return False
        return not np.array_equal(np.clip([low, high], -self.arm.effort, self.arm.effort), bounds)

    def _limited(self, low, high, now: int, steady: float):
        """Return bounds of a torque within the effort limits and the rate limit."""
        if self.settings.preset == 'monitor_only':
            return low, high
        low, high = (np.clip(torque, -self.arm.effort, self.arm.effort) for torque in (low, high))
        if not self.settings.rate_limit:
            return low, high
        bounds = [
            np.clip(torque, self._last - step, self._last + step)
            for torque in (low, high)
            for step in self.step(now, steady)
        ]
        return np.min(bounds, axis=0), np.max(bounds, axis=0)


class GravityModel(TorqueModel):
    """gravity_compensation_node."""

    def law(self, state: State, silence: bool):
        """Return g(q) with the payload at the state's stamp."""
        rule = self.why if self.why == 'R3' else 'R25' if state.stamp < self._ramp_ends else 'ANSWER'
        return rule, self.arm.gravity_torque(state.q, self.load.at(state.stamp)), False, True
