"""Trajectory follower: desired state of the newest trajectory that has started, unless the arm is too far from it."""

import threading
from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.control.continuous_joints import nearest, turns
from robot_dynamics_ros.control.law import INTERRUPTION, INTERRUPTION_NS, TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.trajectory import TIME_RESOLUTION, Trajectory
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

NO_TRAJECTORY = Result(Outcome.IDLE, 'no trajectory')
NOT_BEGUN = Result(Outcome.IDLE, 'the trajectory has not begun')


def dropped(reason: str) -> Result:
    """Return what becomes of states along a trajectory that was dropped for ``reason``."""
    return Result(Outcome.IDLE, f'trajectory dropped: {reason}')


CLOCK_SET_BACK = dropped('the clock was set back')
SOON = 50_000_000
"""ns before its start in which a trajectory is not replaced: a node may follow it before it hears of the next one."""


class Followed:
    """A trajectory and its progress.

    ``start`` and ``received`` are ROS times in ns; ``identity`` is the digest of the trajectory. ``is_exact``: every
    node that received the trajectory knows the same start. ``lead``: the first point is after the start.

    The thread that follows writes: ``has_state``, a state arrived after the trajectory; ``due_since``, stamp of the
    first state at or after the start, ns; ``in_force``, it has replaced the trajectory before it; ``begun``, its motion
    was sampled; ``dropped``, the reason why it is not followed any more. The other one writes ``is_replaced``: another
    one came before it was in force; and ``later_than``, the start of an earlier copy of the same trajectory, ns.
    """

    def __init__(self, start: int, received: int, trajectory: Trajectory, desired: np.ndarray, is_exact: bool = True):
        """Prepare all that is slow, to write the motion q, qd, qdd into ``desired`` (3, n)."""
        self.start, self.received, self.is_exact = start, received, is_exact
        self.identity, self.duration = trajectory.digest, trajectory.duration
        self.lead = trajectory.start > 0.0
        self.first_time, self.first_position = trajectory.start, trajectory.first_position
        self.trajectory = trajectory.with_lead() if self.lead else trajectory
        self.sample = self.trajectory.sampler(*desired)
        self.has_state = self.in_force = self.begun = self.is_replaced = False
        self.due_since = self.later_than = 0
        self.dropped: Result | None = None
        self.announcement = b''  # what a publisher of the torque sends before the first torque

    def agree_on(self, start: int) -> None:
        """Start at ``start`` (ns), as the node with which this one works together, unless that is an earlier copy's.

        Only for a trajectory whose start is not exact.
        """
        if start > self.later_than:
            self.start, self.is_exact, self.begun = start, True, False


