"""Inverse and forward dynamics, and the matrices of the equation of motion."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.table import METHODS
from robot_dynamics_ros.robot.actuated_torques import actuated_torques
from robot_dynamics_ros.robot.described_robot import ALIGNED, DescribedRobot
from robot_dynamics_ros.robot.evaluator import written
from robot_dynamics_ros.robot.shared_parameters import Wrenches, documented


@documented()
class Dynamics(DescribedRobot):
    """The equation of motion tau = M qdd + c + g - J' F, solved for torques or accelerations."""

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrenches: Wrenches | None = None,
        out: NDArray[np.float64] | None = None,
        reference_frame: str = ALIGNED,
        base_velocity: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        actuated: Iterable[str] | None = None,
    ) -> NDArray[np.float64]:
        """Joint torques of a motion: tau = M qdd + c + g - J' F; rotors are included, friction and springs are not.

        Loops are open, unless joints are ``actuated``: then the least torques of these joints that produce the motion
        together with the forces of the loops. Raises ArgumentError where there are none, naming the joints or a loop.
        Featherstone & Orin 2000, eq. 3, 4, 7, 8.

        Parameters
        ----------
        q
        qd
        qdd
        wrenches
        out
        reference_frame
        base_velocity
        base_acceleration
        actuated : list of str, optional
            Names of the joints with a motor; the result is zero for all others. Default: every joint, as if the loops
            were open.

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        if wrenches is None and actuated is None and base_velocity is None and base_acceleration is None:
            return self._evaluate('inverse_dynamics', self._inputs, out, q, qd, qdd)
        name, base = 'inverse_dynamics', (base_velocity, base_acceleration)
        if actuated is not None:
            tau = self.inverse_dynamics(q, qd, qdd, wrenches, None, reference_frame, *base)
            return written(out, actuated_torques(self._evaluator, q, qd, qdd, tau, actuated))
        if base_velocity is None and base_acceleration is None:
            return self._evaluate_under_wrenches((name, reference_frame), self._inputs, out, q, qd, qdd, wrenches)
        return self._on_moving_base(name, out, wrenches, reference_frame, base, q, qd, qdd)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        out: NDArray[np.float64] | None = None,
        reference_frame: str = ALIGNED,
        base_velocity: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        method: str | None = None,
    ) -> NDArray[np.float64]:
        """Joint accelerations under joint torques: qdd = M^-1 (tau + tau_s - c - g + J' F); subtract friction from tau.

        tau_s is ``spring_torque``. Closed loops stay closed: their errors decay (``with_loops``). The motion of a
        moving base is prescribed; for a floating base use a free joint. Raises ModelError for a joint without inertia,
        and ArgumentError for an unknown ``method``. By mass matrix: Walker & Orin 1982, method 3; by articulated
        bodies: Featherstone & Orin 2000, eq. 12 to 14; with closed loops: eq. 15 to 21.

        Parameters
        ----------
        q
        qd
        tau
        wrenches
        out
        reference_frame
        base_velocity
        base_acceleration
        method : {None, 'articulated', 'mass_matrix'}
            By articulated bodies or by the factorised mass matrix. Default: whichever is faster for the robot's tree.

        Returns
        -------
        ndarray, (..., nv)
            rad/s^2 (prismatic: m/s^2).
        """
        if wrenches is None and method is None and base_velocity is None and base_acceleration is None:
            return self._evaluate('forward_dynamics', self._inputs, out, q, qd, tau)
        name = 'forward_dynamics'
        if method is not None:
            method = validation.choice('method', method, list(METHODS))
            name = f'forward_dynamics_by_{method}'
        if base_velocity is None and base_acceleration is None:
            if wrenches is None:
                return self._evaluate(name, self._inputs, out, q, qd, tau)
            return self._evaluate_under_wrenches((name, reference_frame), self._inputs, out, q, qd, tau, wrenches)
        base = base_velocity, base_acceleration
        return self._on_moving_base(name, out, wrenches, reference_frame, base, q, qd, tau)

    def mass_matrix(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Joint-space mass matrix M(q), rotor inertia included. Featherstone & Orin 2000, eq. 9, 10.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (..., nv, nv)
            kg m^2 (prismatic: kg).
        """
        return self._evaluate('mass_matrix', self._inputs, out, q)

    def mass_matrix_inverse(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Inverse M^-1(q) of the mass matrix, from articulated-body inertias without forming M.

        Raises ModelError for a joint without inertia. Rodriguez, Jain & Kreutz-Delgado 1991; RBDA table 7.1.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (..., nv, nv)
            1/(kg m^2) (prismatic: 1/kg).
        """
        return self._evaluate('mass_matrix_inverse', self._inputs, out, q)

    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Matrix C of Christoffel symbols: C qd = c(q, qd), and dM/dt - 2 C is skew-symmetric.

        Raises ModelError for planar, spherical and free joints, where qd is not the time derivative of q. Siciliano et
        al. 2009, section 7.2.1.

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (..., nv, nv)
            N m s/rad (prismatic: N s/m).
        """
        return self._evaluate('coriolis_matrix', self._inputs, out, q, qd)

    def _on_moving_base(self, name: str, out, wrenches, reference_frame: str, base, *vectors) -> np.ndarray:
        """Return a quantity on a base of this velocity and acceleration (..., 6 each), zeros where it is None."""
        validation.choice('reference_frame', reference_frame, validation.REFERENCE_FRAMES)
        name = f'{name}_on_moving_base'
        vectors = *vectors, *(np.zeros(6) if motion is None else motion for motion in base)
        if wrenches is None:
            return self._evaluate(name, self._inputs, out, *vectors)
        return self._evaluate_under_wrenches((name, reference_frame), self._inputs, out, *vectors, wrenches)
