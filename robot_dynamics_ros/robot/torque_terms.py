"""Terms of joint torques: gravity, Coriolis, inertia, friction and springs, and the currents of motors."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.jit.at_first_use import AtFirstUse
from robot_dynamics_ros.robot.described_robot import DescribedRobot
from robot_dynamics_ros.robot.evaluator import written
from robot_dynamics_ros.robot.friction import JointFriction
from robot_dynamics_ros.robot.shared_parameters import documented


@documented()
class TorqueTerms(DescribedRobot):
    """Methods for the single terms of the joint torques."""

    def torque(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Torques of the motors for a motion: all terms, tau = M qdd + c + g - tau_s + friction + residual.

        Rotors are part of M. tau_s is ``spring_torque``, friction is ``friction_torque`` at qd under the torque that
        the joints transmit, M qdd + c + g - tau_s, and the residual is the learnt one (``with_residual``). The inverse
        is ``acceleration``. Raises ModelError for closed loops.

        Parameters
        ----------
        q
        qd
        qdd
        out

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        return self._evaluate('torque', self._inputs, out, q, qd, qdd)

    def acceleration(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Joint accelerations under torques tau of the motors: the inverse of ``torque``.

        Raises ModelError for closed loops, a joint without inertia, a gear that its friction locks (1 or more per
        transmitted torque), and coupled motors whose friction grows with the load.

        Parameters
        ----------
        q
        qd
        tau
        out

        Returns
        -------
        ndarray, (..., nv)
            rad/s^2 (prismatic: m/s^2).
        """
        return self._evaluate('acceleration', self._inputs, out, q, qd, tau)

    def gravity_torque(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Joint torques g(q) = dV/dq that hold the robot against gravity; V is the potential energy.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        return self._evaluate('gravity_torque', self._inputs, out, q)

    def bias_torque(self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Joint torques at zero acceleration: h = c(q, qd) + g(q).

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        return self._evaluate('bias_torque', self._inputs, out, q, qd)

    def coriolis_torque(
        self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Coriolis and centrifugal torques c(q, qd) = h(q, qd) - g(q).

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        return self._evaluate('bias_torque', self._weightless, out, q, qd)

    def inertia_torque(
        self, q: ArrayLike, qdd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Joint torques M(q) qdd of an acceleration.

        Parameters
        ----------
        q
        qdd
        out

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        return self._evaluate('inverse_dynamics', self._weightless, out, q, self._zeros, qdd)

    def friction_torque(
        self, qd: ArrayLike, tau: ArrayLike | None = None, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Torques that overcome friction: (viscous + quadratic abs(qd)) qd + level sign(qd) + offset.

        The sign is smooth; level = coulomb + load abs(tau) + stribeck / (1 + (qd / stribeck_velocity)^2), where tau are
        the torques that the joints transmit. Raises ArgumentError if ``tau`` is omitted and a joint has load-dependent
        friction.

        Parameters
        ----------
        qd
        tau
        out

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        return self._friction.torque(qd, tau, out)

    def spring_torque(self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Joint torques of springs: stiffness (rest - q) of joints, and springs and dampers of closures.

        They act in forward dynamics and simulations, and are no part of inverse dynamics.

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        return self._evaluate('spring_torque', self._inputs, out, q, qd)

    def motor_current(self, tau: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Motor currents tau / torque_constant; tau includes friction. ModelError names a joint without constant.

        Parameters
        ----------
        tau
        out

        Returns
        -------
        ndarray, (..., nv)
            A.
        """
        (tau,), shape = self._evaluator.states(tau=tau)
        return written(out, (tau / self._model.torque_constant()).reshape(*shape, self.nv))

    def torque_of_current(self, current: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Joint torques current * torque_constant, friction included. ModelError as ``motor_current``.

        Parameters
        ----------
        current : array_like, (..., nv)
            Motor currents in A.
        out

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        (current,), shape = self._evaluator.states(current=current)
        return written(out, (current * self._model.torque_constant()).reshape(*shape, self.nv))

    @AtFirstUse
    def _friction(self) -> JointFriction:
        """Friction of the joints."""
        return JointFriction(self._evaluator)
