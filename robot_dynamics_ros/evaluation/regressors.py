"""Torques and energies as products with inertial parameters."""

import numpy as np

from robot_dynamics_ros.evaluation.evaluator import Answering
from robot_dynamics_ros.kernels import batch
from robot_dynamics_ros.model.base_parameters import TOLERANCE, BaseParameters, base_parameters


class Parameters(Answering):
    """The regressors of a robot."""

    def torque_regressor(self, q, qd, qdd, out=None) -> np.ndarray:
        """Return Y (..., nv, 10 n): ``inverse_dynamics`` less what rotors take is Y ``inertial_parameters``.

        Rotors take ``rotor_inertia`` qdd, and more where they have a ``rotor_spin``. Y depends on geometry and gravity
        only. Siciliano et al. 2009, section 7.2.2.
        """
        return self._answer(self._single.torque_regressor, 'torque_regressor', self._load, out, q, qd, qdd)

    def kinetic_energy_regressor(self, q, qd, out=None) -> np.ndarray:
        """Return y (..., 10 n): the kinetic energy less the rotors' is y ``inertial_parameters`` (J)."""
        return self._looped(batch.kinetic_energy_regressor_batch, (10 * self._model.arrays.n,), out, q=q, qd=qd)

    def potential_energy_regressor(self, q, out=None) -> np.ndarray:
        """Return y (..., 10 n): the potential energy is y ``inertial_parameters`` (J)."""
        return self._looped(
            batch.potential_energy_regressor_batch, (10 * self._model.arrays.n,), out, self._gravity, q=q
        )

    def base_parameters(self, tolerance: float = TOLERANCE) -> BaseParameters:
        """Return the fewest combinations of ``inertial_parameters`` that torques depend on, under this gravity.

        A description that turns axes by 1.5708 needs a ``tolerance`` of 1e-4. Gautier & Khalil 1990.
        """
        return base_parameters(self._model.arrays, self._gravity, tolerance)
