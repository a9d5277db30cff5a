"""Trajectory follower: desired state of the newest trajectory that has started, unless the arm is too far from it."""

import threading
from collections.abc import Callable
from math import inf

import numpy as np

from robot_dynamics_ros.control.arm.following.loop_solutions import Solution
from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.law import INTERRUPTION, INTERRUPTION_NS, TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.trajectories.followed import Followed
from robot_dynamics_ros.control.trajectories.motion_tolerance import MotionTolerance
from robot_dynamics_ros.control.trajectories.point_stream import LONGEST_GAP_NS, Point, StreamPoint
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_start import TrajectoryStart
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

NO_TRAJECTORY = Result(Outcome.IDLE, 'no trajectory')
NOT_BEGUN = Result(Outcome.IDLE, 'the trajectory has not begun')


def dropped(reason: str) -> Result:
    """Return what becomes of states along a trajectory that was dropped for ``reason``."""
    return Result(Outcome.IDLE, f'trajectory dropped: {reason}')


CLOCK_SET_BACK = dropped('the clock was set back')
SOON_NS = 50_000_000
"""ns before its start in which a trajectory is not replaced: a node may follow it before it hears of the next one."""


class TrajectoryFollower:
    """Follows the newest trajectory that has started, and drops it if the measured position is too far from it.

    A trajectory begins at the first state at or after its start; until then the one before goes on. Another one that
    was sent ``SOON_NS`` before its start, or earlier, replaces it. At the state where it begins, and after each
    pause of the states, every joint must be within a tolerance of the desired position. If the first point is still in
    the future, the distance to it may also be as large as the velocity limit allows in the remaining time. Positions of
    continuous joints are compared modulo a turn. After an ``INTERRUPTION`` no trajectory that had begun goes on.

    One thread calls ``follow``, ``held_since`` and ``set_back``, others the other methods. A trajectory is prepared
    before the thread that follows sees it: what is handed over is one reference.

    Attributes
    ----------
    plan : Followed or None
        What the last state followed.
    rests : bool
        Whether that state was after the last point.
    waits : bool
        Whether at that state a trajectory was due that did not begin.
    unreached : str
        Why a newer trajectory was refused that this one goes on instead of; '' for none.
    prepare : callable
        Called with each ``Followed`` before it is handed over, by the thread that received it.
    may_begin : callable
        Called with a ``Followed``, the stamp (ns) of the state at which it would begin, and whether a newer one waits;
        the reference in force is in the array of the motion. Where it returns False, the trajectory before goes on for
        this state. The thread that follows calls it.
    announce : callable
        Called likewise with a ``Followed`` that begins at this state.
    """

    def __init__(
        self,
        robot: Robot,
        desired: np.ndarray,
        tolerance: float,
        report: Callable[[str], object],
        acceleration_limit: np.ndarray,
        positions: PositionLimits | None = None,
    ):
        """Write the motion q, qd, qdd into ``desired`` (3, n).

        ``tolerance`` is the largest distance in rad or m, 0: no limit. ``report`` is called with the reason for which a
        trajectory is dropped. ``acceleration_limit`` (n, rad/s^2 or m/s^2; inf: none) and the robot's velocity limits
        bound leads, and so do ``positions``; None: those are not limited.
        """
        self._names, self._report, self._turn = robot.joint_names, report, turns(robot)
        self._desired, self._positions = desired, positions
        self.start = TrajectoryStart(robot, desired, tolerance, acceleration_limit)
        # in the order of reception; replaced as a whole, by the threads that do not follow, one after the other
        self._plans: tuple[Followed, ...] = ()
        self._receiving = threading.Lock()
        self.plan: Followed | None = None
        self.rests, self.waits, self.unreached = False, False, ''
        self.prepare: Callable[[Followed], object] = lambda plan: None
        self.may_begin: Callable[[Followed, int, bool], bool] = lambda plan, stamp, newer_waits: True
        self.announce: Callable[[Followed], bool] = lambda plan: True
        self._newest: int | None = None  # stamp of the last state, ns

    def receive(
        self,
        trajectory: Trajectory,
        start: int,
        now: int,
        is_exact: bool = True,
        sent: int | None = None,
        as_sent: bool = False,
        keeps_speed: bool = False,
        tolerance: MotionTolerance | None = None,
        reached: Solution | None = None,
    ) -> Followed:
        """Follow a trajectory from ``start`` on; ArgumentError if it ended before ``now`` (both ns).

        It was ``sent`` then (ns), which every node knows alike; None: ``now``. ``as_sent``: it starts then, without a
        stamp of its own. ``keeps_speed``: after a pause of the states it goes on where it was, later. An arm beyond the
        ``tolerance`` of the motion makes it end. ``reached`` is where ``check_reach`` says that closed loops
        are at its end; None: they are followed to its rest from where they were measured last.

        ``is_exact``: every node that receives it knows the same start. Where the stamps of the states lag behind
        ``now``, the newest one counts: the arm's time is theirs.
        """
        present = now if self._newest is None else min(now, self._newest)
        over = (present - start) * 1e-9 - trajectory.duration
        if over > (LONGEST_GAP_NS * 1e-9 if trajectory.is_point else 0.0):
            raise ArgumentError(f'trajectory: it ended {over:.3f} s before it was received')
        with self._receiving:
            point = self._point(trajectory, start, as_sent) if trajectory.is_point else None
            within = self.start.limits, is_exact, point, self._positions, self.start.ways, reached
            plan = Followed(start, now, trajectory, self._desired, *within)
            plan.keeps_speed, plan.tolerance = keeps_speed, tolerance
            if point is not None:
                point.enter(plan.identity)
            self.prepare(plan)
            plans = [before for before in self._plans if not before.is_replaced or before.in_force]
            in_force = [k for k, before in enumerate(plans) if before.in_force]
            plans = plans[in_force[-1] if in_force else 0 :]
            copies = (before.start for before in plans if before.identity == plan.identity and before.is_exact)
            plan.later_than = max(copies, default=0)
            begins = [before for before in plans if before.due <= (now if sent is None else sent) + SOON_NS]
            for before in plans:
                # the other thread may be putting it in force: then it stays so, or it would jump back to the one before
                before.is_replaced = not (before.in_force or before in begins[-1:])
            self._plans = *plans, plan
        return plan

    def streams(self, trajectory: Trajectory, start: int) -> bool:
        """Return whether a trajectory from ``start`` (ns) on would continue a stream of one-point trajectories."""
        return trajectory.is_point and self._point(trajectory, start).period > 0.0

    def stop(self) -> None:
        """Drop all trajectories without a report."""
        with self._receiving:
            self._plans, self._newest, self.unreached = (), None, ''

    def follows(self, plan: Followed | None) -> bool:
        """Return whether ``plan`` is being followed, or may be."""
        return plan is not None and plan.dropped is None and plan in self._plans

    def ended(self, plan: Followed) -> str:
        """Return why ``plan`` is not followed and will not be, '' where it is or may be; any thread."""
        plans = self._plans
        if plan.dropped is not None or plan.refused:
            return plan.refused if plan.dropped is None else plan.dropped.reason
        if plan not in plans:
            return 'a newer trajectory has replaced it' if plans else 'a stop has ended it'
        newer = plans[plans.index(plan) + 1 :]
        is_over = plan.is_replaced or any(each.in_force for each in newer)
        return 'a newer trajectory has replaced it' if is_over else ''

    def set_back(self, now: int) -> None:
        """Drop a trajectory from before the clock was set back to ``now`` (ns).

        A trajectory that was received at ``now`` or before, and since which no state arrived, is kept: it was received
        after the clock was set back.
        """
        for plan in self._plans:
            if plan.dropped is None and (plan.has_state or plan.received > now):
                plan.in_force = True
                self._drop(plan, CLOCK_SET_BACK)

    def held_since(self, stamp: int) -> None:
        """Know that another node holds the arm since the state of ``stamp`` (ns): no motion from before leads it.

        Such a motion goes on, but no other trajectory begins at its reference. The thread that follows calls this.
        """
        for plan in self._plans:
            plan.leads_nobody |= plan.begun and plan.since <= stamp

    def follow(self, state: MeasuredState) -> Result:
        """Write the desired motion for ``state`` and return ``TORQUE``, or return why there is none."""
        plans, self._newest, self.waits = self._plans, state.stamp, False
        if not plans:
            self.plan = None
            return NO_TRAJECTORY
        if state.resumed:
            self._resume(plans, state)
        newest, before = plans[-1], self.plan if self.plan in plans else None  # no more after a stop
        settled = newest.in_force and newest.has_state  # nothing comes after the newest one
        self.plan = plan = newest if settled else self._due(plans, state, before)
        if plan is None:
            return NOT_BEGUN
        if plan.dropped is not None:
            return plan.dropped
        if plan.begun:
            return self._go_on(plan, state)
        t = plan.time(state.stamp)
        why = self.start.begin(plan, t, state, before)
        if why and self.start.goes_on:
            self.refuse(plan, f'{why}; the one before goes on')
            return self._go_back(before, state)
        if not why and not self.announce(plan):
            return self._go_back(before, state)
        plan.in_force = plan.begun = True
        self.unreached = ''
        if why:
            return self._drop(plan, dropped(why))
        plan.sample(t)
        self.rests = plan.rests(t)
        return TORQUE

    @property
    def newest(self) -> int | None:
        """Stamp of the last state since a stop, ns; None for none."""
        return self._newest

    @property
    def stream_lag(self) -> float | None:
        """The lag of the stream of points in force, s; None without one."""
        plan = self.plan
        point = None if plan is None or plan.dropped is not None else plan.point
        return point.stream.lag if point is not None and point.period else None

    def joined_late(self) -> str:
        """Return for which joint's limits the lead to the trajectory in force takes longer than asked; '' for none."""
        plan = self.plan
        stretched = None if plan is None or plan.dropped is not None else plan.stretched
        if stretched is None or self.rests:
            return ''
        joint, later = stretched
        velocity, acceleration = (limit[joint] for limit in self.start.limits)
        return (
            f'{later:.3f} s, for the limits of joint {self._names[joint]!r} ({velocity:g} rad/s or m/s, '
            f'{acceleration:g} rad/s^2 or m/s^2); begin at the reference in force, or give the first point more time'
        )

    def is_interrupted(self, state: MeasuredState) -> bool:
        """Return whether ``plan`` was due for an ``INTERRUPTION`` in which there was no torque, up to ``state``."""
        plan = self.plan
        return plan is not None and state.pause > INTERRUPTION and state.stamp - plan.due_since > INTERRUPTION_NS

    def refuse(self, plan: Followed, why: str) -> None:
        """Do not begin ``plan``, and report why; called by the thread that follows."""
        self.unreached = f'trajectory refused: {why}'
        self._report(self.unreached)
        plan.refused, plan.is_replaced = why, True

    def end(self, reason: str) -> None:
        """Drop ``plan``; called by the thread that follows."""
        if self.plan:
            self._drop(self.plan, dropped(reason))

    def _point(self, trajectory: Trajectory, start: int, as_sent: bool = False) -> StreamPoint:
        """Return the point of a trajectory with one, in the stream that it continues, or in a new one."""
        point = Point(start + round(trajectory.duration * 1e9), *trajectory.last_point)
        newest = self._plans[-1] if self._plans else None
        before = None if newest is None or newest.dropped is not None else newest.point
        return StreamPoint(point, before, self._turn, self.start.limits, as_sent)

    def _due(self, plans: tuple[Followed, ...], state: MeasuredState, before: Followed | None) -> Followed | None:
        """Return the trajectory that is in force at ``state``, or may begin there in place of ``before``."""
        found, stamp = None, state.stamp
        for plan in reversed(plans):
            plan.has_state = True
            if found is not None:
                continue
            if not plan.in_force and not plan.is_replaced and plan.due <= stamp:
                plan.due_since = plan.due_since or stamp
                self.start.write_reference(before, state)
                if self.may_begin(plan, stamp, self.waits):
                    found = plan
                self.waits = found is None
            elif plan.in_force:
                found = plan
        return found

    def _go_back(self, before: Followed | None, state: MeasuredState) -> Result:
        """Go on with the trajectory ``before``: the newer one does not begin at this state."""
        self.plan = before
        if before is None or not before.begun:
            return NOT_BEGUN
        return before.dropped or self._go_on(before, state)

    def _go_on(self, plan: Followed, state: MeasuredState) -> Result:
        """Write the motion of a trajectory that has begun, or drop it at the first state after a pause."""
        t = plan.time(state.stamp)
        plan.sample(t)
        self.rests = plan.rests(t)
        if plan.tolerance is not None and not self.rests:
            why = plan.tolerance.fault(state.q, state.qd)
            if why:
                plan.is_left = True
                return self._drop(plan, dropped(why))
        return self._after_a_pause(plan, state) if state.resumed else TORQUE

    def _after_a_pause(self, plan: Followed, state: MeasuredState) -> Result:
        """Return TORQUE where a trajectory continues at the first state after a pause, else drop it."""
        if self.is_interrupted(state):
            return self._drop(plan, dropped(f'{state.pause:.3f} s without a joint state'))
        why = self.start.fault(state.q)
        return self._drop(plan, dropped(why)) if why else TORQUE

    def _resume(self, plans: tuple[Followed, ...], state: MeasuredState) -> None:
        """Let motions that keep their speed go on later by the pause before ``state``.

        After a longer one than a stream may have, a stream that ended in it is dropped, and what was to begin in it: it
        would catch up with what it has missed.
        """
        pause = state.pause * 1e9
        for plan in plans:
            if plan.keeps_speed and state.pause <= INTERRUPTION:
                plan.start += round(pause)
        late = [plan for plan in plans if plan.is_late(state.stamp, state.pause, plan is plans[-1])]
        if late and pause > LONGEST_GAP_NS:
            how_long = f'for {state.pause:.3f} s' if state.pause < inf else 'yet'
            why = dropped(f'it was to lead the arm while no joint state came {how_long}')
            for plan in late:
                plan.in_force, plan.dropped = True, why
            self._report(why.reason)

    def _drop(self, plan: Followed, why: Result) -> Result:
        """Stop following and report the reason; return ``why``."""
        plan.dropped = why
        self._report(why.reason)
        return why
