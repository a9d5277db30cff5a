"""Feedforward law: the torque of the desired motion at each joint state."""

from typing import Protocol

import numpy as np

from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Result
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender


class MotionSource(Protocol):
    """Source of a desired motion q, qd, qdd for each state."""

    def follow(self, state: MeasuredState) -> Result:
        """Write the desired motion for ``state`` and return ``TORQUE``, or return why there is none."""

    def stop(self) -> None:
        """Drop the desired motion."""

    def set_back(self, now: int) -> None:
        """Drop a motion from before the clock was set back to ``now`` (ns)."""


class FeedforwardLaw:
    """tau = sum of the chosen terms at (q_d, qd_d, qdd_d), or at the measured q, qd, with qdd_d and friction(qd_d)."""

    def __init__(self, source: MotionSource, desired: np.ndarray, terms: PayloadBlender, evaluate_at_measured: bool):
        """Compute ``terms`` at ``desired`` (3, n), which ``source`` writes.

        They are a blended ``Compensation``, or a ``MeasuredCompensation`` where they are evaluated at measured states.
        """
        self._source, self._terms = source, terms
        self._q, self._qd, self._qdd = desired
        self.reference = self._q
        self._measured = evaluate_at_measured

    def stop_following(self) -> None:
        """Drop the desired motion."""
        self._source.stop()

    def set_back(self, now: int) -> None:
        """Drop a motion from before the clock was set back to ``now`` (ns)."""
        self._source.set_back(now)

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``, or return why there is none."""
        if self._measured and not state.has_velocity:
            return state.no_velocity
        result = self._source.follow(state)
        if result is TORQUE:
            if self._measured:
                self._terms.torque(state.time, state.q, state.qd, self._qdd, self._qd, out=out)
            else:
                self._terms.torque(state.time, self._q, self._qd, self._qdd, out=out)
        return result
