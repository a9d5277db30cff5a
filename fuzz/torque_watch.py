"""Invariants of a torque node: the messages to it are recorded, and the torques from it judged.

ROS times are ns, others s. Nothing here predicts which torque a node chooses: where the documentation leaves several
open, each of them is admissible, and where payload or gravity is not known, any finite one within the limits.
"""

from collections import deque
from functools import partial
from typing import NamedTuple

import numpy as np
from load import LARGEST_COMPARED, SECOND, TOPICS, Load, ramp_of
from node_settings import CONTROLLER, FEEDFORWARD
from robots import FASTEST
from torques import Torque, fault, is_within, read

LONGEST, SHORTEST = 1.0, 0.005
"""Bounds of an age limit that a node estimates, s."""
LOOK = 0.006
"""Time between two checks of the timeout, with a margin, s."""
PAUSE = 0.05
"""A longer pause between two torques of a ramp to zero counts as this time, s."""


class State(NamedTuple):
    """A joint state in the arm's joint order; None: a joint is missing, doubled or not finite."""

    stamp: int
    q: np.ndarray | None
    qd: np.ndarray | None
    good: bool = True  # nothing at all is unusual
    has_effort: bool = True


class Option(NamedTuple):
    """An admissible torque, between ``low`` and ``high``, for a state or of a timeout (``kind``), along ``of``."""

    kind: str
    low: np.ndarray
    high: np.ndarray
    of: object = None


class Expected(NamedTuple):
    """The admissible torques, whether there ``must`` be one, and the rule that other ones violate."""

    options: list[Option]
    must: bool = False
    rule: str = 'TERMS'


