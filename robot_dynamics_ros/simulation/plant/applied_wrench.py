"""A wrench that acts on a frame of a plant in MuJoCo, as that of a hand does: torques J' w of the joints."""

import mujoco
import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import AGE


class AppliedWrench:
    """A wrench at a site of a plant; zero until one is applied, and again ``AGE`` of the plant's time later.

    Parameters
    ----------
    model, data : mujoco.MjModel, mujoco.MjData
        The plant.
    site : str
        Site at whose origin the wrench acts.
    period : float
        Step of the plant, s.

    Attributes
    ----------
    steps_left : int
        Steps for which the wrench still acts.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, site: str, period: float):
        self._model, self._data, self._duration = model, data, round(AGE / period)
        place = data.site(site)
        self._axes, self._origin = place.xmat, place.xpos  # MuJoCo's memory
        self._body = int(model.site_bodyid[place.id])
        self._wrench, self._now, self._is_local = np.zeros((2, 3)), np.zeros((2, 3)), False
        self.steps_left = 0

    @property
    def in_force(self) -> np.ndarray:
        """The wrench (6,), moment first, in the axes of the base at the last step: N m, N."""
        return self._now.ravel() if self.steps_left else np.zeros(6)

    def apply(self, wrench, is_local: bool) -> None:
        """Let a ``wrench`` (6, moment first; N m, N) act from the next step on, in place of the one before.

        It is in the axes of the site where ``is_local``, else in those of the base. ArgumentError names a number that
        is not finite.
        """
        self._wrench[:] = validation.finite('wrench', wrench, (6,)).reshape(2, 3)
        self._is_local, self.steps_left = is_local, self._duration

    def end(self) -> None:
        """Let nothing act until the next wrench is applied."""
        self.steps_left = 0

    def add_to(self, torque: np.ndarray) -> None:
        """Add J' w at the position of the plant to ``torque`` (nv, N m), for one of the steps that are left."""
        # MuJoCo's site and Jacobian are those of the position before its last step
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        if self._is_local:
            mujoco.mju_mulMatVec3(self._now[0], self._axes, self._wrench[0])
            mujoco.mju_mulMatVec3(self._now[1], self._axes, self._wrench[1])
        else:
            self._now[:] = self._wrench
        # tau += J' w
        mujoco.mj_applyFT(self._model, self._data, self._now[1], self._now[0], self._origin, self._body, torque)
        self.steps_left -= 1
