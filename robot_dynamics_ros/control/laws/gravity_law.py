"""Gravity compensation law: the gravity torque at the measured positions."""

import numpy as np

from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Result
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender


class GravityLaw:
    """tau = g(q) at the measured positions."""

    reference = None

    def __init__(self, gravity: PayloadBlender):
        """Set the blended gravity torque."""
        self._gravity = gravity

    def stop_following(self) -> None:
        """Do nothing: this law follows no motion."""

    def set_back(self, now: int) -> None:
        """Do nothing: this law keeps no motion and no position."""

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``."""
        self._gravity.torque(state.time, state.q, out=out)
        return TORQUE
