"""Joint-space law of ``torque_controller``: follows the trajectory, or holds the measured position."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from robot_dynamics_ros.control.law import INTERRUPTION, TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.laws.hold_position import HoldPosition
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.trajectories.followed import Followed
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower

NO_FEEDFORWARD = Result(Outcome.INCOMPLETE, 'no feedforward torque for this state')


class FeedforwardSource(Protocol):
    """Source of the torque of pd_feedforward."""

    effort: np.ndarray
    """The torque, (n,) N m, where there is no fault."""
    age_limit: int
    """Largest difference between the stamps of this torque and of a state, ns."""

    apart: Result | None
    """The last fault, where it is that the torque leads to the same trajectory from elsewhere."""

    def moves(self, stamp: int) -> bool:
        """Return whether there is a torque of a motion, not one at rest, for the state of ``stamp`` (ns)."""

    def fault(self, stamp: int, plan: Followed | None) -> Result | None:
        """Return why there is no torque along ``plan`` for the state of ``stamp`` (ns), or None if there is one."""


class Place(Protocol):
    """Where a frame of the arm is held that may be guided."""

    joints: np.ndarray
    """Where the joints are then, (n,) rad or m."""

    @property
    def is_guided(self) -> bool:
        """Whether it may be elsewhere than where the joints are held."""

    @property
    def is_free(self) -> bool:
        """Whether nothing holds the frame in some direction."""


class JointSpaceLaw:
    """Follows the desired motion by ``JointSpaceControl``; without a motion it holds the arm by ``Hold``.

    ``HoldPosition`` says where the arm is held. When a motion begins, the law holds the arm until the first feedforward
    torque, at most for the age limit of that torque; where one trajectory replaces another one, the one before goes on
    meanwhile. A motion that was being followed is not held: without a feedforward torque there is no torque at all,
    and after an ``INTERRUPTION`` the motion ends and the arm is held where it is.
    While the arm is held and the torque is that of another motion, or a trajectory waits for its torque, for longer
    than the age limit, ``tell`` says so at each state.
    After the last point of a trajectory the arm is held there, without any feedforward torque; where the torque was
    missing before, it is held where it is, and does not leap to the last point.
    An arm that is free in some direction is held there by any law, and no trajectory begins at the end of that one: the
    arm may have been guided away.

    Attributes
    ----------
    led : ndarray, (n,)
        Where the last torque holds or leads the arm, rad or m.
    state : MeasuredState or None
        The last one since the law began to follow.
    """

    def __init__(
        self,
        source: TrajectoryFollower,
        desired: np.ndarray,
        control: PayloadBlender,
        hold: PayloadBlender,
        feedforward: FeedforwardSource | None,
        position: HoldPosition,
        tell: Callable[[int], object] = lambda stamp: None,
        place: Place | None = None,
    ):
        """Follow ``desired`` (3, n), which ``source`` writes.

        ``control`` and ``hold`` blend a ``JointSpaceControl`` and a ``Hold``; the latter holds ``position``.
        ``feedforward`` is None if ``control`` uses none. ``tell`` is called with the stamp (ns) of each state at which
        the arm is held while the other node may move. ``place`` is where a frame is held that may be guided.
        """
        self._source, self._desired = source, tuple(desired)  # views, made once
        self._control, self._hold, self._feedforward = control, hold, feedforward
        self._hold_position, self._zeros = position, np.zeros(desired.shape[1])
        self.led: np.ndarray = position.position
        self.state: MeasuredState | None = None
        self._tell, self._place = tell, place
        self._apart_since: int | None = None  # stamp since which the other node may move where this one holds, ns
        self._lost: Result | None = None  # why the feedforward torque of the present motion is missing
        self._held_end: Followed | None = None  # the motion at whose end the arm is held

    @property
    def reference(self) -> np.ndarray | None:
        """Where the last torque holds or leads the arm, (n); None where it does so not in all directions."""
        return None if self._place is not None and self._place.is_free else self.led

    @property
    def _may_be_guided(self) -> bool:
        """Whether the arm may be, or have been, guided away from where its joints are held."""
        place = self._place
        return place is not None and (place.is_free or place.is_guided)

    def stop_following(self) -> None:
        """Drop the desired motion and the hold position."""
        self._source.stop()
        self.state = None
        self._release()

    def set_back(self, now: int) -> None:
        """Drop a motion and a hold position from before the clock was set back to ``now`` (ns)."""
        self._source.set_back(now)
        self._release()

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``, or return why there is none."""
        self.state = state
        if not state.has_velocity:
            return state.no_velocity
        if self._lost and self._source.is_interrupted(state):
            self._source.end(f'{INTERRUPTION:g} s without a feedforward torque: {self._lost.reason}')
        before = self._source.plan
        result = self._source.follow(state)
        if self._source.plan is not before:
            self._lost = None  # that was the torque of another motion
        if result is not TORQUE:
            self._lost = None
            return self._hold_at(state, out)
        feedforward = self._zeros
        if self._feedforward is None:
            if self._source.rests and (self._may_be_guided or self._source.plan is self._held_end):
                return self._hold_end(state, out)
        else:
            if self._source.rests:
                if self._lost is None:
                    return self._hold_end(state, out)
                self._source.end(f'it ended without a feedforward torque: {self._lost.reason}')
                return self._hold_at(state, out)
            fault = self._feedforward.fault(state.stamp, self._source.plan)
            if fault is not None:
                self._release()  # without a torque the arm leaves the hold position
                self._lost = fault
                return fault
            feedforward = self._feedforward.effort
        self._release()
        self.led = self._desired[0]
        self._control.torque(state.time, state.q, state.qd, self._desired, feedforward, out=out)
        return TORQUE

    def may_begin(self, plan: Followed, stamp: int, newer_waits: bool) -> bool:
        """Return whether ``plan`` begins at the state of ``stamp`` (ns): it waits for its first feedforward torque.

        Meanwhile the arm is held, or the trajectory goes on that is being followed; at most for the age limit of that
        torque, or until there is that of a newer trajectory that waits. Where the torque leads to the same trajectory
        from elsewhere, both motions may become one until ``plan`` can be joined no more: then it is refused.
        """
        feedforward = self._feedforward
        fault = None if feedforward is None else feedforward.fault(stamp, plan)
        if feedforward is None or fault is None:
            return True
        if fault is not feedforward.apart:
            return not newer_waits and stamp - plan.due_since > feedforward.age_limit
        if plan.time(stamp) > max(plan.first_time, plan.time(plan.due_since)) + plan.patience:
            self._source.refuse(plan, fault.reason)
        return False

    def _release(self) -> None:
        """Hold no more, and forget what was missing."""
        self._hold_position.release()
        self._lost = self._held_end = None

    def _watch(self, feedforward: FeedforwardSource, stamp: int) -> None:
        """Tell that the arm is held while the torque is that of another motion, or a trajectory waits for its own."""
        if not (self._source.waits or feedforward.moves(stamp)):
            self._apart_since = None
        elif self._apart_since is None:
            self._apart_since = stamp
        elif stamp - self._apart_since > feedforward.age_limit:
            self._tell(stamp)

    def _hold_end(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque that holds the arm where the trajectory came to rest, or where it was guided from there."""
        plan = self._source.plan
        if plan is not self._held_end:
            self._hold_position.hold_at(self._desired[0])
            self._held_end = plan
        if plan is not None and self._may_be_guided:
            plan.leads_nobody = True
        return self._hold_there(state, out)

    def _hold_at(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque that holds the arm at the hold position."""
        self._hold_position.update(state)
        self._held_end = None
        if self._feedforward is not None:
            self._watch(self._feedforward, state.stamp)
        return self._hold_there(state, out)

    def _hold_there(self, state: MeasuredState, out: np.ndarray) -> Result:
        self._hold.torque(state.time, state.q, state.qd, self._hold_position.position, out=out)
        if self._place is not None and self._place.is_guided:
            self._hold_position.guide(self._place.joints, state.q)
        self.led = self._hold_position.expected
        return TORQUE
