"""Reference models of the nodes that follow a trajectory: feedforward_node and torque_controller."""

import numpy as np

from coupled_nodes.load import SECOND
from coupled_nodes.model import State, TorqueModel
from coupled_nodes.motion import Follower
from coupled_nodes.settings import BANDWIDTH, DAMPING, OF_ROBOT, STIFFNESS

INTERRUPTION = 1.0
"""A motion ends, and so does a hold, after this time without a torque, s (R2)."""
SPREAD = 1.0
"""Time for which payload or gravity of two nodes may differ after they were equal, s (R13)."""


class FollowingModel(TorqueModel):
    """Common part of both models."""

    def configure(self, steady: float) -> None:
        """Reset the model."""
        self.follower = Follower(self.arm, self.settings.start_tolerance)
        super().configure(steady)

    def activate(self) -> None:
        """Drop the trajectory on activation (R1)."""
        super().activate()
        self.follower.drop()
        self.follower.newest_state = None

    def set_back(self, now: int) -> None:
        """Drop the trajectory when the clock is set back (R3)."""
        super().set_back(now)
        self.follower.drop()

    def trajectory(self, message, received: int, now: int, good: bool) -> None:
        """Process at ``now`` a trajectory that was received earlier; an invalid one is rejected."""
        if self.active and good:
            sent = now if self.graph.simulated_time else received  # a simulated clock has no time of the source
            self.follower.receive(message, received, sent, now)

    def interrupted(self, state: State) -> bool:
        """Return whether the time since the last torque is an interruption at this state (R2)."""
        return self.clock.usable is None or state.stamp - self.clock.usable > INTERRUPTION * SECOND

    def why_of(self, status: str) -> str:
        """Return the rule of what follows now: the newest special case decides."""
        if status in (Follower.FOLLOWS, Follower.DROPPED):
            self.why = self.follower.why
        elif self.why == 'TRAJECTORY':
            self.why = 'R12'
        return self.why


class FeedforwardModel(FollowingModel):
    """feedforward_node with source joint_trajectory."""

    def __init__(self, *arguments):
        """Model the node."""
        super().__init__(*arguments)
        self.measured = self.settings.evaluate_at == 'measured'
        self.needs_velocity = self.measured

    def law(self, state: State, silence: bool):
        """Return the chosen terms along the trajectory."""
        unknown = np.full(self.arm.n, np.nan)
        qd = unknown if state.qd is None else state.qd
        status, motion = self.follower.step(state.stamp, state.q, qd, silence, self.interrupted(state))
        rule = self.why_of(status)
        if status != Follower.FOLLOWS:
            return rule, None, True, True
        q, qd, qdd = motion
        if self.measured:
            q, qd = state.q, state.qd
        return rule, self.terms(q, qd, qdd, state.stamp), False, True

    def terms(self, q, qd, qdd, stamp: int) -> np.ndarray:
        """Return the sum of the terms that the node adds."""
        terms, still = self.settings.terms, np.zeros(self.arm.n)
        bodies, gravity = self.load.at(stamp)
        weightless = bodies, [(1.0, (0.0, 0.0, 0.0))]
        torque = np.zeros(self.arm.n)
        if 'gravity' in terms:
            torque += self.arm.gravity_torque(q, (bodies, gravity))
        if 'inertia' in terms:
            torque += self.arm.inverse_dynamics(q, still, qdd, weightless)
        if 'coriolis' in terms:
            torque += self.arm.inverse_dynamics(q, qd, still, weightless)
        if 'friction' in terms:
            torque += self.arm.friction(qd)
        return torque


