"""The law of a node around those of a Cartesian impedance: time passes for what they share."""

import numpy as np

from robot_dynamics_ros.control.law import INTERRUPTION, Law, MeasuredState, Result, WrappingLaw
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness


class ImpedanceLaw(WrappingLaw):
    """A control law whose impedances share a stiffness, soft limits and a wrench."""

    def __init__(self, law: Law, stiffness: Stiffness, soft_limits: SoftLimits, wrench: CommandedWrench):
        """Wrap ``law``."""
        super().__init__(law)
        self._stiffness, self._soft_limits, self._wrench = stiffness, soft_limits, wrench

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``, or return why there is none."""
        if state.resumed and state.pause > INTERRUPTION:  # the arm is held anew, or for the first time
            self._soft_limits.begin_anew()
            self._wrench.begin_anew()
        # after a pause the arm has not seen the ramps: they go on as in one period
        elapsed = min(state.elapsed, state.period) if state.resumed else state.elapsed
        self._stiffness.elapse(elapsed)
        self._wrench.elapse(elapsed, state.time)
        return self._law.torque(state, out)
