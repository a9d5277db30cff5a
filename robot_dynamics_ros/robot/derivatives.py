"""Derivatives of inverse and forward dynamics, and regressors, for optimisation and identification."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.model import base_parameters
from robot_dynamics_ros.robot.described_robot import ALIGNED, DescribedRobot
from robot_dynamics_ros.robot.shared_parameters import Wrenches, documented


@documented()
class Derivatives(DescribedRobot):
    """Derivatives with respect to the state and to inertial parameters."""

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrenches: Wrenches | None = None,
        out: NDArray[np.float64] | None = None,
        reference_frame: str = ALIGNED,
    ) -> NDArray[np.float64]:
        """Derivatives of ``inverse_dynamics`` with respect to q, qd and qdd; the last is M(q).

        Singh, Russell & Wensing 2022. Wrenches are constant in their reference frame.

        Parameters
        ----------
        q
        qd
        qdd
        wrenches
        out
        reference_frame

        Returns
        -------
        ndarray, (..., 3, nv, nv)
            N m/rad, N m s/rad, kg m^2 (prismatic: N for N m, m for rad). Column k belongs to velocity k.
        """
        if wrenches is None:
            return self._evaluate('inverse_dynamics_derivatives', self._inputs, out, q, qd, qdd)
        request = 'inverse_dynamics_derivatives', reference_frame
        return self._evaluate_under_wrenches(request, self._inputs, out, q, qd, qdd, wrenches)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        out: NDArray[np.float64] | None = None,
        reference_frame: str = ALIGNED,
    ) -> NDArray[np.float64]:
        """Derivatives of ``forward_dynamics`` with respect to q, qd and tau; the last is M^-1(q).

        Carpentier & Mansard 2018. Wrenches are constant in their reference frame. Raises ModelError for a joint without
        inertia.

        Parameters
        ----------
        q
        qd
        tau
        wrenches
        out
        reference_frame

        Returns
        -------
        ndarray, (..., 3, nv, nv)
            1/s^2, 1/s, 1/(kg m^2) (prismatic: rad for 1, m for rad). Column k belongs to velocity k.
        """
        if wrenches is None:
            return self._evaluate('forward_dynamics_derivatives', self._inputs, out, q, qd, tau)
        request = 'forward_dynamics_derivatives', reference_frame
        return self._evaluate_under_wrenches(request, self._inputs, out, q, qd, tau, wrenches)

    def torque_regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Regressor Y(q, qd, qdd): ``inverse_dynamics`` is Y ``inertial_parameters`` plus the torques of rotors.

        Y depends on geometry and gravity only. Siciliano et al. 2009, section 7.2.2.

        Parameters
        ----------
        q
        qd
        qdd
        out

        Returns
        -------
        ndarray, (..., nv, 10 n)
            N m (prismatic: N) per kg, kg m, kg m^2.
        """
        return self._evaluate('torque_regressor', self._inputs, out, q, qd, qdd)

    def kinetic_energy_regressor(
        self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Regressor y(q, qd): the kinetic energy is y ``inertial_parameters`` plus that of rotors.

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (..., 10 n)
            J per kg, kg m, kg m^2.
        """
        return self._evaluate('kinetic_energy_regressor', self._inputs, out, q, qd)

    def potential_energy_regressor(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Regressor y(q): the potential energy is y ``inertial_parameters``.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (..., 10 n)
            J per kg, kg m, kg m^2.
        """
        return self._evaluate('potential_energy_regressor', self._inputs, out, q)

    def base_parameters(self, tolerance: float = base_parameters.TOLERANCE) -> base_parameters.BaseParameters:
        """Base parameters: minimal identifiable combinations of ``inertial_parameters`` under this gravity.

        A description that rotates axes by 1.5708 needs a ``tolerance`` of 1e-4. Gautier & Khalil 1990.

        Parameters
        ----------
        tolerance : float
            Ratio, without unit, to the largest value below which a column counts as a combination of those before it.

        Returns
        -------
        BaseParameters
        """
        return base_parameters.base_parameters(self._model.arrays, self._setting.gravity, tolerance)
