"""What feedforward_node and torque_controller may publish: along a trajectory that may be followed, or holding."""

from functools import partial
from typing import NamedTuple

import numpy as np
from admissible import DOUBT, Option, Pause, State
from load import SECOND
from node_settings import BANDWIDTH, DAMPING, OF_ROBOT, STIFFNESS
from torque_watch import TorqueWatch

from coupled_nodes.trajectories import Candidates, Motion

SPREAD = 1.0
"""Time for which payload or gravity of two nodes may differ, s."""
WEIGHTLESS = ((1.0, (0.0, 0.0, 0.0)),)


class Along(NamedTuple):
    """The path of a trajectory that a torque follows."""

    start: int
    path: Motion


class FollowingWatch(TorqueWatch):
    """A node that follows trajectories; it begins ``within`` so many s after the start of one."""

    within = 0.0

    def reset(self) -> None:
        self.trajectories = Candidates(self.arm, self.settings.start_tolerance, self.within)
        super().reset()

    def forget_motion(self, certain: bool) -> None:
        """Drop the trajectories of a clock that was set back, if the node must have noticed."""
        if certain:
            self.trajectories.all = []
        for one in self.trajectories.all:
            one.sure = False

    def trajectory(self, message, sent: int, now: int, good: bool) -> None:
        """Record a trajectory."""
        if self.active and good:
            self.trajectories.receive(message, sent, now)

    def motion(self, stamp: int) -> tuple | None:
        """Return a motion that may be followed at a stamp, None where there is none."""
        for one in reversed(self.trajectories.all):
            if one.paths and one.seconds(stamp) >= one.paths[-1].times[0]:
                return one.paths[-1].at(one.seconds(stamp))
        return None

    def matched(self, found: list[Option], state: State) -> None:
        """Keep the trajectories that a torque fits, unless it may also hold the arm."""
        along = [option.of.path for option in found if isinstance(option.of, Along)]
        if along and len(along) == len(found):
            self.trajectories.matched(along)


class FeedforwardWatch(FollowingWatch):
    """feedforward_node: chosen terms along a trajectory; where there is none, nothing."""

    always_needed = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.needs_velocity = self.settings.evaluate_at == 'measured'
        self.follows: list[Along] = []  # what the last torque may follow

    def law(self, state: State, pause: Pause) -> tuple[list[Option], bool]:
        """Return the sums of terms along all trajectories that may be followed."""
        unknown = np.full(self.arm.n, np.nan)
        found = self.trajectories.state(state.stamp, state.q, unknown if state.qd is None else state.qd, pause)
        options = []
        for one in found:
            for path in one.paths:
                q, qd, qdd = path.at(one.seconds(state.stamp))
                q, qd = (state.q, state.qd) if self.needs_velocity else (q, qd)
                terms = partial(self._terms, q, qd, qdd)
                options.append(self.between('state', state.stamp, terms, Along(one.start, path)))
        return options, bool(found) and found[-1].sure

    def matched(self, found: list[Option], state: State) -> None:
        """Record what the torque follows."""
        super().matched(found, state)
        self.follows = [option.of for option in found if isinstance(option.of, Along)]

    def _terms(self, q, qd, qdd, load) -> np.ndarray:
        """Return the sum of the terms that the node adds, each once."""
        still, weightless, arm = np.zeros(self.arm.n), (load[0], WEIGHTLESS), self.arm
        terms = {
            'gravity': lambda: arm.gravity_torque(q, load),
            'inertia': lambda: arm.inverse_dynamics(q, still, qdd, weightless),
            'coriolis': lambda: arm.inverse_dynamics(q, qd, still, weightless),
            'friction': lambda: arm.friction(qd),
        }
        return sum(terms[term]() for term in self.settings.terms)


