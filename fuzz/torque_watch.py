"""What a torque node may publish: admissible torques for a state or a timeout, and a check of those that came.

ROS times are ns, steady times s. Nothing here predicts one torque where documentation leaves several open: the node may
publish any of them.
"""

from collections import deque
from functools import partial

import numpy as np
from admissible import LONGEST, SHORTEST, Expected, Option, Pause, State, described
from load import SECOND, TOPICS, Load, ramp_of
from node_settings import CONTROLLER
from torques import Torque, fault, is_within

DISCOVERY = 0.5
"""Time from the creation of a node's inputs to its first torque, where it has not received payload and gravity, s."""
LOOK = 0.006
"""Time between two checks of the timeout, with a margin, s."""
OWN = 1.0
"""Time since the last state of the arm in which those of other joints alone are skipped, s."""
NO_VELOCITY = 'without velocities'
AHEAD = SECOND
"""A ramp that begins later than this from now is refused until then."""


class TorqueWatch:
    """gravity_compensation_node; other nodes override what depends on a motion."""

    needs_velocity = False
    always_needed = True  # False: a state may need no torque, and then on_stale has nothing to go on with

    def __init__(self, name: str, settings, found):
        self.name, self.graph, self.settings, self.arm = name, settings, settings.nodes[name], settings.arm
        self.found, self.configured, self.active = found, False, False
        limit = self.settings.age_limit
        self.limits = (limit, limit) if limit else (SHORTEST, LONGEST)
        self.is_limited = self.settings.preset != 'monitor_only'

    @property
    def age_limit(self) -> float:
        """About the age limit, for the length of pauses, s."""
        return self.settings.age_limit or max(3.0 * self.graph.period, SHORTEST)

    def check(self, rule: str, holds, what) -> bool:
        return self.found.check(rule, holds, lambda: f'{self.name}: {what() if callable(what) else what}')

    def configure(self, steady: float) -> None:
        """Reset, as a node that is configured."""
        self.configured, self.active = True, False
        self.created, self.load, self.newest = steady, Load(), {}
        self.last, self.last_sent = np.zeros(self.arm.n), None  # torque, and when by the clock of the arm, s
        self.doubtful: set[str] = set()  # topics whose message may have been refused
        self._read = 0  # ROS time at which the node has read the clock last
        self.reset()

    def reset(self) -> None:
        """Forget states, as at activation."""
        self.ready = False
        self.sent_at: float | None = None  # last torque, steady time
        self.own: float | None = None  # last state of the arm, steady time
        self.seen_now: int | None = None
        self.seen: list = []  # where the arm may have been seen last
        self.answered_torque: np.ndarray | None = None
        self.due: bool | None = False  # whether on_stale may act; None: perhaps
        self.acts = False  # it does
        self.published: int | None = None  # stamp of the last torque
        self._may_go_back = False  # the next stamp, since the clock was set back
        self.stopped()
        self.forget_stamps()

    def forget_stamps(self) -> None:
        """Forget stamps, as at activation and where the clock is set back."""
        self.answered: int | None = None
        self.used: int | None = None  # stamp of the last state that was used
        self.gaps: deque = deque(maxlen=120)
        self._stamp: int | None = None

    def stopped(self, now: float | None = None) -> None:
        """Begin to count the time without a torque for a state, on the clock of the arm, s."""
        self.missing, self._missed_at, self._certain = 0.0, now, True
        self._began = 0.0  # missing then, when on_stale began to act

    def follow_load(self, topic: str, message, now: int) -> None:
        """Apply a payload or gravity."""
        if message == self.newest.get(topic):
            return
        self.newest[topic] = message
        before, ramp = self.load.ramps[topic], ramp_of(message)
        self.load.follow(topic, ramp, now, self.ready)
        self.doubtful.discard(topic)
        if ramp.duration and ramp.start - now > 0.9 * AHEAD:
            self.load.may_keep(topic, before)
            self.doubtful.add(topic)

    def set_back(self, last: int, now: int, steady: float) -> None:
        """Record that the ROS time goes back from ``last`` to ``now``; the node notices at its next reading."""
        if not self.configured:
            return
        self.timeout(last, steady)
        self._certain, self._missed_at = False, self.clock(now, steady)
        self.load.set_back(self._read, last, now)
        self._read = now
        certain = self.seen_now is not None and now < self.seen_now
        self.forget_stamps()
        self._may_go_back = True
        self.forget_motion(certain)

    def forget_motion(self, certain: bool) -> None:
        """Drop the desired motion, if there is one; ``certain`` says whether the node surely drops it, too."""

    def clock(self, now: int, steady: float) -> float:
        return now / SECOND if self.graph.simulated_time else steady

    def skips(self, steady: float) -> bool:
        """Return whether a state of other joints alone is skipped now; otherwise it is rejected by name."""
        return self.own is not None and steady - self.own <= OWN

    @property
    def falls_back(self) -> bool:
        """Whether on_stale acts once states stop."""
        return self.active and self.due is not False and self.settings.on_stale != 'silent'

    def expect(self, state: State, now: int, steady: float, publishers) -> Expected:
        """Return what is admissible for a state that the node gets now; ``publishers``: topics of the load with one."""
        self._read = self.seen_now = now
        if not self.ready:
            lacking = [topic for topic in TOPICS if topic not in self.newest]
            early = steady - self.created < DISCOVERY - 0.01
            if any(early or topic in publishers or self.settings.await_load for topic in lacking):
                return Expected([], rule='PAYLOAD KNOWN')
        # where a message may have been refused, the node may still wait for it
        self.ready = self.ready or not self.doubtful
        why, certain = self.refusal(state, now)
        if why in ('', NO_VELOCITY):
            self.seen = [*self.seen[-3:], state.q]
        timeout = self.timeout(now, steady)
        if why:
            return timeout._replace(rule='REJECTED', must=timeout.must and state.q is not None)
        self.own = steady
        sure = certain and not self.doubtful
        sure = sure and (set(self.newest) >= set(TOPICS) or steady - self.created > DISCOVERY + 0.03)
        options, must = self.law(state, self.pause(state.stamp))
        limited = [self.limit(option, now, steady) for option in options]
        if not (must and sure):
            limited += timeout.options
        return Expected(limited, must and sure)

    def refusal(self, state: State, now: int) -> tuple[str, bool]:
        """Return why a state must get no torque, '' if it may, and whether it is usable for certain."""
        least, most = self.limits
        age = (now - state.stamp) / SECOND
        if state.q is None or state.stamp <= 0 or abs(age) > most + 1e-6:
            return 'incomplete, too old or from the future', False
        if self.answered is not None and state.stamp < self.answered:
            return 'out of order', False
        if self._stamp is not None and state.stamp > self._stamp:
            self.gaps.append((state.stamp - self._stamp) / SECOND)
        self._stamp = max(state.stamp, self._stamp or 0)
        if self.needs_velocity and state.qd is None:
            return NO_VELOCITY, False
        return '', state.good and abs(age) < 0.99 * least

    def pause(self, stamp: int) -> Pause:
        """Return the time since the last state that was used."""
        time = np.inf if self.used is None else (stamp - self.used) / SECOND
        return Pause(time, self.settings.age_limit, list(self.gaps)[:-1] or self.gaps)

    def law(self, state: State, pause: Pause) -> tuple[list[Option], bool]:
        """Return the admissible torques for a usable state, and whether one must be published."""
        return [self.held('state', state.stamp, state.q)], True

    def held(self, kind: str, time: int, q) -> Option:
        """Return the gravity torque at q."""
        return self.between(kind, time, lambda load: self.arm.gravity_torque(q, load))

    def between(self, kind: str, time: int, torque, of=None) -> Option:
        """Return an option between the torques with each payload and gravity that may be in force at a time."""
        torques = [torque(load) for load in self.load.options(time)]
        return Option(kind, np.min(torques, axis=0), np.max(torques, axis=0), of)

    def limit(self, option: Option, now: int, steady: float) -> Option:
        """Return an option within the effort limits and the rate limit."""
        if not self.is_limited:
            return option
        low, high = (np.clip(torque, -self.arm.effort, self.arm.effort) for torque in (option.low, option.high))
        if self.settings.rate_limit:
            steps = self.steps(self.clock(now, steady))
            bounds = [np.clip(torque, self.last - step, self.last + step) for torque in (low, high) for step in steps]
            low, high = np.min(bounds, axis=0), np.max(bounds, axis=0)
        return option._replace(low=low, high=high)

    def steps(self, time: float) -> tuple[float, float]:
        """Return the least and the largest step that the rate limit allows at a time of the clock of the arm, N m."""
        if self.last_sent is None or time < self.last_sent:
            return 0.0, self.settings.rate_limit * self.limits[1]
        least, most = (self.settings.rate_limit * min(time - self.last_sent, limit) for limit in self.limits)
        return least, most

    def timeout(self, now: int, steady: float) -> Expected:
        """Return what is admissible without a usable state, as ``on_stale`` says."""
        kind, nothing = self.settings.on_stale, Expected([], rule='TIMEOUT')
        if not self.active or self.due is False or kind == 'silent':
            return nothing
        time = self.clock(now, steady)
        self.missing += max(time - self._missed_at, 0.0) if self._missed_at is not None else 0.0
        self._missed_at = time
        self._read = now
        overdue, surely = (self.missing - limit for limit in self.limits)
        if overdue < -1e-6:
            return nothing
        must = bool(self._certain and self.due and surely > LOOK)
        if kind == 'gravity_only':
            held = [self.held(kind, now, q) for q in self.seen]
            must = must and all(np.isfinite(option.low).all() for option in held)
            return Expected([self.limit(option, now, steady) for option in held], must, 'TIMEOUT')
        # it begins at the node's first check after the limit; with a rate limit, zero is reached later
        elapsed = self.missing - self._began if self.acts else 0.0
        least = max(0.0, elapsed - LOOK) if self._certain else 0.0
        shares = [max(0.0, 1.0 - passed / self.settings.ramp_time) for passed in (elapsed, least)]
        if not self.settings.age_limit:  # the estimate changes meanwhile
            shares = [0.0, 1.0]
        low, high = np.sort([share * self.answered_torque for share in shares], axis=0)
        option = self.limit(Option(kind, low, high), now, steady)
        return Expected([option], must and not (self.acts and not self.last.any()), 'TIMEOUT')

    def judge(self, expected: Expected, torques: list[Torque], state: State | None, now: int, steady: float) -> bool:
        """Check the torques for a state, None for none, and record them."""
        check = partial(self.check, what=partial(described, expected, torques, state))
        if not torques:
            self._unanswered(expected, state)
            return check('PUBLISHED' if expected.rule == 'TERMS' else expected.rule, not expected.must)
        whole = all([self.look_at(torque, now, steady) for torque in torques])
        if not check('ONCE', len(torques) == 1) or not whole:
            return False
        (torque,) = torques
        found = [option for option in expected.options if is_within(torque.effort, option.low, option.high)]
        fits = check(expected.rule, found)
        self._sent(torque, now, steady)
        of_timeout = all(option.kind == self.settings.on_stale for option in found)  # or of nothing
        if state is None or state.q is None or of_timeout:
            self._began, self.acts = self._began if self.acts else self.missing, True
            self._unanswered(expected, state)
            return fits
        self.ready, self.due, self.acts = True, True, False
        self.seen, self.answered_torque = [state.q], torque.effort
        self.stopped(self.clock(now, steady))
        self.answered, self.used = state.stamp, state.stamp
        self.matched(found, state)
        return check('ONCE', torque.stamp in (None, state.stamp)) and fits

    def look_at(self, torque: Torque, now: int, steady: float, ends: bool = False) -> bool:
        """Check what holds for every torque; what a node ``ends`` with goes to the actuator alone."""
        named, commands = self.settings.kind != CONTROLLER and not ends, self.is_limited
        wrong = fault(torque, self.arm, named, commands, self.is_limited)
        fits = self.check('WHOLE', not wrong, wrong)
        if not wrong and self.is_limited and self.settings.rate_limit:
            step, most = np.abs(torque.effort - self.last).max(), self.steps(self.clock(now, steady))[1]
            fits &= self.check('RATE', step <= most + 1e-6, lambda: f'changed by {step}, {most} is allowed')
        if torque.stamp is not None:
            before, self.published = self.published or 0, torque.stamp
            goes_back = torque.stamp < before
            right = not goes_back or self._may_go_back
            self._may_go_back = self._may_go_back and not goes_back
            fits &= self.check('ONCE', right, lambda: f'stamp {torque.stamp} after {before}')
        return fits

    def deactivated(self, sent: list[Torque], now: int, steady: float) -> None:
        """Check the torques of a deactivation that began then: they decrease to zero as ``on_deactivate`` says."""
        settings, due = self.settings, self.is_limited and self.sent_at is not None
        self.active = False
        due = due and settings.on_deactivate != 'silent'
        check = partial(self.check, 'DEACTIVATED', what=lambda: f'{settings.on_deactivate}: {sent}')
        check(bool(sent) is due and (not due or not sent[-1].effort.any()))
        held = self.last.any()
        for torque in sent:
            before, time = self.last, now + round((torque.steady - steady) * SECOND)
            self.look_at(torque, time, torque.steady, ends=True)
            falls = (np.abs(torque.effort) <= np.abs(before) + 1e-9).all() and (torque.effort * before >= -1e-9).all()
            check(falls)
            self._sent(torque, time, torque.steady)
        if sent and held and settings.on_deactivate == 'ramp_to_zero':
            check(sent[-1].steady - sent[0].steady > 0.5 * settings.ramp_time)

    def matched(self, found: list[Option], state: State) -> None:
        """Record which options a torque for a state fits."""

    def unanswered(self, state: State) -> None:
        """Record a usable state without a torque."""
        if not self.always_needed:
            self.due = False if state.good else (self.due and None)
            self.used = state.stamp

    def _unanswered(self, expected: Expected, state: State | None) -> None:
        if state is not None and expected.rule == 'TERMS':
            self.unanswered(state)

    def _sent(self, torque: Torque, now: int, steady: float) -> None:
        self.last, self.last_sent, self.sent_at = torque.effort, self.clock(now, steady), steady
        self._read = now
