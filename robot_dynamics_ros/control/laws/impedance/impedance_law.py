"""The law of a node around those of a Cartesian impedance: time passes for what they share."""

from math import inf

import numpy as np

from robot_dynamics_ros.control.law import INTERRUPTION, Law, MeasuredState, Result, WrappingLaw
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness


class ImpedanceLaw(WrappingLaw):
    """A control law whose impedances share a stiffness, soft limits and a wrench.

    Ramps advance only with a torque. After states without one they advance by one period.
    """

    def __init__(self, law: Law, stiffness: Stiffness, soft_limits: SoftLimits, wrench: CommandedWrench):
        """Wrap ``law``."""
        super().__init__(law)
        self._stiffness, self._soft_limits, self._wrench = stiffness, soft_limits, wrench
        self._held = -inf  # when the arm was held last, on its clock, s
        self._has_missed = False

    def stop_following(self) -> None:
        """Drop the desired motion and the hold position: the arm is held anew."""
        super().stop_following()
        self._held = -inf

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``, or return why there is none."""
        if not state.has_velocity:
            self._has_missed = True
            return self._law.torque(state, out)
        # stamps alone do not tell a pause where a clock is set
        pause = min(state.pause, max(0.0, state.passing - self._held)) if state.resumed else 0.0
        if pause > INTERRUPTION:  # the arm is held anew, or for the first time
            self._soft_limits.begin_anew()
            self._wrench.begin_anew()
        elapsed = min(state.elapsed, state.period) if state.resumed or self._has_missed else state.elapsed
        self._stiffness.elapse(elapsed)
        self._wrench.elapse(elapsed, state.passing, pause)
        self._held, self._has_missed = state.passing, False
        return self._law.torque(state, out)