class ControllerModel(FollowingModel):
    """torque_controller. ``producer`` is the model of the node that publishes feedforward_torque."""

    needs_velocity = True

    def __init__(self, *arguments, producer: FeedforwardModel, room: float):
        """Model the node; ``room`` is the largest latency of messages, s."""
        super().__init__(*arguments)
        self.producer, self._room = producer, room
        self.steady = 0.0
        self.several = False  # publishers of feedforward torques send now (R13)

    def configure(self, steady: float) -> None:
        """Reset the agreement with the producer."""
        self._disagreed: float | None = None  # since when
        self._differed: float | None = None  # when last
        self._agreed = False  # before
        super().configure(steady)

    def activate(self) -> None:
        """Reset the hold position on activation (R1)."""
        super().activate()
        self._hold: np.ndarray | None = None
        self._forget_feedforward()

    def set_back(self, now: int) -> None:
        """Reset the hold position when the clock is set back (R3)."""
        super().set_back(now)
        self._hold = None
        self._forget_feedforward()

    def feedforward(self, stamp: int, effort: np.ndarray | None, source: str = '') -> None:
        """Record the newest torque of the newest trajectory and of the one before; an invalid one removes both.

        A second one of the same publisher, ``source``, for the same state is ignored.
        """
        followed = self.producer.follower.followed
        key = followed.key if followed is not None else None
        seen = key, stamp, source
        if self._feedforward and seen == self._seen_last:
            return
        self._seen_last = seen
        if effort is None:
            self._feedforward.clear()
        elif self._feedforward and self._feedforward[0][0] == key:
            self._feedforward[0] = key, stamp, effort
        else:
            self._feedforward[:] = (key, stamp, effort), *self._feedforward[:1]

    def ignores(self, info) -> bool:
        """Return whether torques of another publisher with this TorqueInfo are ignored: gravity is another's (R13)."""
        return info.gravity_owner != self.settings.gravity_owner

    def look_at_loads(self, steady: float) -> None:
        """Record since when producer and controller differ in payload or gravity."""
        self.steady = steady
        if not self.configured:
            return
        if not self.producer.configured or self.load.end == self.producer.load.end:
            self._disagreed = None
            self._agreed = self.producer.configured
        elif self._disagreed is None:
            self._disagreed = steady
        if self._disagreed is not None:
            self._differed = steady

    def law(self, state: State, silence: bool):
        """Return the torque of the control law along the trajectory, or that of holding."""
        self.missing, self._either = '', None
        if silence and self._hold is not None and self._holding_ends(state):
            self._hold = None
        ends = self.interrupted(state)
        status, motion = self.follower.step(state.stamp, state.q, state.qd, silence, ends, self._may_begin)
        rule = self.why_of(status)
        if status != Follower.FOLLOWS:
            self._follows, self._lost, self._waits = False, False, None
            return self._holding(rule, state)
        if self.settings.control_law != 'pd_feedforward':
            self._hold = None
            return rule, self._along(state, *motion), False, True
        followed = self.follower.followed
        if followed.seconds(state.stamp) > followed.motion.times[-1] + 1e-9:
            if self._lost:
                self.follower.drop_followed()
            else:
                self._hold = motion[0].copy()
            self._follows, self._lost, self._waits = False, False, None
            return self._holding(rule, state)
        return self._with_feedforward(rule, state, motion)

    def _holding_ends(self, state: State) -> bool:
        """Return whether the hold position is measured again after a silence (R2)."""
        if self.interrupted(state):
            return True
        tolerance = self.settings.start_tolerance or np.inf
        return bool((np.abs(self.arm.distance(self._hold, state.q)) > tolerance).any())

    def _with_feedforward(self, rule: str, state: State, motion):
        """Return what pd_feedforward does on a trajectory (R12, R13).

        A torque belongs to this trajectory if it follows the same from the same start, and its stamp is close to that
        of the state. Until the first one arrives, the arm is held, at most for the age limit; then the node publishes
        nothing.
        """
        limit = self.settings.feedforward_age_limit * SECOND
        fits = self._fits()
        effort = self._effort(self.follower.followed, state.stamp)
        came = effort is not None
        if came and fits:
            self._hold, self._follows, self._lost, self._waits = None, True, False, None
            torque = self._feedback(state, *motion[:2]) + effort
            return 'R13' if self.several else rule, torque, False, True
        held = None
        if not self._follows:
            self._waits = state.stamp if self._waits is None else self._waits
            if state.stamp - self._waits <= limit:
                _, held, *_ = self._holding(rule, state)
        if came and fits is None:
            self._either, self._hold = (held, self._hold), None
            return 'R13', np.full(self.arm.n, np.nan), False, False
        if held is None:
            self._hold, self._lost = None, True  # without a torque the arm leaves the hold position
        return 'R13' if came else 'R12', held, False, True

    def _effort(self, followed, stamp: int) -> np.ndarray | None:
        """Return the torque along a trajectory for a state, None where there is none."""
        limit = self.settings.feedforward_age_limit * SECOND
        for key, of, effort in self._feedforward:
            if key == followed.key and abs(stamp - of) <= limit:
                return effort
        return None

    def _may_begin(self, followed, stamp: int) -> bool:
        """Return whether a trajectory replaces the one before: with its first torque, or when that is overdue (R12)."""
        if self.settings.control_law != 'pd_feedforward' or not self._follows:
            return True
        if self._fits() and self._effort(followed, stamp) is not None:
            return True
        return stamp - followed.due > self.settings.feedforward_age_limit * SECOND

    def answered(self, state: State, torque, now: int, steady: float) -> None:
        """Determine from the torque whether the node holds or follows, if both are correct."""
        if self._either is not None:
            held, position = self._either
            if held is not None and np.allclose(torque, self._limited(held, held, now, steady)[0], rtol=0, atol=1e-6):
                self._hold = position
            else:
                self._follows, self._lost, self._waits = True, False, None
        super().answered(state, torque, now, steady)

    def unanswered(self) -> None:
        """Reset the hold position; where a torque might have come, it was missing."""
        self._hold = None
        if self._either is not None:
            self._lost = True

    def _holding(self, rule: str, state: State):
        """Return the torque that holds the arm (R12)."""
        self.missing = 'R12' if self.settings.control_law == 'pd_feedforward' else ''
        if self._hold is None:
            self._hold = state.q.copy()
        torque = self._feedback(state, self._hold, np.zeros(self.arm.n))
        if self.settings.control_law in ('pd', 'computed_torque'):
            rule = 'R12'
        return rule, torque + self._gravity(state), False, True

    def _along(self, state: State, q, qd, qdd) -> np.ndarray:
        """Return the torque of the laws without feedforward torque."""
        if self.settings.control_law == 'computed_torque':
            error, rate = self.arm.distance(q, state.q), qd - state.qd
            wanted = qdd + BANDWIDTH**2 * error + 2.0 * BANDWIDTH * rate
            bodies, gravity = self.load.at(state.stamp)
            if 'gravity' not in self.settings.terms:
                gravity = [(1.0, (0.0, 0.0, 0.0))]
            torque = self.arm.inverse_dynamics(state.q, state.qd, wanted, (bodies, gravity))
            return torque + (self.arm.friction(qd) if 'friction' in self.settings.terms else 0.0)
        torque = self._feedback(state, q, qd)
        return torque + (self._gravity(state) if self.settings.control_law == 'pd_gravity' else 0.0)

    def _feedback(self, state: State, q, qd) -> np.ndarray:
        return STIFFNESS * self.arm.distance(q, state.q) + DAMPING * (qd - state.qd)

    def _gravity(self, state: State):
        """Return g(q) where this node adds it."""
        if 'gravity' not in self.settings.terms:
            return 0.0
        return self.arm.gravity_torque(state.q, self.load.at(state.stamp))

    def _fits(self) -> bool | None:
        """Return whether the producer's torque may be added; None: both are correct."""
        producer = self.producer.settings
        twice = set(producer.terms) & set(OF_ROBOT[self.settings.preset])
        lacking = 'gravity' in self.settings.terms and 'gravity' not in producer.terms
        if twice or lacking or producer.gravity_owner != self.settings.gravity_owner:
            return False
        if self._disagreed is None:
            return True if self._differed is None or self.steady - self._differed >= self._room else None
        lasts = self.steady - self._disagreed
        if lasts >= SPREAD + self._room or not (self._agreed or self._room):
            return False
        return True if self._agreed and lasts < SPREAD - self._room else None

    def _forget_feedforward(self) -> None:
        self._seen_last: tuple = ()  # key, stamp and publisher of the newest torque
        self._feedforward: list[tuple] = []  # key of the trajectory, stamp and torque; the newest first, two at most
        self._follows = False  # a trajectory, with such a torque
        self._lost = False  # that torque was missing, and no torque was published
        self._waits: int | None = None  # stamp since which one is waited for
        self._either: tuple | None = None  # torque and position of holding, where following is right, too