class ControllerWatch(FollowingWatch):
    """torque_controller; ``producer`` watches the node that publishes feedforward_torque, ``room``: latency, s."""

    needs_velocity = True

    def __init__(self, name, settings, found, producer: FeedforwardWatch, room: float):
        super().__init__(name, settings, found)
        self._producer, self._room = producer, room
        self._with_feedforward = self.settings.control_law == 'pd_feedforward'
        self.within = self.settings.feedforward_age_limit + 2e-9 if self._with_feedforward else 0.0

    def configure(self, steady: float) -> None:
        """Reset the agreement with the producer, too: since when payload or gravity are equal, or differ."""
        self._steady, self._equal_since, self._differ_since = steady, steady, None
        super().configure(steady)

    def reset(self) -> None:
        super().reset()
        self.forget_motion(certain=True)

    def forget_motion(self, certain: bool) -> None:
        """Forget the hold position and feedforward torques, too."""
        super().forget_motion(certain)
        if certain:
            self._holds: list[np.ndarray] = []  # where the arm may be held
            self._torques: dict[int, list] = {}  # stamp and torque, by the start of the trajectory that they may follow
        self._measures = True  # whether holding may begin at the next state

    def feedforward(self, stamp: int, effort: np.ndarray | None) -> None:
        """Record a feedforward torque; one that is not finite removes those before."""
        if effort is None:
            self._torques.clear()
            return
        for along in self._producer.follows:
            before = self._torques.get(along.start, ())
            self._torques[along.start] = [*(each for each in before if each[0] == stamp), (stamp, effort)]

    def look_at_loads(self, steady: float) -> None:
        """Record since when producer and controller differ in payload or gravity."""
        if not self.configured:
            return
        mine = self.load.end
        theirs = self._producer.load.end if self._producer.configured else mine
        equal = mine == theirs and all(len(values) == 1 for values in mine)
        differ = not all(one & other for one, other in zip(mine, theirs, strict=True))
        self._steady = steady
        self._equal_since = (self._equal_since or steady) if equal else None
        self._differ_since = (self._differ_since or steady) if differ else None

    def law(self, state: State, pause: Pause) -> tuple[list[Option], bool]:
        """Return the torques along all trajectories that may be followed, and those that hold the arm."""
        found = self.trajectories.state(state.stamp, state.q, state.qd, pause)
        holds, must_follow, may_lack, options = self._held(state, pause), False, False, []
        for one in found:
            t = one.seconds(state.stamp)
            if self._with_feedforward and t > one.duration + 1e-9:
                holds = [*holds, *(path.rows[0][-1] for path in one.paths)]
                continue
            added, surely = self._added(one.start, state.stamp)
            may_lack = may_lack or not surely
            must_follow = one is found[-1] and one.sure and surely and len(self.trajectories.all) == 1
            for path in one.paths:
                for torque in added:
                    along = partial(self._along, state, *path.at(t), torque)
                    options.append(self.between('follow', state.stamp, along, Along(one.start, path)))
        for position in () if must_follow else holds:
            options.append(self.between('hold', state.stamp, partial(self._hold, state, position), position))
        return options, not may_lack

    def _held(self, state: State, pause: Pause) -> list[np.ndarray]:
        """Return the positions at which the arm may be held; it is measured again only after a pause."""
        if pause.ends and pause.certain:
            self._holds, self._measures = [], True
        tolerance = self.settings.start_tolerance or np.inf
        beyond = [np.abs(self.arm.distance(position, state.q)).max() - tolerance for position in self._holds]
        if pause.may_end or (pause.possible and any(away > -1e-6 for away in beyond)):
            self._measures = True
        if pause.certain:
            self._holds = [position for position, away in zip(self._holds, beyond, strict=True) if away < 1e-6]
        return [*self._holds, state.q] if self._measures or not self._holds else self._holds

    def matched(self, found: list[Option], state: State) -> None:
        """Keep the hold positions that a torque fits; after another torque the arm is measured again."""
        super().matched(found, state)
        self._holds = [option.of for option in found if option.kind == 'hold'][:8]
        self._measures = not self._holds or any(option.kind == 'follow' for option in found)

    def unanswered(self, state: State) -> None:
        """After a state without a torque the arm is held where it is."""
        super().unanswered(state)
        self._measures = True

    def _added(self, start: int, stamp: int) -> tuple[list, bool]:
        """Return the torques that may be added along a trajectory, and whether one is for certain."""
        if not self._with_feedforward:
            return [0.0], True
        limit, fits = self.settings.feedforward_age_limit * SECOND, self._fits()
        found = [effort for of, effort in self._torques.get(start, ()) if abs(stamp - of) <= limit]
        return (found if fits is not False else []), bool(fits and found)

    def _fits(self) -> bool | None:
        """Return whether the producer's torque may be added; None: both are correct."""
        producer = self._producer.settings
        twice = set(producer.terms) & set(OF_ROBOT[self.settings.preset])
        lacking = 'gravity' in self.settings.terms and 'gravity' not in producer.terms
        if twice or lacking or producer.gravity_owner != self.settings.gravity_owner:
            return False
        if self._differ_since is not None and self._steady - self._differ_since > SPREAD + self._room + DOUBT:
            return False
        return True if self._equal_since is not None and self._steady - self._equal_since >= self._room else None

    def _along(self, state: State, q, qd, qdd, added, load) -> np.ndarray:
        """Return the torque of the control law along a motion."""
        law, terms = self.settings.control_law, self.settings.terms
        if law == 'computed_torque':
            error, rate = self.arm.distance(q, state.q), qd - state.qd
            wanted = qdd + BANDWIDTH**2 * error + 2.0 * BANDWIDTH * rate
            load = load if 'gravity' in terms else (load[0], WEIGHTLESS)
            torque = self.arm.inverse_dynamics(state.q, state.qd, wanted, load)
            return torque + (self.arm.friction(qd) if 'friction' in terms else 0.0)
        torque = self._feedback(state, q, qd) + added
        return torque + (self.arm.gravity_torque(state.q, load) if law == 'pd_gravity' else 0.0)

    def _hold(self, state: State, position, load) -> np.ndarray:
        """Return the torque that holds the arm, whatever the control law is."""
        torque = self._feedback(state, position, np.zeros(self.arm.n))
        return torque + (self.arm.gravity_torque(state.q, load) if 'gravity' in self.settings.terms else 0.0)

    def _feedback(self, state: State, q, qd) -> np.ndarray:
        return STIFFNESS * self.arm.distance(q, state.q) + DAMPING * (qd - state.qd)
