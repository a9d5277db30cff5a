"""What feedforward_node and torque_controller may publish: along the trajectory that they say they follow, or a hold.

A node may follow only what was sent to it, is due and is not replaced, and must where nothing can have ended it. Where
the documentation leaves open where the arm is held, all positions that may be are admissible.
"""

from functools import partial

import numpy as np
from impedance import impedance_torque
from load import SECOND
from node_settings import ADAPTIVE, BANDWIDTH, DAMPING, FEEDFORWARD, OF_ROBOT, STIFFNESS
from torque_watch import SHORTEST, Option, State, TorqueWatch

from coupled_nodes.plan import DOUBT, STREAM, Plan
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import IMPEDANCE

INTERRUPTION = 1.0
"""Time without a torque that ends a motion, s."""
SOON = SECOND // 20
"""Time before its start in which a trajectory that waits is not replaced, ns."""
ROUNDING = 1e-6
SPREAD = 1.0
"""Time for which payload or gravity of two nodes may differ, s."""
ADAPTED = 0.05
"""By how much an adaptation that hardly moves changes a torque, relative to its largest part."""
APART, APART_DOUBT = 0.1, 0.5
"""rad or m by which the motion of a feedforward torque may be off where it begins, twice that later; share of it that
is uncertain."""
WEIGHTLESS = np.zeros(3)


