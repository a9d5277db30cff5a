"""Torque pipeline: from a joint state to a torque by gate, control law, limiter and publishers.

state bytes -> ``StateInput`` (names, arrays) -> ``StateGate`` (fresh, in order) -> law -> ``FadeIn`` ->
``TorqueLimiter`` -> publish.
The thread of the ``HotPath`` runs it. Other threads read numbers, strings and copies of it.
"""

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from robot_dynamics_ros.control.guards.fade_in import FadeIn
from robot_dynamics_ros.control.guards.position_error import PositionError
from robot_dynamics_ros.control.guards.state_gate import ACCEPTED, StateGate
from robot_dynamics_ros.control.guards.timeout_fallback import GravityFallback, RampToZero
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
from robot_dynamics_ros.control.guards.torque_ramp import LONGEST, TorqueRamp
from robot_dynamics_ros.control.law import INTERRUPTION, TORQUE, Law, Outcome, Result
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.messages.joint_state import OtherJointsError, StateInput
from robot_dynamics_ros.nodes.inputs.pipeline_clock import PipelineClock
from robot_dynamics_ros.nodes.tasks.state_sources import StateSources

MOST_REASONS = 20
"""Reasons for rejection that are counted separately: joint names in messages make any number of them."""
STEP = 0.005
"""Time between two commands of the ramp at deactivation, s."""
MAX_STALLED_COMMANDS = 200
"""Commands, 1 s, after which this ramp is given up where a rate limit delays it and the clock of the arm stands still.

They are counted because a process that pauses does not see the clock move meanwhile.
"""
OWN_STATE_TIMEOUT_S = 1.0
"""Time since the last state of the arm in which states of other joints alone are skipped, s."""
NO_INPUT = 'no input yet'
OTHERS_ALONE = 'no joint state of the arm yet, only those of other joints'
NOT_FINITE = 'the torque is not finite'


class Awaited(Protocol):
    """What must be known before the first torque is published."""

    missing: str
    """What is not known yet; '' for nothing."""
    in_use: bool
    """Whether a state has come since activation when nothing was missing; the pipeline sets it."""


class Output(Protocol):
    """What publishes torques (n, N m)."""

    def publish(self, stamp: int, torque: np.ndarray, answered: int) -> None:
        """Publish the torque for the state of ``stamp`` (ns); ``answered`` is 0 where it is one of the fallback."""

    def publish_command(self, stamp: int, torque: np.ndarray, answered: int) -> None:
        """Publish the torque for an actuator alone: it is not that of a state, so nobody may add it to another."""


class Counts:
    """Counts of joint states; the hot path writes them, ``rejected_reasons`` returns a copy for other threads."""

    def __init__(self):
        """Start at zero."""
        self.received = self.published = 0
        self._rejected: dict[str, int] = {}

    def reject(self, why: str) -> None:
        """Count a rejected state."""
        rejected = self._rejected
        counted = why if why in rejected or len(rejected) < MOST_REASONS else 'others'
        rejected[counted] = rejected.get(counted, 0) + 1

    def rejected_reasons(self) -> dict[str, int]:
        """Return how many states were rejected by reason."""
        return self._rejected.copy()  # one step of the interpreter: no other thread comes between

    def reset(self) -> None:
        """Reset the rejections."""
        self._rejected = {}


