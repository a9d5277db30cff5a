"""Hand guiding of motors with a PD of their own: gravity torque, and a position command that follows the arm.

A motor of the MIT type applies kp (q_command - q) + kd (qd_command - qd) + the torque that it is sent. While the
position command stands still, kp holds the arm. Here it follows the measured position with a dead band: the motors
resist a hand with kp times the dead band at most, and hold an error of the gravity torque up to the same size without
a drift.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.gravity_law import GravityLaw
from robot_dynamics_ros.control.law import MeasuredState, Result
from robot_dynamics_ros.control.payload_blending import PayloadBlender


def _follow(gravity, position, dead_band, command, torque) -> bool:
    """Move command (n) to within dead_band (n) of position (n) where torque == gravity (n); return whether it is.

    A command that is NaN, as before the first call, becomes the position.
    """
    for k in range(torque.shape[0]):
        if torque[k] != gravity[k]:
            return False
    for k in range(torque.shape[0]):
        if not command[k] >= position[k] - dead_band[k]:
            command[k] = position[k] - dead_band[k] if command[k] == command[k] else position[k]
        elif command[k] > position[k] + dead_band[k]:
            command[k] = position[k] + dead_band[k]
    return True


class HandGuidingLaw(GravityLaw):
    """tau = g(q) at the measured positions, and the ``position_command`` (n, rad or m) that goes with it.

    ``follows`` is whether the last torque came with a position command.
    """

    def __init__(self, gravity: PayloadBlender, dead_band: np.ndarray):
        """Set the blended gravity torque and the dead band (n, rad or m) of each joint."""
        super().__init__(gravity)
        n = len(dead_band)
        self.position_command = np.full(n, np.nan)
        self.follows = False
        self._gravity_torque, self._position = np.zeros(n), np.zeros(n)
        parts = self._gravity_torque, self._position, dead_band, self.position_command
        self._follow = bound(_follow, *parts, then=(np.zeros(n),))

    def stop_following(self) -> None:
        """Forget the position command, as at activation."""
        self.position_command.fill(np.nan)
        self.follows = False

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``."""
        result = super().torque(state, out)
        self._gravity_torque[:] = out
        self._position[:] = state.q
        return result

    def follow(self, torque: np.ndarray) -> bool:
        """Let the position command follow the arm; return whether it may be sent with ``torque`` (n, N m).

        It may where this is the whole gravity torque of the last state: while that fades in, is limited or decreases to
        zero, the arm would fall with its position command.
        """
        self.follows = self._follow(torque)
        return self.follows
