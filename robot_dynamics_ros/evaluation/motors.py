"""From motor currents to joint torques and back."""

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.evaluation.evaluator import Answering, written


class Motors(Answering):
    """The motors of a robot."""

    def motor_current(self, tau, out=None) -> np.ndarray:
        """Return the motor currents (..., nv; A) that give the joint torques tau (..., nv).

        Friction is the caller's to add. Raises ModelError naming a joint whose torque constant nothing states.
        """
        (tau,), shape = self._states(tau=tau)
        return written(out, (tau / self._torque_constant).reshape(*shape, self.nv))

    def torque_of_current(self, current, out=None) -> np.ndarray:
        """Return the joint torques (..., nv) that motor currents (..., nv; A) give, friction not yet overcome.

        Raises ModelError as ``motor_current`` does.
        """
        (current,), shape = self._states(current=current)
        return written(out, (current * self._torque_constant).reshape(*shape, self.nv))

    @property
    def _torque_constant(self) -> np.ndarray:
        """Torque constants (nv,), all known; ModelError otherwise."""
        constant = self._model.actuators.torque_constant
        unknown = np.flatnonzero(np.isnan(constant))
        if len(unknown):
            joint = self._model.joint_of_velocity(int(unknown[0]))
            raise ModelError(f'joint {joint!r}: no torque constant is known; with_actuators takes torque constants')
        return constant
