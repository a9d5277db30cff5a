"""The law of gravity compensation: the torque that holds the arm against gravity where it is."""

import numpy as np

from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Result
from robot_dynamics_ros.control.payload_blending import PayloadBlender


class GravityLaw:
    """tau = g(q) at the measured positions."""

    def __init__(self, gravity: PayloadBlender):
        """Use ``gravity``, the blended gravity torque."""
        self._gravity = gravity

    def warm_up(self) -> None:
        """Compile what ``torque`` calls."""
        self._gravity.warm_up(1)

    def stop_following(self) -> None:
        """Do nothing: nothing is followed."""

    def set_back(self, now: int) -> None:
        """Do nothing likewise."""

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``."""
        self._gravity.torque(state.stamp, state.q, out=out)
        return TORQUE
