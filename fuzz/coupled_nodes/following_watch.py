"""What feedforward_node and torque_controller may publish: along a trajectory that was sent, or holding the arm.

Where the documentation leaves open which trajectory is followed, or where the arm is held, all that may be remain.
"""

from functools import partial

from support import graph

import numpy as np
from load import SECOND
from node_settings import ADAPTIVE, BANDWIDTH, DAMPING, OF_ROBOT, STIFFNESS
from torque_watch import SHORTEST, Option, State, TorqueWatch

from coupled_nodes.motion import Motion

INTERRUPTION = 1.0
"""Time without a torque that ends a motion, s."""
DOUBT = 0.05
"""s before and after this time in which it may end or not."""
SOON = SECOND // 20
"""Time before its start in which a trajectory that waits is not replaced, ns."""
ROUNDING = 1e-6
SPREAD = 1.0
"""Time for which payload or gravity of two nodes may differ, s."""
ADAPTED = 0.05
"""By how much an adaptation that hardly moves changes a torque, relative to its largest part."""
WEIGHTLESS = np.zeros(3)


class Plan:
    """A trajectory that may be followed, along its ``paths``; ``sure``: it is followed, once it is due."""

    def __init__(self, message, names, sent: int):
        self.start, self.motion = graph.nanoseconds(message.header.stamp) or sent, Motion.of(message, names)
        self.end = self.start + round(self.motion.times[-1] * SECOND)
        self.paths: list[Motion] = []  # with the way from where the arm was when it began
        self.due: int | None = None  # stamp of the first state at or after the start
        self.sure, self.begun = True, False  # begun: no other path can be added

    def at(self, path: Motion, stamp: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the motion along a path at a stamp."""
        return path.at((stamp - self.start) / SECOND)


class FollowingWatch(TorqueWatch):
    """A node that follows trajectories; it begins ``within`` so many s after the start of one, with 0 immediately."""

    within = 0.0

    def reset(self) -> None:
        self.plans: list[Plan] = []  # in the order of reception
        super().reset()

    def forget_motion(self, certain: bool) -> None:
        """Drop the trajectories of a clock that was set back, if the node must have noticed."""
        self.plans = [] if certain else self.plans
        for plan in self.plans:
            plan.sure = False

    def trajectory(self, message, late: int = 0) -> None:
        """Record a valid trajectory that was sent ``late`` ns ago: it replaces the others at its start."""
        now, sent = self.nodes.now, self.nodes.now - late
        if not message.points:
            self.plans = []
            return
        plan = Plan(message, self.arm.names, sent)
        if min([now, *list(self.stamps)[-1:]]) > plan.end:
            return
        waiting = [each for each in self.plans if each.due is None]
        for each in waiting:
            if each.start > now + SOON:
                self.plans.remove(each)
            elif len(waiting) > 1 or each.start > sent + SOON:
                each.sure = False
        plan.sure = now <= plan.end
        self.plans.append(plan)

    def motion(self, stamp: int) -> tuple | None:
        """Return a motion that may be followed at a stamp, None where there is none."""
        for plan in reversed(self.plans):
            if plan.paths and stamp >= plan.start:
                return plan.at(plan.paths[-1], stamp)
        return None

    def pause(self, stamp: int) -> tuple[float, bool, bool]:
        """Return the time since the last state that was used, s, and whether it may be, and is, a pause."""
        time, gaps = np.inf if self.used is None else (stamp - self.used) / SECOND, np.diff(self.stamps)[:-1] / SECOND
        periods = max(3.3 * max(gaps), 1.1 * SHORTEST) if len(gaps) > 5 else np.inf
        return (
            time,
            time > 0.98 * SHORTEST,
            time > min(self.settings.age_limit or np.inf, periods, INTERRUPTION + DOUBT),
        )

    def beyond(self, position, q, reach=0.0) -> float:
        """Return by how much a joint at q is further from a position than ``start_tolerance`` and ``reach`` allow."""
        away = np.abs(self.arm.distance(position, q))
        return float((away - np.maximum(reach, self.settings.start_tolerance or np.inf)).max())

    def followed(self, state: State) -> list[Plan]:
        """Return the trajectories that may be followed at a usable state."""
        for plan in [each for each in self.plans if each.start <= state.stamp]:
            plan.due = state.stamp if plan.due is None else plan.due
            if plan.begun:
                self._go_on(plan, state)
            else:
                self._begin(plan, state)
        begun = [k for k, plan in enumerate(self.plans) if plan.begun]
        self.plans = self.plans[begun[-1] if begun else 0 :]
        return [plan for plan in self.plans if plan.paths]

    def _begin(self, plan: Plan, state: State) -> None:
        """Begin a trajectory at this state, or at a later one, where the arm is close enough."""
        t, path, reach = (state.stamp - plan.start) / SECOND, plan.motion, 0.0
        lacks = path.times[0] - t
        if lacks > 0.0:
            to, reach = path.rows[0][0], self.arm.velocity * lacks
            qd = np.full(self.arm.n, np.nan) if state.qd is None else state.qd
            path = path.after(t, to - self.arm.distance(to, state.q), qd)
        beyond = self.beyond(to if lacks > 0.0 else path.at(t)[0], state.q, reach)
        # it may have been due at a state without velocities, and ended since
        lately = min(self.pause(state.stamp)[0], (state.stamp - plan.start) / SECOND) < INTERRUPTION - DOUBT
        plan.sure = plan.sure and lately and beyond < -ROUNDING
        if beyond <= ROUNDING and path not in plan.paths:
            plan.paths.append(path)
        plan.begun = state.stamp - plan.due >= self.within * SECOND

    def _go_on(self, plan: Plan, state: State) -> None:
        """Drop what ends in a pause of the states."""
        time, perhaps, certain = self.pause(state.stamp)
        ended = min(time, (state.stamp - plan.due) / SECOND) - INTERRUPTION
        near = [path for path in plan.paths if self.beyond(plan.at(path, state.stamp)[0], state.q) <= ROUNDING]
        if ended > -DOUBT or (perhaps and len(near) < len(plan.paths)):
            plan.sure = False
        if ended > DOUBT or certain:
            plan.paths = [] if ended > DOUBT else near

    def matched(self, found: list[Option], state: State) -> None:
        """Keep the paths that a torque fits, unless it may also hold the arm; older ones are not followed again."""
        paths = [option.of[1] for option in found if isinstance(option.of, tuple)]
        if not paths or len(paths) < len(found):
            return
        self.plans = self.plans[min(k for k, plan in enumerate(self.plans) if set(plan.paths) & set(paths)) :]
        for plan in self.plans:
            if plan.begun and set(plan.paths) & set(paths):
                plan.paths = [path for path in plan.paths if path in paths]


class FeedforwardWatch(FollowingWatch):
    """feedforward_node: chosen terms along a trajectory; where there is none, nothing."""

    always_needed = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.needs_velocity = self.settings.evaluate_at == 'measured'
        self.follows: set[int] = set()  # starts of the trajectories that the last torque may follow

    def law(self, state: State) -> tuple[list[Option], bool]:
        """Return the sums of terms along all trajectories that may be followed."""
        found, options = self.followed(state), []
        for plan in found:
            for path in plan.paths:
                q, qd, qdd = plan.at(path, state.stamp)
                q, qd = (state.q, state.qd) if self.needs_velocity else (q, qd)
                terms = partial(self._terms, q, qd, qdd)
                options.append(self.loaded('state', state.stamp, terms, (plan.start, path)))
        return options, bool(found) and found[-1].sure

    def matched(self, found: list[Option], state: State) -> None:
        """Record what the torque follows."""
        super().matched(found, state)
        self.follows = {option.of[0] for option in found if option.of}

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
    """torque_controller; ``producer`` watches the node that publishes feedforward_torque."""

    needs_velocity = True

    def __init__(self, name, nodes, found, producer: FeedforwardWatch):
        super().__init__(name, nodes, found)
        self._producer = producer
        self._with_feedforward = self.settings.control_law == 'pd_feedforward'
        self.within = self.settings.feedforward_age_limit + 2e-9 if self._with_feedforward else 0.0
        self._slack = ADAPTED if self.settings.control_law == ADAPTIVE else 0.0

    def configure(self) -> None:
        """Reset since when payload and gravity of this node and of the producer are equal, or differ, too."""
        self._equal, self._since = True, self.nodes.steady
        super().configure()

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
        for start in self._producer.follows:
            before = self._torques.get(start, ())
            self._torques[start] = [*(each for each in before if each[0] == stamp), (stamp, effort)]

    def look_at_loads(self) -> None:
        """Record since when producer and controller have the same payload and gravity, or others."""
        if self.configured:
            equal = not self._producer.configured or self.load.end == self._producer.load.end
            self._equal, self._since = equal, self._since if equal is self._equal else self.nodes.steady

    def law(self, state: State) -> tuple[list[Option], bool]:
        """Return the torques along all trajectories that may be followed, and those that hold the arm."""
        found = self.followed(state)
        holds, must_follow, may_lack, options = self._held_at(state), False, False, []
        for plan in found:
            if self._with_feedforward and state.stamp > plan.end + 1:
                holds = [*holds, *(path.rows[0][-1] for path in plan.paths)]
                continue
            added, surely = self._added(plan.start, state.stamp)
            may_lack = may_lack or not surely
            must_follow = plan is found[-1] and plan.sure and surely and len(self.plans) == 1
            for path in plan.paths:
                for torque in added:
                    along = partial(self._along, state, *plan.at(path, state.stamp), torque)
                    options.append(self.loaded('follow', state.stamp, along, (plan.start, path), self._slack))
        for position in () if must_follow else holds:
            holding = partial(self._hold, state, position)
            options.append(self.loaded('hold', state.stamp, holding, position, self._slack))
        return options, not may_lack

    def _held_at(self, state: State) -> list[np.ndarray]:
        """Return the positions at which the arm may be held; it is measured again only after a pause."""
        time, perhaps, certain = self.pause(state.stamp)
        near = [position for position in self._holds if self.beyond(position, state.q) < ROUNDING]
        if time > INTERRUPTION - DOUBT or (perhaps and len(near) < len(self._holds)):
            self._measures = True
        if certain:
            self._holds = [] if time > INTERRUPTION + DOUBT else near
        return [*self._holds, state.q] if self._measures or not self._holds else self._holds

    def matched(self, found: list[Option], state: State) -> None:
        """Keep the hold positions that a torque fits; after another torque the arm is measured again."""
        super().matched(found, state)
        self._holds = [option.of for option in found if option.kind == 'hold'][:8]
        self._measures = any(option.kind != 'hold' for option in found) or not self._holds

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
        producer, since = self._producer.settings, self.nodes.steady - self._since
        twice = set(producer.terms) & set(OF_ROBOT[self.settings.preset])
        lacking = 'gravity' in self.settings.terms and 'gravity' not in producer.terms
        if twice or lacking or producer.gravity_owner != self.settings.gravity_owner:
            return False
        return True if self._equal else False if since > SPREAD + DOUBT else None

    def _along(self, state: State, q, qd, qdd, added, load) -> np.ndarray:
        """Return the torque of the control law along a motion."""
        law, arm, error = self.settings.control_law, self.arm, self.arm.distance(q, state.q)
        load = load if 'gravity' in self.settings.terms else (load[0], WEIGHTLESS)
        friction = arm.friction(qd) if 'friction' in self.settings.terms else 0.0
        if law == 'computed_torque':
            wanted = qdd + BANDWIDTH**2 * error + 2.0 * BANDWIDTH * (qd - state.qd)
            return arm.inverse_dynamics(state.q, state.qd, wanted, load) + friction
        torque = self._feedback(state, q, qd) + added
        if law == ADAPTIVE:
            rate = STIFFNESS / DAMPING
            qd_r, qdd_r = qd + rate * error, qdd + rate * (qd - state.qd)
            return torque + arm.passive_dynamics(state.q, state.qd, qd_r, qdd_r, load) + friction
        return torque + (arm.gravity_torque(state.q, load) if law == 'pd_gravity' else 0.0)

    def _hold(self, state: State, position, load) -> np.ndarray:
        """Return the torque that holds the arm; law adaptive is the law itself with a motion at rest."""
        still = np.zeros(self.arm.n)
        if self.settings.control_law == ADAPTIVE:
            return self._along(state, position, still, still, 0.0, load)
        torque = self._feedback(state, position, still)
        return torque + (self.arm.gravity_torque(state.q, load) if 'gravity' in self.settings.terms else 0.0)

    def _feedback(self, state: State, q, qd) -> np.ndarray:
        return STIFFNESS * self.arm.distance(q, state.q) + DAMPING * (qd - state.qd)