class TorqueWatch:
    """gravity_compensation_node; other nodes override what depends on a motion."""

    needs_velocity = False
    always_needed = True  # False: a state may need no torque, and then on_stale has nothing to go on with
    remembers = False  # True: where the arm was at a state may change the torques of later ones

    def __init__(self, name: str, nodes, found):
        """Watch a node of ``nodes``."""
        self.name, self.nodes, self.found, self.arm = name, nodes, found, nodes.settings.arm
        self.settings, self.configured, self.active = nodes.settings.nodes[name], False, False
        self.load, self.told = Load(), 0.0  # told: when it received another payload or gravity last, steady time
        limit = self.settings.age_limit
        self.limits = (limit, limit) if limit else (SHORTEST, LONGEST)
        self.is_limited = self.settings.preset != 'monitor_only'

    def check(self, rule: str, holds, what) -> bool:
        return self.found.check(rule, holds, lambda: f'{self.name}: {what() if callable(what) else what}')

    @property
    def time(self) -> float:
        """Time on the clock of the arm, s."""
        return self.nodes.now / SECOND if self.nodes.simulated_time else self.nodes.steady

    def configure(self) -> None:
        """Reset, as a node that is configured."""
        self.configured, self.active = True, False
        self.load, self.newest, self.told = Load(), {}, self.nodes.steady
        self.last, self.last_sent = np.zeros(self.arm.n), None  # torque, and its ``time``
        self.read = 0  # ROS time at which the node has read the clock last
        self.reset()

    def reset(self) -> None:
        """Forget states, as at activation."""
        self.ready = False
        self.sent_at: float | None = None  # last torque, steady time
        self.seen: list = []  # where the arm may have been seen last
        self.due: bool | None = False  # whether on_stale may act; None: perhaps
        # last torque for a state, its time, whether that is certain
        self.answer, self.answered_at, self.certain = np.zeros(self.arm.n), 0.0, True
        self.fallen, self.falls, self.fell_at = None, 0.0, -np.inf  # s of on_stale's ramp: sent, sent next; when
        self.published, self.may_go_back = 0, False  # stamp of the last torque
        self.unknown = False  # whether the node may follow a motion that is not checked
        self.forget_stamps()

    def go_on(self) -> None:
        """Follow nothing, as with another description; a node that held no arm begins as at an activation."""
        if self.active and self.ready:
            self.stop_following()
        else:
            sent_at = self.sent_at
            self.reset()
            self.sent_at = sent_at

    def stop_following(self) -> None:
        """Forget a motion; what is known of the states stays."""

    def forget_stamps(self) -> None:
        """Forget stamps, as at activation and where the clock is set back."""
        self.answered: int | None = None
        self.used: int | None = None  # stamp of the last state that was used
        self.stamps: deque = deque(maxlen=120)

    def follow_load(self, topic: str, message) -> None:
        """Apply a payload or gravity."""
        if message != self.newest.get(topic):
            self.newest[topic], self.told = message, self.nodes.steady
            said = message.assumed, message.settled
            self.load.follow(topic, ramp_of(message, self.arm), self.nodes.now, self.ready, *said)

    def set_back(self, last: int) -> None:
        """Record that the ROS time has been set back from ``last``; the node notices at its next reading."""
        if not self.configured:
            return
        back, simulated = (last - self.nodes.now) / SECOND, self.nodes.simulated_time
        self.load.set_back(self.read, last, self.nodes.now)
        self.forget_motion(certain=self.used is not None and self.nodes.now < self.read)
        self.read, self.certain, self.may_go_back, self.last_sent = self.nodes.now, False, True, None
        self.answered_at -= back if simulated else 0.0
        self.fell_at -= back if simulated else 0.0
        self.forget_stamps()

    def forget_motion(self, certain: bool) -> None:
        """Drop the desired motion, if there is one; ``certain`` says whether the node surely drops it, too."""

    @property
    def settles(self) -> bool:
        """Whether the node may wait because a server assumes a value that is not settled."""
        return not self.ready and self.settings.await_payload_gravity and bool(self.load.unsettled)

    @property
    def falls_back(self) -> bool:
        """Whether on_stale acts once states stop."""
        return self.active and self.due is not False and self.settings.on_stale != 'silent'

    def expect(self, state: State) -> Expected:
        """Return which torques the node may publish for a state that it receives now."""
        self.read, nodes = self.nodes.now, self.nodes
        if not self.ready and self.settings.await_payload_gravity and not self.newest.keys() >= set(TOPICS):
            return Expected([], rule='PAYLOAD KNOWN')
        # where a message may have been refused, the node may still wait for it
        known, usable = not self.settles and self.load.at(nodes.now) is not None, self.is_usable(state)
        self.ready = self.ready or known
        if usable:
            self.seen = [*self.seen[-3:], state.q]
        timeout = self.timeout()
        if not usable or not self.is_complete(state):
            return timeout._replace(rule='REJECTED', must=timeout.must and state.q is not None)
        numbers = [it for it in (state.q, state.qd) if it is not None]
        small = all(np.abs(it).max() < LARGEST_COMPARED for it in numbers)
        self.unknown = self.unknown or (self.remembers and not small)
        compared = small and not self.unknown
        # with an unknown payload or gravity any torque fits, yet the arm is held where it was
        options, must = self.law(state) if compared else ([self.any('state')], False)
        sure = known and compared and state.good and abs(nodes.now - state.stamp) < 0.99 * self.limits[0] * SECOND
        sure = sure and all(np.isfinite(option.low).all() for option in options)
        must = must and sure
        limited = [self.limit(option) for option in options]
        return Expected(limited if must else [*limited, *timeout.options], must)

    def is_usable(self, state: State) -> bool:
        """Return whether a state may get a torque by its stamp and positions."""
        in_time = state.stamp > 0 and abs(self.nodes.now - state.stamp) <= self.limits[1] * SECOND + 1e3
        if (
            state.q is None
            or not self.arm.accepts(state.q)
            or not in_time
            or (self.answered is not None and state.stamp < self.answered)
        ):
            return False
        if not self.stamps or state.stamp > self.stamps[-1]:
            self.stamps.append(state.stamp)
        return True

    def is_complete(self, state: State) -> bool:
        """Return whether nothing is missing that the law of the node needs."""
        return state.qd is not None or not self.needs_velocity

    def without_impossible(self, state: State) -> State:
        """Return the state without velocities where they are faster than any arm."""
        is_possible = state.qd is None or (np.abs(state.qd) <= FASTEST * self.arm.velocity).all()
        return state if is_possible else state._replace(qd=None)

    def law(self, state: State) -> tuple[list[Option], bool]:
        """Return the admissible torques for a usable state, and whether one must be published."""
        return [self.held('state', state.q)], True

    def held(self, kind: str, q) -> Option:
        """Return the gravity torque at q."""
        if np.abs(q).max() > LARGEST_COMPARED:
            return self.any(kind)
        return self.loaded(kind, lambda load: self.arm.gravity_torque(q, load))

    def loaded(self, kind: str, torque, of=None) -> Option:
        """Return the torque with the payload and gravity of now, when the node gets a state; any where unknown."""
        load = self.load.at(self.nodes.now)
        if load is None:
            return self.any(kind, of)
        wanted = torque(load)
        return Option(kind, wanted, wanted, of)

    def any(self, kind: str, of=None) -> Option:
        """Return an option that every torque fits."""
        return Option(kind, np.full(self.arm.n, -np.inf), np.full(self.arm.n, np.inf), of)

    def limit(self, option: Option) -> Option:
        """Return an option within the effort limits and the rate limit."""
        if not self.is_limited:
            return option
        ends = [np.clip(torque, -self.arm.effort, self.arm.effort) for torque in (option.low, option.high)]
        if self.settings.rate_limit:
            steps = self.steps(self.time, PAUSE if option.kind == 'ramp_to_zero' else np.inf)
            ends = [np.clip(torque, self.last - step, self.last + step) for torque in ends for step in steps]
        return option._replace(low=np.min(ends, axis=0), high=np.max(ends, axis=0))

    def steps(self, time: float, longest: float = np.inf) -> tuple[float, float]:
        """Return the least and the largest step that the rate limit allows at a time, N m; a pause may count less."""
        if self.last_sent is None or time < self.last_sent:
            return 0.0, self.settings.rate_limit * self.limits[1]
        least, most = (self.settings.rate_limit * min(time - self.last_sent, it, longest) for it in self.limits)
        return least, most

    def timeout(self) -> Expected:
        """Return what is admissible without a usable state, as ``on_stale`` says."""
        self.read, kind, nothing = self.nodes.now, self.settings.on_stale, Expected([], rule='TIMEOUT')
        surely, perhaps = (self.time - self.answered_at - limit for limit in reversed(self.limits))
        if not self.falls_back or perhaps < -1e-6:
            return nothing
        must = bool(self.certain and self.due and surely > LOOK)
        if kind == 'gravity_only':
            options = [self.held(kind, q) for q in self.seen]
            must = must and all(np.isfinite(option.low).all() for option in options)
        else:
            # it begins at the node's first check after the limit
            self.falls = 0.0 if self.fallen is None else self.fallen + min(self.time - self.fell_at, PAUSE)
            since = (self.falls, self.falls - LOOK) if self.certain else (np.inf, 0.0)
            ends = [np.clip(1.0 - passed / self.settings.ramp_time, 0.0, 1.0) * self.answer for passed in since]
            ended = self.fallen is not None and not self.last.any()
            options = [] if ended and self.answer.any() else [Option(kind, np.min(ends, axis=0), np.max(ends, axis=0))]
            must = must and not ended
        return Expected([self.limit(option) for option in options], must, 'TIMEOUT')

    def judge(self, act, state: State | None = None) -> list[Torque]:
        """Return the torques of what ``act()`` causes, for a state, None for none, checked and recorded."""
        act()
        state = state and self.without_impossible(state)
        expected = self.expect(state) if state else self.timeout()
        torques = read(self.nodes.take(self.name))
        self.found.counts['torques' if state else 'torques without a state'] += len(torques)
        self._judge(expected, torques, state)
        return torques

    def _judge(self, expected: Expected, torques: list[Torque], state: State | None) -> None:
        why = self.nodes.why(self.name)  # '' where the node says that the torque is that of the state
        check, answers = partial(self.check, what=partial(described, expected, torques, state, why)), False
        if not torques:
            check('PUBLISHED' if expected.rule == 'TERMS' else expected.rule, not expected.must)
        elif all([self.look_at(torque, self.time) for torque in torques]) and check('ONCE', len(torques) == 1):
            (torque,), answers = torques, state is not None and not why
            options = [option for option in expected.options if answers is (option.kind != self.settings.on_stale)]
            found = [option for option in options if is_within(torque.effort, option.low, option.high)]
            # a torque that answers the state has its stamp
            right = check(expected.rule, found) and check('ONCE', not answers or torque.stamp in (None, state.stamp))
            self._sent(torque, self.time)
            self.ready, answers = True, answers and right
            if not answers:
                self.fallen, self.fell_at = self.falls, self.time
        if not answers:
            if state is not None and expected.rule == 'TERMS':
                self.unanswered(state)
            return
        self.ready, self.due, self.certain, self.fallen = True, True, True, None
        self.seen, self.answer = [state.q], torque.effort
        self.answered, self.answered_at = state.stamp, self.time
        self.used = state.stamp
        self.matched(found, state)

    def look_at(self, torque: Torque, time: float, ends: bool = False) -> bool:
        """Check what holds for every torque; what a node ``ends`` with goes to the actuator alone."""
        named = self.settings.kind != CONTROLLER and not ends
        wrong = fault(torque, self.arm, named, commands=self.is_limited, limited=self.is_limited)
        fits = self.check('WHOLE', not wrong, wrong)
        if not wrong and self.is_limited and self.settings.rate_limit:
            step, most = np.abs(torque.effort - self.last).max(), self.steps(time)[1]
            fits &= self.check('RATE', step <= most + 1e-6, lambda: f'changed by {step}, {most} is allowed')
        if torque.stamp is not None:
            before, self.published = self.published, torque.stamp
            right = torque.stamp >= before or self.may_go_back
            self.may_go_back = self.may_go_back and torque.stamp >= before
            fits &= self.check('ONCE', right, lambda: f'stamp {torque.stamp} after {before}')
        return fits

    def deactivated(self, sent: list[Torque], time: float, steady: float) -> None:
        """Check the torques of a deactivation that began then: they decrease to zero as ``on_deactivate`` says."""
        settings, ends, held = self.settings, self.is_limited and self.sent_at is not None, self.last.any()
        ends = ends and settings.on_deactivate != 'silent'
        right = bool(sent) is ends and (not ends or not sent[-1].effort.any())
        self.active = False
        for torque in sent:
            at, before = time + torque.steady - steady, self.last
            self.look_at(torque, at, ends=True)
            right = right and (np.abs(torque.effort) <= np.abs(before) + 1e-9).all()
            right = right and (torque.effort * before >= -1e-9).all()
            self._sent(torque, at)
        if sent and held and settings.on_deactivate == 'ramp_to_zero':
            right = right and sent[-1].steady - sent[0].steady > 0.5 * settings.ramp_time
        self.check('DEACTIVATED', right, lambda: f'{settings.on_deactivate}: {sent}')

    def matched(self, found: list[Option], state: State) -> None:
        """Record which options a torque for a state fits."""

    def unanswered(self, state: State) -> None:
        """Record a usable state without a torque."""
        if not self.always_needed:
            self.due, self.used = False if state.good and not self.unknown else (self.due and None), state.stamp

    def _sent(self, torque: Torque, time: float) -> None:
        self.last, self.last_sent, self.sent_at, self.read = torque.effort, time, self.nodes.steady, self.nodes.now


class LooseWatch(TorqueWatch):
    """A node of which any torque is admissible that is finite, in time and within the limits."""

    needs_velocity, always_needed = True, False

    def is_complete(self, state: State) -> bool:
        """Return whether nothing is missing that the law of the node needs."""
        return self.settings.kind == FEEDFORWARD or (state.has_effort and state.qd is not None)

    def law(self, state: State) -> tuple[list[Option], bool]:
        """Return that any torque is admissible, and none must be published."""
        return [self.any('state')], False


def described(expected: Expected, torques: list[Torque], state: State | None, why: str) -> str:
    """Return a text: the torques that were published for a state, or why there are none, and the admissible ones."""
    sent = [np.round(torque.effort, 5).tolist() for torque in torques]
    wanted = [(option.kind, *np.round(option[1:3], 5).tolist()) for option in expected.options]
    return f'{sent or why} for {state}, expected {wanted}'
