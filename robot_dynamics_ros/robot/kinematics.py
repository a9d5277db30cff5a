"""Forward and differential kinematics of links, and positions of joints."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.model import configuration
from robot_dynamics_ros.robot.described_robot import ALIGNED, DescribedRobot
from robot_dynamics_ros.robot.evaluator import written
from robot_dynamics_ros.robot.shared_parameters import documented


@documented()
class Kinematics(DescribedRobot):
    """Poses, velocities, accelerations and Jacobians of links; steps between positions of joints."""

    def link_pose(self, q: ArrayLike, link: str, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Pose T of a link's frame in the base frame: x_base = T x_link.

        Parameters
        ----------
        q
        link
        out

        Returns
        -------
        ndarray, (..., 4, 4)
            Homogeneous transformation; translation in m.
        """
        return self._evaluate_of_frame(('link_pose', link, 'world'), self._inputs, out, q)

    def link_velocity(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        link: str,
        reference_frame: str = ALIGNED,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Velocity J(q) qd of a link's frame.

        Parameters
        ----------
        q
        qd
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., 6)
            rad/s, m/s.
        """
        return self._evaluate_of_frame(('link_velocity', link, reference_frame), self._inputs, out, q, qd)

    def link_acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        link: str,
        reference_frame: str = ALIGNED,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Acceleration J qdd + dJ/dt qd of a link's frame: time derivative of ``link_velocity``, without gravity.

        Parameters
        ----------
        q
        qd
        qdd
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., 6)
            rad/s^2, m/s^2.
        """
        return self._evaluate_of_frame(('link_acceleration', link, reference_frame), self._inputs, out, q, qd, qdd)

    def jacobian(
        self, q: ArrayLike, link: str, reference_frame: str = ALIGNED, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Jacobian J(q) of a link's frame: ``link_velocity`` is J qd. Siciliano et al. 2009, section 3.1.

        Parameters
        ----------
        q
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., 6, nv)
            rad, m per rad (prismatic: m).
        """
        return self._evaluate_of_frame(('jacobian', link, reference_frame), self._inputs, out, q)

    def jacobian_dot_qd(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        link: str,
        reference_frame: str = ALIGNED,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Velocity-dependent acceleration dJ/dt qd: ``link_acceleration`` for qdd = 0.

        Parameters
        ----------
        q
        qd
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., 6)
            rad/s^2, m/s^2.
        """
        return self.link_acceleration(q, qd, self._zeros, link, reference_frame, out)

    def neutral(self) -> NDArray[np.float64]:
        """Position at which every joint's transform is the identity.

        Returns
        -------
        ndarray, (nq,)
            rad (prismatic: m).
        """
        return configuration.neutral(self._model.arrays)

    def random(self, generator: 'np.random.Generator | None' = None) -> NDArray[np.float64]:
        """Random position: uniform within the limits, or from -pi to pi without limits.

        Parameters
        ----------
        generator : numpy.random.Generator, optional
            Source of the random numbers, without unit.

        Returns
        -------
        ndarray, (nq,)
            rad (prismatic: m).
        """
        return configuration.random(self._model.arrays, self._model.limits, generator or np.random.default_rng())

    def integrate(self, q: ArrayLike, step: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Position after a step from q; it is q + step if all joints have one degree of freedom.

        Parameters
        ----------
        q
        step : array_like, (..., nv)
            Displacement: velocity times time, in rad (m).
        out

        Returns
        -------
        ndarray, (..., nq)
            rad (prismatic: m).
        """
        (rows, steps), shape = self._evaluator.states(q=q, step=step)
        return written(out, configuration.integrate(self._model.arrays, rows, steps).reshape(*shape, self.nq))

    def difference(
        self, start: ArrayLike, end: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Step for which integrate(start, step) is ``end``, with rotations of at most half a turn.

        Parameters
        ----------
        start : array_like, (..., nq)
            Joint positions in rad (m).
        end : array_like, (..., nq)
            Joint positions in rad (m).
        out

        Returns
        -------
        ndarray, (..., nv)
            rad (prismatic: m).
        """
        (one, other), shape = self._evaluator.states(start=start, end=end)
        return written(out, configuration.difference(self._model.arrays, one, other).reshape(*shape, self.nv))
