"""The feedforward law: the torque of the desired motion at each joint state."""

from typing import Protocol

import numpy as np

from robot_dynamics_ros.control.law import NO_VELOCITIES, TORQUE, MeasuredState, Result
from robot_dynamics_ros.control.payload_blending import PayloadBlender


class MotionSource(Protocol):
    """What writes a desired motion q, qd, qdd for each state."""

    def follow(self, state: MeasuredState) -> Result:
        """Write the desired motion for ``state`` and return ``TORQUE``, or return why there is none."""

    def warm_up(self) -> None:
        """Compile what ``follow`` calls."""

    def stop(self) -> None:
        """Follow nothing."""

    def set_back(self, now: int) -> None:
        """Drop what is from before the clock was set back to ``now`` (ns)."""


class FeedforwardLaw:
    """tau = the chosen terms at the desired motion; positions and velocities may be the measured ones instead."""

    def __init__(self, source: MotionSource, desired: np.ndarray, terms: PayloadBlender, evaluate_at_measured: bool):
        """Compute ``terms``, a blended ``Compensation``, along ``desired`` (3, n), which ``source`` writes."""
        self._source, self._terms = source, terms
        self._q, self._qd, self._qdd = desired
        self._measured = evaluate_at_measured

    def warm_up(self) -> None:
        """Compile what ``torque`` calls."""
        self._source.warm_up()
        self._terms.warm_up(3)

    def stop_following(self) -> None:
        """Drop the desired motion."""
        self._source.stop()

    def set_back(self, now: int) -> None:
        """Drop what is from before the clock was set back to ``now`` (ns)."""
        self._source.set_back(now)

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``, or return why there is none."""
        if self._measured and not state.has_velocity:
            return NO_VELOCITIES
        result = self._source.follow(state)
        if result is TORQUE:
            q, qd = (state.q, state.qd) if self._measured else (self._q, self._qd)
            self._terms.torque(state.stamp, q, qd, self._qdd, out=out)
        return result