class TorquePipeline:
    """Computes and publishes one torque for each joint state; no exception leaves it.

    ``silence`` is the reason why the last state got no torque, '' if it got one; ``result`` is what the law said of it,
    None where it was not asked. ``halted``, where it is not '', is the reason why nothing is computed until ``begin``.
    """

    def __init__(
        self,
        clock: PipelineClock,
        state: StateInput,
        gate: StateGate,
        law: Law,
        fade_in: FadeIn,
        limiter: TorqueLimiter,
        fallback: GravityFallback | RampToZero | None,
        output: Output,
        awaited: Awaited,
        error: PositionError,
        look_at_clock: Callable[[], object],
        crashed: Callable[[Exception], object],
        refuse: Callable[[str], object],
    ):
        """Connect the parts.

        No torque is published while ``awaited.missing`` is not ''. ``error`` compares positions with where the law
        holds or leads the arm. ``look_at_clock()`` makes the ramps of payload and gravity follow a clock that was set
        back. ``crashed(error)`` handles an exception, ``refuse(reason)`` logs that a state was rejected.
        """
        self._clock, self._state, self._gate, self.law = clock, state, gate, law
        self._fade_in, self.limiter, self.fallback = fade_in, limiter, fallback
        self._publish, self._publish_command = output.publish, output.publish_command
        self._awaited, self._look_at_clock, self._add_error = awaited, look_at_clock, error.add
        self._crashed, self._refuse = crashed, refuse
        self._torque, state.sent = np.zeros(len(limiter.last)), limiter.last
        self.counts = Counts()
        self.sources = StateSources(state, self.counts.reject, refuse)
        self.silence, self.halted = NO_INPUT, ''
        self.result: Result | None = None
        self._seen: float | None = None  # steady time of the last state since activation, s
        self._own: float | None = None  # likewise of the last with the joints of the arm
        self._sent: float | None = None  # when the last torque was sent, on the clock of the arm, s
        self._answered: float | None = None  # likewise for a state
        self._stamp = 0  # of the last state that got a torque, ns
        self._sends = self._continues = False  # a torque was sent since activation; or by the pipeline before
        self._falls_back = False  # the last torque was one of the fallback

    def begin(self, goes_on: bool = False) -> None:
        """Reset, as at activation: drop the desired motion, the hold position and what earlier states have set.

        The last torque is kept for the rate limit. Where torques of another description go on, the rest is kept, too.
        """
        if not goes_on:
            self._gate.reset()
            self._state.begin()
            self.law.stop_following()
            if self.fallback:
                self.fallback.reset()
        self._clock.look()
        self.silence, self.halted = NO_INPUT, ''
        self._seen = self._own = None
        self.sources.clear()
        self._sends, self._continues, self._falls_back = self._continues, False, False
        self._answered = None

    def continue_from(self, before: 'TorquePipeline') -> None:
        """Count the last torque of ``before``, for the same joints, as the own: for rate limit, fade-in, fallback."""
        self.limiter.last[:], self._sent, self._continues = before.limiter.last, before._sent, before._sends
        self._stamp = before._stamp

    def on_state(self, data: bytes, info: dict | None = None) -> None:
        """Process one state, in the order of the safety rules; ``info`` says who published it.

        While states of the arm come, those without its joints are skipped, but for positions of measured joints.
        """
        before = self._seen, self.result, self._falls_back
        self._seen, self.result = time.monotonic(), None
        self.counts.received += 1
        if self.halted:
            return
        try:
            self.silence = self._answer(data, info, before)
        except Exception as error:  # no exception leaves a callback
            self._crashed(error)

    def on_pause(self) -> None:
        """Publish the torque of the fallback where usable states are overdue on the clock of the arm.

        Where simulated time stands still nothing is overdue, and where it goes back no time passes.
        """
        if self.halted:
            return
        try:
            self.silence = self._fall_back(self.silence)
        except Exception as error:  # no exception leaves a callback
            self._crashed(error)

    def finish(self, ramp_time: float) -> str:
        """Reduce the command to zero over ``ramp_time`` s (0: at once), within the rate limit, as at deactivation.

        Nothing is sent where no torque was sent since activation. Returns why the command did not reach zero, '' if it
        did.
        """
        if not self._sends:
            return ''
        try:
            ramp, still = TorqueRamp(self.limiter.last, ramp_time if self.limiter.last.any() else 0.0), 0
            while True:
                steady, passing = time.monotonic(), self._sent
                ramp.write(steady, self._torque)
                self._send(self._publish_command, self._clock.passing(steady, self._clock.now()), fades_in=False)
                if ramp.over and not self._torque.any():
                    return ''
                # only after the ramp itself is the clock of the arm waited for
                still = 0 if not ramp.over or self._sent > passing else still + 1
                if still > MAX_STALLED_COMMANDS:
                    return 'ramp to zero at deactivation given up: the clock of the arm stands still'
                time.sleep(STEP)
        except Exception as error:  # no exception leaves a callback
            return f'ramp to zero at deactivation stopped: {error!r}'

    def status(self) -> str:
        """Return why no torque is published, '' where one was within the age limit or 1 s, whichever is longer."""
        age, allowed = self.age, max(self._gate.limit, 1.0)
        if self.halted or age is None or age <= allowed or self._falls_back:
            return self.halted or self.silence
        return f'no joint state for {age:.1f} s'

    @property
    def fades_in(self) -> bool:
        """Whether the last torque was one of a fade-in that goes on."""
        return self._sends and self._fade_in.runs

    @property
    def age(self) -> float | None:
        """Time since the last joint state, s; None where none has come since activation."""
        seen = self._seen
        return None if seen is None else time.monotonic() - seen

    def _answer(self, data: bytes, info: dict | None, before: tuple[float | None, Result | None, bool]) -> str:
        """Answer a state; return why there is no torque. One of other joints alone leaves what was ``before``."""
        steady, now = self._seen, self._clock.now()
        try:
            if self._gate.set_back(now):
                self._look_at_clock()
                self._state.clock_set_back()
                self.law.set_back(now)
            silence = self._awaited.missing or self._torque_of(data, steady, now)
            if self._own == steady:
                self.sources.add(info)
            return silence
        except DynamicsError as error:
            own = self._own
            if isinstance(error, OtherJointsError):
                reports = self.sources.report(data, info, now)
                if own is None and reports:
                    return OTHERS_ALONE
                if own is not None and (reports or steady - own <= OWN_STATE_TIMEOUT_S):
                    self._seen, self.result, self._falls_back = before
                    return self.silence
            silence = self._reject(str(error))
            self._refuse(silence)
            return silence

    def _torque_of(self, data: bytes, steady: float, now: int) -> str:
        """Publish the torque for a state; return why there is none."""
        state, gate = self._state, self._gate
        self._falls_back = False
        stamp = state.read(data)
        self._awaited.in_use = True
        passing = self._clock.passing(steady, now)
        self._own, state.time, state.passing = steady, now, passing
        verdict = gate.check(stamp, now)
        if verdict is not ACCEPTED:
            return self._reject(verdict.value)
        state.follow(self._clock.arrival(steady))
        state.resumed, state.pause, state.period = gate.resumes(stamp), gate.pause(stamp), gate.period
        state.elapsed = gate.elapsed(stamp)
        state.check_velocity()
        self.result = result = self.law.torque(state, self._torque)
        if result is not TORQUE:
            return self._unanswered(result)
        gate.used = self._stamp = stamp
        self._fade_in.begin(passing, self._answered, self._sent, self.limiter.last, max(gate.limit, INTERRUPTION))
        if not self._send(self._publish, passing, answered=stamp):
            return self._fall_back(NOT_FINITE)
        self._answered = passing
        self.counts.published += 1
        if (reference := self.law.reference) is not None:
            self._add_error(reference, state.q)
        if self.fallback:
            self.fallback.timeout.restart(passing)
            self.fallback.record(state.q, self._torque)
        return ''

    def _unanswered(self, result: Result) -> str:
        """Let the fallback act where an input is missing, reset it where no torque is needed; return the reason."""
        if result.outcome is Outcome.INCOMPLETE:
            if self.fallback:
                self.fallback.see(self._state.q)
            return self._fall_back(result.reason)
        self._gate.used = self._state.stamp
        if self.fallback:
            self.fallback.reset()
        return result.reason

    def _send(self, publish, passing: float, fades_in: bool = True, answered: int = 0) -> bool:
        """Limit the torque and ``publish`` it with the stamp of the last state; return False where it is not finite.

        ``passing`` is the time of the clock of the arm, s; ``fades_in``: it is no ramp to zero, so that a fade-in is
        applied before. ``answered`` is the stamp (ns) of the state that it answers, 0 for none.
        """
        longest = self._gate.limit if fades_in else min(self._gate.limit, LONGEST)
        elapsed = 0.0 if self._sent is None else min(max(passing - self._sent, 0.0), longest)
        if fades_in:
            self._fade_in.apply(self._torque, elapsed)
        if not self.limiter.apply(self._torque, elapsed):
            return False
        publish(self._stamp, self._torque, answered)
        self._sent, self._sends = passing, True
        return True

    def _reject(self, why: str) -> str:
        """Count a rejected state and return the reason why it gets no torque."""
        self.counts.reject(why)
        return self._fall_back(f'joint state rejected: {why}')

    def _fall_back(self, reason: str) -> str:
        """Publish the torque of the fallback where usable states are overdue; return why, else the ``reason`` alone."""
        if self.fallback is None or not self.fallback.armed:
            return reason
        steady, now = time.monotonic(), self._clock.now()
        passing = self._clock.passing(steady, now)
        if not self.fallback.timeout.is_over(passing, self._gate.limit):
            return reason
        self._falls_back = True
        try:
            self._look_at_clock()
            fallback = self.fallback
            self._torque[:] = self.limiter.last  # a law may have written another one
            sends = fallback.torque(now, fallback.timeout.missing, self._torque)
            if not (sends and self._send(self._publish, passing, fallback.fades_in)):
                fallback.reset()
            if not fallback.fades_in:
                self._fade_in.restart(self.limiter.last)
            said = fallback.reason
            return reason if reason.startswith(said) else '; '.join(filter(None, (said, reason)))
        except DynamicsError as error:
            self.fallback.reset()
            return f'{self.fallback.reason}: {error}'