class TrajectoryFollower:
    """Follows the newest trajectory that has started, and drops it if the measured position is too far from it.

    A trajectory begins at the first state at or after its start; until then the one before goes on. Another one that
    was sent ``SOON`` before its start, or earlier, replaces it. At the state where it begins, and after each
    pause of the states, every joint must be within a tolerance of the desired position. If the first point is still in
    the future, the distance to it may also be as large as the velocity limit allows in the remaining time. Positions of
    continuous joints are compared modulo a turn. After an ``INTERRUPTION`` no trajectory that had begun goes on.

    One thread calls ``follow`` and ``set_back``, others the other methods. A trajectory is prepared before the thread
    that follows sees it: what is handed over is one reference.

    Attributes
    ----------
    plan : Followed or None
        What the last state followed.
    rests : bool
        Whether that state was after the last point.
    prepare : callable
        Called with each ``Followed`` before it is handed over, by the thread that received it.
    may_begin : callable
        Called with a ``Followed`` and the stamp (ns) of the state at which it would begin. Where it returns False, the
        trajectory before goes on for this state. The thread that follows calls it.
    """

    def __init__(self, robot: Robot, desired: np.ndarray, tolerance: float, report: Callable[[str], object]):
        """Write the motion q, qd, qdd into ``desired`` (3, n).

        ``tolerance`` is the largest distance in rad or m, 0: no limit. ``report`` is called with the reason for which a
        trajectory is dropped.
        """
        self._names, self._report = robot.joint_names, report
        self._tolerance = tolerance or np.finfo(float).max
        self._desired = desired
        self._turn = turns(robot)
        self._velocity_limit = np.nan_to_num(robot.limits.velocity, nan=0.0, posinf=0.0)
        # in the order of reception; replaced as a whole, by the threads that do not follow, one after the other
        self._plans: tuple[Followed, ...] = ()
        self._receiving = threading.Lock()
        self.plan: Followed | None = None
        self.rests = False
        self.prepare: Callable[[Followed], object] = lambda plan: None
        self.may_begin: Callable[[Followed, int], bool] = lambda plan, stamp: True
        self._newest: int | None = None  # stamp of the last state, ns

    def warm_up(self) -> None:
        """Compile the kernels that ``follow`` calls."""
        example = Trajectory([0.0, 1.0], np.zeros((2, len(self._names))))
        Followed(0, 0, example, np.zeros_like(self._desired)).sample(0.5)

    def receive(
        self, trajectory: Trajectory, start: int, now: int, is_exact: bool = True, sent: int | None = None
    ) -> None:
        """Follow a trajectory from ``start`` on; ArgumentError if it ended before ``now`` (both ns).

        It was ``sent`` then (ns), which every node knows alike; None: ``now``.

        ``is_exact``: every node that receives it knows the same start. Where the stamps of the states lag behind
        ``now``, the newest one counts: the arm's time is theirs.
        """
        present = now if self._newest is None else min(now, self._newest)
        over = (present - start) * 1e-9 - trajectory.duration
        if over > 0.0:
            raise ArgumentError(f'trajectory: it ended {over:.3f} s before it was received')
        plan = Followed(start, now, trajectory, self._desired, is_exact)
        self.prepare(plan)
        with self._receiving:
            plans = [before for before in self._plans if not before.is_replaced or before.in_force]
            in_force = [k for k, before in enumerate(plans) if before.in_force]
            plans = plans[in_force[-1] if in_force else 0 :]
            copies = (before.start for before in plans if before.identity == plan.identity and before.is_exact)
            plan.later_than = max(copies, default=0)
            begins = [before for before in plans if before.start <= (now if sent is None else sent) + SOON]
            for before in plans:
                # the other thread may be putting it in force: then it stays so, or it would jump back to the one before
                before.is_replaced = not (before.in_force or before in begins[-1:])
            self._plans = *plans, plan

    def stop(self) -> None:
        """Drop all trajectories without a report."""
        with self._receiving:
            self._plans, self._newest = (), None

    def follows(self, plan: Followed | None) -> bool:
        """Return whether ``plan`` is being followed, or may be."""
        return plan is not None and plan.dropped is None and plan in self._plans

    def set_back(self, now: int) -> None:
        """Drop a trajectory from before the clock was set back to ``now`` (ns).

        A trajectory that was received at ``now`` or before, and since which no state arrived, is kept: it was received
        after the clock was set back.
        """
        for plan in self._plans:
            if plan.dropped is None and (plan.has_state or plan.received > now):
                plan.in_force = True
                self._drop(plan, CLOCK_SET_BACK)

    def follow(self, state: MeasuredState) -> Result:
        """Write the desired motion for ``state`` and return ``TORQUE``, or return why there is none."""
        plans, self._newest = self._plans, state.stamp
        if not plans:
            self.plan = None
            return NO_TRAJECTORY
        newest = plans[-1]
        settled = newest.in_force and newest.has_state  # nothing comes after the newest one
        self.plan = plan = newest if settled else self._due(plans, state.stamp)
        if plan is None:
            return NOT_BEGUN
        if plan.dropped is not None:
            return plan.dropped
        t = (state.stamp - plan.start) * 1e-9
        self.rests = t > plan.duration + TIME_RESOLUTION
        if plan.begun:
            plan.sample(t)
            return self._after_a_pause(plan, state) if state.resumed else TORQUE
        result = self._begin(plan, t, state)
        plan.begun = True
        return result

    def is_interrupted(self, state: MeasuredState) -> bool:
        """Return whether ``plan`` was due for an ``INTERRUPTION`` in which there was no torque, up to ``state``."""
        plan = self.plan
        return plan is not None and state.pause > INTERRUPTION and state.stamp - plan.due_since > INTERRUPTION_NS

    def end(self, reason: str) -> None:
        """Drop ``plan``; called by the thread that follows."""
        if self.plan:
            self._drop(self.plan, dropped(reason))

    def _due(self, plans: tuple[Followed, ...], stamp: int) -> Followed | None:
        """Return the trajectory that is in force at ``stamp`` (ns)."""
        found = None
        for plan in reversed(plans):
            plan.has_state = True
            if found is not None:
                continue
            if not plan.in_force and not plan.is_replaced and plan.start <= stamp:
                plan.due_since = plan.due_since or stamp
                plan.in_force = self.may_begin(plan, stamp)
            if plan.in_force:
                found = plan
        return found

    def _begin(self, plan: Followed, t: float, state: MeasuredState) -> Result:
        """Begin to follow a trajectory at ``t`` s."""
        remaining = plan.first_time - t
        if not plan.lead or remaining <= TIME_RESOLUTION:
            plan.sample(max(t, plan.first_time))
            return self._checked(plan, self._desired[0], state.q)
        result = self._checked(plan, plan.first_position, state.q, self._velocity_limit * remaining)
        if result is TORQUE:
            # the lead segment begins at the measured state, on the turn of the first point
            start = nearest(state.q - plan.first_position, self._turn) + plan.first_position
            plan.trajectory.lead_from(t, start, state.qd)
            plan.sample(t)
        return result

    def _after_a_pause(self, plan: Followed, state: MeasuredState) -> Result:
        """Return TORQUE where a trajectory continues at the first state after a pause, else drop it."""
        if self.is_interrupted(state):
            return self._drop(plan, dropped(f'{state.pause:.3f} s without a joint state'))
        return self._checked(plan, self._desired[0], state.q)

    def _checked(self, plan: Followed, expected, q, reach=0.0) -> Result:
        """Return TORQUE if q is within tolerance or ``reach`` of the expected position, else drop the trajectory."""
        distance = np.abs(nearest(expected - q, self._turn))
        near = distance <= np.maximum(self._tolerance, reach)
        if near.all():
            return TORQUE
        k = int(np.argmin(near))
        reason = (
            f'joint {self._names[k]!r} is {distance[k]:.3f} rad or m from the desired position, '
            'more than start_tolerance allows; begin at the measured position'
        )
        return self._drop(plan, dropped(reason))

    def _drop(self, plan: Followed, why: Result) -> Result:
        """Stop following and report the reason; return ``why``."""
        plan.dropped = why
        self._report(why.reason)
        return why
