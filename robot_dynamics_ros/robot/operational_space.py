"""Operational-space dynamics of the frames of one link or of several (Khatib 1987).

F = inertia dv/dt + bias + gravity, where v = J qd is the velocity of the frames and F are the wrenches of the joint
torques tau = J' F. J, v and F of several frames are stacked in the order of their names.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.robot.described_robot import ALIGNED, DescribedRobot
from robot_dynamics_ros.robot.shared_parameters import documented

Links = str | Sequence[str]
"""Name of a link or frame, or names of several."""
LINKS = """
link : str or sequence of str
    Name of a link or frame, one of ``frame_names``, or names of F of them; F = 1 for one name. Rows and columns
    of several frames are in the order of their names.
"""


@documented(LINKS)
class OperationalSpace(DescribedRobot):
    """Operational-space dynamics of the frames of one link or of several."""

    def operational_space_inertia(
        self, q: ArrayLike, link: Links, reference_frame: str = ALIGNED, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Operational-space inertia (J M^-1 J')^-1 of F frames. Khatib 1987.

        Raises SingularError where the links cannot move in all directions, six for each, independently of each other.

        Parameters
        ----------
        q
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., 6 F, 6 F)
            kg m^2 (angular), kg m (coupling), kg (linear).
        """
        return self._evaluate_of_frame(('operational_space_inertia', link, reference_frame), self._inputs, out, q)

    def operational_space_inertia_inverse(
        self, q: ArrayLike, link: Links, reference_frame: str = ALIGNED, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Inverse J M^-1 J' of the operational-space inertia of F frames, which exists also where that is singular.

        Multiplied by wrenches on the frames it is the change of the frames' accelerations. The cost is linear in the
        number of joints. Rodriguez, Jain & Kreutz-Delgado 1991.

        Parameters
        ----------
        q
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., 6 F, 6 F)
            1/(kg m^2) (angular), 1/(kg m) (coupling), 1/kg (linear).
        """
        request = 'operational_space_inertia_inverse', link, reference_frame
        return self._evaluate_of_frame(request, self._inputs, out, q)

    def consistent_inverse(
        self, q: ArrayLike, link: Links, reference_frame: str = ALIGNED, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Dynamically consistent inverse Jbar = M^-1 J' (J M^-1 J')^-1 of J of F frames. Raises SingularError.

        Parameters
        ----------
        q
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., nv, 6 F)
            rad (prismatic: m) per rad, m.
        """
        return self._evaluate_of_frame(('consistent_inverse', link, reference_frame), self._inputs, out, q)

    def nullspace_projector(
        self, q: ArrayLike, link: Links, reference_frame: str = ALIGNED, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Dynamically consistent projector 1 - J' Jbar' of joint torques, Jbar the ``consistent_inverse`` of F frames.

        Projected torques do not accelerate the frames: J M^-1 (1 - J' Jbar') = 0. Khatib 1987, 1995. Raises
        SingularError.

        Parameters
        ----------
        q
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., nv, nv)
            N m (prismatic: N) per N m (prismatic: N).
        """
        return self._evaluator.nullspace_projector(q, link, reference_frame, out)

    def operational_space_bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        link: Links,
        reference_frame: str = ALIGNED,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Bias wrench Jbar' c - inertia dJ/dt qd, Jbar the ``consistent_inverse``. Raises SingularError.

        Springs are not included: subtract ``spring_torque`` from the torques J' F.

        Parameters
        ----------
        q
        qd
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., 6 F)
            N m, N of each frame.
        """
        return self._evaluate_of_frame(('operational_space_bias', link, reference_frame), self._weightless, out, q, qd)

    def operational_space_gravity(
        self, q: ArrayLike, link: Links, reference_frame: str = ALIGNED, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Wrench Jbar' g of gravity, Jbar the ``consistent_inverse``. Raises SingularError.

        Springs are not included: subtract ``spring_torque`` from the torques J' F.

        Parameters
        ----------
        q
        link
        reference_frame
        out

        Returns
        -------
        ndarray, (..., 6 F)
            N m, N of each frame.
        """
        return self._evaluate_of_frame(('operational_space_gravity', link, reference_frame), self._inputs, out, q)
