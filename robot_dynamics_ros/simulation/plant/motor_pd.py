"""PD of motors of the MIT type: kp (position_command - q) - kd qd, added to the torque that the motors are sent."""

from typing import NamedTuple

import numpy as np


class MotorPd(NamedTuple):
    """``stiffness`` kp (n, N m/rad) and ``damping`` kd (n, N m s/rad) of the motors."""

    stiffness: np.ndarray
    damping: np.ndarray

    def torque(self, position_command, position, velocity) -> np.ndarray:
        """Return the torque (n, N m) of the PD at a position (n, rad) and a velocity (n, rad/s)."""
        return self.stiffness * (position_command - position) - self.damping * velocity
