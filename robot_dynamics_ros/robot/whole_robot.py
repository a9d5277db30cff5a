"""Energy, centre of mass and momentum of the whole robot."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.robot.described_robot import DescribedRobot
from robot_dynamics_ros.robot.shared_parameters import documented


@documented()
class WholeRobot(DescribedRobot):
    """Quantities of all moving links together."""

    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Kinetic energy T = qd' M(q) qd / 2, rotors included.

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (...)
            J.
        """
        return self._evaluate('kinetic_energy', self._inputs, out, q, qd)

    def potential_energy(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Potential energy V = -gravity . sum of m c; zero where all moving mass is at the base's origin.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (...)
            J.
        """
        return self._evaluate('potential_energy', self._inputs, out, q)

    def total_energy(self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Total energy T + V: kinetic plus potential energy.

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (...)
            J.
        """
        return self._evaluate('total_energy', self._inputs, out, q, qd)

    def center_of_mass(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Centre of mass of all moving links: sum of m c / sum of m. Raises ModelError if none has a mass.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (..., 3)
            m, in the base frame.
        """
        return self._evaluate('center_of_mass', self._inputs, out, q)

    def center_of_mass_jacobian(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Jacobian J of the centre of mass, whose velocity is J qd. Raises ModelError if no moving link has a mass.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (..., 3, nv)
            m per rad (prismatic: m).
        """
        return self._evaluate('center_of_mass_jacobian', self._inputs, out, q)

    def centroidal_momentum_matrix(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Centroidal momentum matrix A(q): the momentum about the centre of mass is A qd, in the base's axes.

        Raises ModelError if no moving link has a mass. Orin & Goswami 2008.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (..., 6, nv)
            N m s, N s per rad/s (prismatic: m/s).
        """
        return self._evaluate('centroidal_momentum_matrix', self._inputs, out, q)

    def centroidal_momentum(
        self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Momentum A(q) qd about the centre of mass, in the base's axes; ``rotor_spin`` is included.

        Raises ModelError if no moving link has a mass.

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (..., 6)
            N m s, N s.
        """
        return self._evaluate('centroidal_momentum', self._inputs, out, q, qd)
