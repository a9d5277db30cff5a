"""The law of torque_controller: follow the trajectory, or hold the arm where it is."""

from typing import Protocol

import numpy as np

from robot_dynamics_ros.control.feedforward_law import MotionSource
from robot_dynamics_ros.control.law import NO_VELOCITIES, TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.payload_blending import PayloadBlender

NO_FEEDFORWARD = Result(Outcome.INCOMPLETE, 'no feedforward torque for this state')


class FeedforwardSource(Protocol):
    """Where the torque of pd_feedforward comes from."""

    effort: np.ndarray
    """The newest torque, (n,) N m."""
    age_limit: int
    """Largest distance in time between it and a state, ns."""

    def fault(self, stamp: int) -> Result | None:
        """Return why there is no torque for the state of ``stamp`` (ns); None where there is one."""


class JointSpaceLaw:
    """Follows the desired motion by a ``JointSpaceControl``; without one it holds the arm.

    The hold position is the measured one when holding begins, and is measured anew after a silence. A motion that has
    begun waits for its first feedforward torque while holding, for at most the age limit of that torque; it does not
    wait anew after a silence, which missing torques make themselves.
    """

    def __init__(
        self,
        source: MotionSource,
        desired: np.ndarray,
        control: PayloadBlender,
        hold: PayloadBlender,
        feedforward: FeedforwardSource | None,
    ):
        """Follow ``desired`` (3, n), which ``source`` writes; ``feedforward`` is None where ``control`` needs none.

        ``control`` and ``hold`` are a blended ``JointSpaceControl`` and ``Hold``.
        """
        self._source, self._desired = source, tuple(desired)  # views, made once
        self._control, self._hold, self._feedforward = control, hold, feedforward
        n = desired.shape[1]
        self._held, self._none = np.zeros(n), np.zeros(n)
        self._waits_since: int | None
        self._forget()

    def warm_up(self) -> None:
        """Compile what ``torque`` calls."""
        self._source.warm_up()
        self._control.warm_up(2, self._desired, self._none)
        self._hold.warm_up(3)

    def stop_following(self) -> None:
        """Drop the desired motion and the hold position."""
        self._source.stop()
        self._forget()

    def set_back(self, now: int) -> None:
        """Drop what is from before the clock was set back to ``now`` (ns)."""
        self._source.set_back(now)
        self._forget()

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``, or return why there is none."""
        if not state.has_velocity:
            return NO_VELOCITIES
        if state.resumed:
            self._holds = False
        result = self._source.follow(state)
        if result is not TORQUE:
            self._follows, self._waits_since = False, None
            return self._hold_at(state, out)
        feedforward = self._none
        if self._feedforward is not None:
            fault = self._feedforward.fault(state.stamp)
            if fault is not None:
                if self._waits(state.stamp, self._feedforward.age_limit):
                    return self._hold_at(state, out)
                self._holds = False  # nothing holds the arm where it was
                return fault
            feedforward = self._feedforward.effort
        self._holds, self._follows, self._waits_since = False, True, None
        self._control.torque(state.stamp, state.q, state.qd, self._desired, feedforward, out=out)
        return TORQUE

    def _forget(self) -> None:
        """Forget the hold position, the motion and since when it waits for a feedforward torque."""
        self._holds = self._follows = False
        self._waits_since = None

    def _waits(self, stamp: int, longest: int) -> bool:
        """Return whether a motion may wait for its first feedforward torque, ``longest`` ns at most."""
        if self._follows:
            return False
        if self._waits_since is None:
            self._waits_since = stamp
        return stamp - self._waits_since <= longest

    def _hold_at(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque that holds the arm."""
        if not self._holds:
            self._held[:] = state.q
            self._holds = True
        self._hold.torque(state.stamp, state.q, state.qd, self._held, out=out)
        return TORQUE