class FollowingWatch(TorqueWatch):
    """A node that follows trajectories; it begins ``within`` so many s after the start of one, with 0 immediately."""

    within, remembers = 0.0, True

    def reset(self) -> None:
        self.plans: list[Plan] = []  # in the order of reception
        super().reset()

    def stop_following(self) -> None:
        self.plans = []

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
        plan, newest = Plan(message, self.arm, sent), self.plans[-1:]
        if min([now, *list(self.stamps)[-1:]]) > plan.latest:
            return
        waiting = [each for each in self.plans if each.due is None]
        for each in waiting:
            if each.early > now + SOON:
                self.plans.remove(each)
            elif len(waiting) > 1 or each.early > sent + SOON:
                each.sure = False
        plan.sure = now <= plan.end
        for before in newest:
            plan.stream_after(before, now)
        self.plans.append(plan)

    def arm_is_held(self) -> None:
        """Know that another node holds the arm: what follows now may begin where the arm is."""
        for plan in self.plans:
            plan.leads_nobody |= plan.begun

    def motion(self, stamp: int) -> np.ndarray | None:
        """Return the motion (3, n) of the followed trajectory that is expected at a stamp; None without one."""
        return next((plan.expected(stamp) for plan in self.plans if plan.begun), None)

    def pause(self, stamp: int) -> tuple[float, bool]:
        """Return the time since the last state that was used, s, and whether it is a pause for certain."""
        time, gaps = np.inf if self.used is None else (stamp - self.used) / SECOND, np.diff(self.stamps)[:-1] / SECOND
        # three periods, which this pause may have made longer by a fifth
        periods = max(3.7 * max(gaps), 1.1 * SHORTEST) if len(gaps) > 5 else np.inf
        return time, time > min(self.settings.age_limit or np.inf, periods, INTERRUPTION + DOUBT)

    def beyond(self, position, q, reach=0.0) -> float:
        """Return by how much a joint at q is further from a position than ``start_tolerance`` and ``reach`` allow."""
        away = np.abs(self.arm.distance(position, q))
        return float((away - np.maximum(reach, self.settings.start_tolerance or np.inf)).max())

    def followed(self, state: State) -> tuple[Plan | None, bool]:
        """Return the trajectory that the node says it follows at a usable state, and whether there must be one.

        None where it follows none, or one that it may not follow, and where it must follow another one.
        """
        due = [plan for plan in self.plans if plan.early <= state.stamp]
        said, may = self.nodes.follows(self.name), set()
        for plan in due:
            plan.due = plan.due or state.stamp
            if self._goes_on(plan, state) if plan.begun else self._begins(plan, state):
                may.add(plan)
        if due and 'does not reach it in time' in self.nodes.dropped(self.name):
            due[-1].sure = False  # as its limits say
        must = bool(due) and due[-1].sure and state.stamp - due[-1].due >= self.within * SECOND
        plan = next((each for each in reversed(due) if each.start == said), None)
        if plan is not None and not plan.begun:
            self._begin(plan, state)
        # a trajectory that is no longer followed is not followed again, and neither are earlier ones
        later = self.plans[self.plans.index(plan) if plan else 0 :]
        self.plans = [each for each in later if each is plan or not each.begun]
        if plan not in may or (must and plan is not due[-1]):
            return None, must
        return (plan if plan.fits(state.stamp, self.nodes.reference(self.name)) else None), must

    def _begin(self, plan: Plan, state: State) -> None:
        """Let a trajectory begin at the reference in force: of the one before, or of no motion."""
        before = next((each for each in self.plans if each.begun), None)
        is_pause = self.pause(state.stamp)[0] > 2.0 * self.nodes.settings.period + 1e-3
        is_free = before is None or is_pause or before.leads_nobody
        starts = self.references(plan, state) if is_free else []
        if before is not None:  # straight lines jump to another velocity at their ends
            starts.append(before.at(state.stamp)[:2])
        plan.begin(state.stamp, starts, before)
        if before is not None and before.start in plan.alike:
            plan.starts += self.assumed(plan, state) if before.begins_stream else []
        elif before is not None and before.stands:
            plan.starts += self.after_rest(plan, state)

    def references(self, plan: Plan, state: State) -> list[np.ndarray]:
        """Return the references (2, n) without a motion: measured states, or where another node may hold the arm."""
        still = np.zeros(self.arm.n)
        found = [still if state.qd is None else state.qd, np.zeros(self.arm.n)]
        return [np.array([state.q, qd]) for qd in found] + self.assumed(plan, state)

    def after_rest(self, plan: Plan, state: State) -> list[np.ndarray]:
        """Return the references (2, n) after a motion that is at rest, besides its own: another node holds the arm."""
        return self.references(plan, state)

    def assumed(self, plan: Plan, state: State) -> list[np.ndarray]:
        """Return where a node that does not hold the arm may assume it on a short way to a trajectory."""
        return [np.array([plan.at(state.stamp)[0], np.full(self.arm.n, np.nan)])]

    def _begins(self, plan: Plan, state: State) -> bool:
        """Return whether the arm is close enough to a trajectory that begins now."""
        lacks = plan.trajectory.start - plan.time(state.stamp)
        expected, reach = plan.at(state.stamp)[0], self.arm.velocity * max(lacks, 0.0)
        beyond = self.beyond(expected, state.q, reach)
        near = any(
            self.beyond(expected, before.expected(state.stamp)[0], reach + STREAM * before.bounds[0]) <= ROUNDING
            for before in self.plans
            if before.begun
        )
        # it may have been due at a state without velocities, and ended since
        lately = min(self.pause(state.stamp)[0], plan.time(state.stamp)) < INTERRUPTION - DOUBT
        plan.sure = plan.sure and lately and beyond < -ROUNDING
        return beyond <= ROUNDING or near

    def _goes_on(self, plan: Plan, state: State) -> bool:
        """Return whether a trajectory may go on at this state, perhaps the first one after a pause."""
        time, certain = self.pause(state.stamp)
        ended = min(time, (state.stamp - plan.due) / SECOND) - INTERRUPTION
        near = self.beyond(self.nodes.reference(self.name)[0], state.q) <= ROUNDING
        plan.sure = plan.sure and ended <= -DOUBT and near
        return ended <= DOUBT and (near or not certain)


class FeedforwardWatch(FollowingWatch):
    """feedforward_node: the chosen terms along the trajectory that it announces, no torque without a trajectory."""

    always_needed = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.needs_velocity = self.settings.evaluate_at == 'measured'

    def law(self, state: State) -> tuple[list[Option], bool]:
        """Return the sum of terms along the trajectory."""
        plan, must = self.followed(state)
        if plan is None:
            return [], must
        q, qd, qdd = self.nodes.reference(self.name)
        at = (state.q, state.qd) if self.needs_velocity else (q, qd)
        return [self.loaded('state', partial(self._terms, *at, qdd, qd))], must

    def _terms(self, q, qd, qdd, qd_desired, load) -> np.ndarray:
        """Return the sum of the terms that the node adds, each once."""
        still, weightless, arm = np.zeros(self.arm.n), (load[0], WEIGHTLESS), self.arm
        terms = {
            'gravity': lambda: arm.gravity_torque(q, load),
            'inertia': lambda: arm.inverse_dynamics(q, still, qdd, weightless),
            'coriolis': lambda: arm.inverse_dynamics(q, qd, still, weightless),
            'friction': lambda: arm.friction(qd_desired),
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

    def reset(self) -> None:
        super().reset()
        self.forget_motion(certain=True)

    def stop_following(self) -> None:
        """Forget the motion and feedforward torques: the arm is held where it was, or where a motion came to rest."""
        begun = [plan for plan in self.plans if plan.begun]
        self._holds += [plan.at(plan.end)[0] for plan in begun if self.used is not None and self.used >= plan.end]
        self._measures = self._measures or bool(begun)
        self._torques = {}
        super().stop_following()

    def forget_motion(self, certain: bool) -> None:
        """Forget the hold position and feedforward torques, too."""
        super().forget_motion(certain)
        if certain:
            self._holds: list[np.ndarray] = []  # where the arm may be held
            # stamp, motion and torque, by the start of the trajectory that they may follow
            self._torques: dict[int, list] = {}
        self._measures = True  # whether holding may begin at the next state

    def feedforward(self, stamp: int, motion: np.ndarray, effort: np.ndarray) -> None:
        """Record a feedforward torque along ``motion`` (2, n); one that is not finite removes those before."""
        start = self.nodes.follows(FEEDFORWARD)
        before = [each for each in self._torques.get(start, ()) if each[0] == stamp]
        self._torques = (
            {**self._torques, start: [*before, (stamp, motion, effort)]} if np.isfinite(effort).all() else {}
        )

    def law(self, state: State) -> tuple[list[Option], bool]:
        """Return the torques along the trajectory that is followed, or those that hold the arm."""
        for each in self.plans:  # it may end where its feedforward torque is missing
            each.sure = each.sure and (each.early > state.stamp or self._added(each, state.stamp)[1])
        held = self._held_at(state)
        plan, must = self.followed(state)
        holds = [] if must and plan is None else held
        options, surely, reference = [], True, self.nodes.reference(self.name)
        is_over = plan is not None and state.stamp > plan.end + 1 and not reference[1:].any() and self._with_feedforward
        if is_over:
            holds = [reference[0]] if plan.sure and plan.joined else [*holds, reference[0]]
            # before it has joined the trajectory a lead may be at rest for a moment
            plan = None if plan.joined else plan
        if plan is not None:
            added, surely = self._added(plan, state.stamp)
            for torque in added:
                options.append(self.loaded('follow', partial(self._along, state, *reference, torque)))
        for position in () if plan and surely and not is_over else holds:
            holding = partial(self._hold, state, position)
            options.append(self.loaded('hold', holding, position))
        return options, surely

    def loaded(self, kind: str, torque, of=None) -> Option:
        """Return the torque with the payload and gravity of now; with law adaptive, a range of torques about it."""
        law = self.settings.control_law
        if law in (ADAPTIVE, IMPEDANCE) and self.load.ramps['payload_state'].share(self.nodes.now) < 1.0:
            return self.any(kind, of)  # not linear in the payload
        if law != ADAPTIVE:
            return super().loaded(kind, torque, of)
        option = super().loaded(kind, torque, of)
        room = ADAPTED * np.abs(option.low).max()
        return option._replace(low=option.low - room, high=option.high + room)

    def _held_at(self, state: State) -> list[np.ndarray]:
        """Return the positions at which the arm may be held; it is measured again only after a pause."""
        time, certain = self.pause(state.stamp)
        near = [position for position in self._holds if self.beyond(position, state.q) < ROUNDING]
        if time > INTERRUPTION - DOUBT or len(near) < len(self._holds):
            self._measures = True
        if certain:
            self._holds = [] if time > INTERRUPTION + DOUBT else near
        return [*self._holds, state.q] if self._measures or not self._holds else self._holds

    def matched(self, found: list[Option], state: State) -> None:
        """Keep the hold positions that a torque fits; after another torque the arm is measured again."""
        self._holds = [option.of for option in found if option.kind == 'hold'][:8]
        self._measures = any(option.kind != 'hold' for option in found) or not self._holds

    def unanswered(self, state: State) -> None:
        """After a state without a torque the arm is held where it is."""
        super().unanswered(state)
        self._measures = True

    def references(self, plan: Plan, state: State) -> list[np.ndarray]:
        """Return the references (2, n) without a motion: where the arm may be held, or the measured state."""
        measured = [state.qd] if self._measures or not self._holds else []
        held = [np.array([position, np.zeros(self.arm.n)]) for position in self._held_at(state)]
        return held + [np.array([state.q, qd]) for qd in measured]

    def after_rest(self, plan: Plan, state: State) -> list[np.ndarray]:
        """Return nothing: the node itself holds the arm."""
        return []

    assumed = after_rest

    def _added(self, plan: Plan, stamp: int) -> tuple[list, bool]:
        """Return the torques that may be added along a trajectory, and whether one is for certain."""
        if not self._with_feedforward:
            return [0.0], True
        limit, fits = self.settings.feedforward_age_limit * SECOND, self._fits()
        torques = [each for start in plan.alike for each in self._torques.get(start, ())]
        near = [each for each in torques if abs(stamp - each[0]) <= limit]
        found = [effort for of, motion, effort in near if self._distance(plan, stamp, of, motion) <= 2.0 + APART_DOUBT]
        # the other node's speed may be that of a lead from elsewhere, which has to be over then
        still = [self._distance(plan, stamp, of, motion * [[1.0], [0.0]]) for of, motion, _ in near]
        plan.apart = plan.apart or max(still, default=0.0) > 1.0 - APART_DOUBT
        return (found if fits is not False else []), bool(fits and found and not plan.apart)

    def _distance(self, plan: Plan, stamp: int, of: int, motion: np.ndarray) -> float:
        """Return how far the motion of a torque is from that of this node, by ``APART``."""
        own, passing = self.nodes.reference(self.name), STREAM * plan.is_point + abs(stamp - of) / SECOND
        room = APART + passing * np.maximum(np.abs(own[1]), np.abs(motion[1]))
        return float((np.abs(self.arm.distance(motion[0], own[0])) / room).max())

    def _fits(self) -> bool | None:
        """Return whether the producer's torque may be added; None: both are correct."""
        producer, since = self._producer.settings, max(self.told, self._producer.told)
        twice = set(producer.terms) & set(OF_ROBOT[self.settings.preset])
        lacking = 'gravity' in self.settings.terms and 'gravity' not in producer.terms
        if twice or lacking or producer.gravity_owner != self.settings.gravity_owner:
            return False
        if self.load.end == self._producer.load.end:
            return True
        return False if self.nodes.steady - since > SPREAD + DOUBT else None

    def _along(self, state: State, q, qd, qdd, added, load) -> np.ndarray:
        """Return the torque of the control law along a motion."""
        law, arm, error = self.settings.control_law, self.arm, self.arm.distance(q, state.q)
        load = load if 'gravity' in self.settings.terms else (load[0], WEIGHTLESS)
        friction = arm.friction(qd) if 'friction' in self.settings.terms else 0.0
        if law == IMPEDANCE:
            term = arm.inverse_dynamics(state.q, state.qd, qdd, load) + friction
            return self._impedance(state, q, qd, load) + term
        if law == 'computed_torque':
            wanted = qdd + BANDWIDTH**2 * error + 2.0 * BANDWIDTH * (qd - state.qd)
            return arm.inverse_dynamics(state.q, state.qd, wanted, load) + friction
        torque = self._feedback(state, q, qd, load) + added
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
        springs = self._impedance if self.settings.control_law == IMPEDANCE else self._feedback
        torque = springs(state, position, still, load)
        return torque + (self.arm.gravity_torque(state.q, load) if 'gravity' in self.settings.terms else 0.0)

    def _impedance(self, state: State, q, qd, load) -> np.ndarray:
        return impedance_torque(self.arm, state.q, state.qd, (q, qd), (STIFFNESS, DAMPING), load[0])

    def _feedback(self, state: State, q, qd, _load) -> np.ndarray:
        return STIFFNESS * self.arm.distance(q, state.q) + DAMPING * (qd - state.qd)
