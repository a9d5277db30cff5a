"""Forward and differential kinematics of a robot's links.

Velocities, accelerations and Jacobians of a link's frame are (angular, linear), seen in one of three ways:

    'world'                 axes of the base frame, of the point that is at its origin now: spatial vectors
    'local_world_aligned'   axes of the base frame, of the frame's origin
    'local'                 axes of the frame, of its origin

Accelerations are the time derivatives of these velocities: the world-aligned one holds the classical acceleration of
the frame's origin, the two others are spatial accelerations (RBDA section 2.11).
"""

import numpy as np

from robot_dynamics_ros.evaluation.evaluator import Answering, written
from robot_dynamics_ros.kernels import batch


class Motions(Answering):
    """The kinematics of a robot."""

    def link_pose(self, q, link: str, out=None) -> np.ndarray:
        """Return the pose (..., 4, 4; m) of a link's frame in the base frame; UnknownNameError for an unknown link."""
        return self._answer_of_frame('link_pose', link, 'world', out, q)

    def link_velocity(self, q, qd, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return the velocity (..., 6; rad/s, m/s) of a link's frame as seen from ``frame`` (module docstring).

        Raises UnknownNameError for an unknown link and ArgumentError for another ``frame``.
        """
        return self._answer_of_frame('link_velocity', link, frame, out, q, qd)

    def link_acceleration(self, q, qd, qdd, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return the derivative (..., 6; rad/s^2, m/s^2) of ``link_velocity``; gravity has no part in it."""
        return self._answer_of_frame('link_acceleration', link, frame, out, q, qd, qdd)

    def jacobian(self, q, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return J (..., 6, nv): ``link_velocity`` is J qd. Featherstone & Orin 2000, section 3.4.

        Raises UnknownNameError for an unknown link and ArgumentError for another ``frame``.
        """
        return self._answer_of_frame('jacobian', link, frame, out, q)

    def jacobian_dot_qd(self, q, qd, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return dJ/dt qd (..., 6): ``link_acceleration`` where qdd is zero."""
        return self.link_acceleration(q, qd, self._rest, link, frame, out)

    def center_of_mass(self, q, out=None) -> np.ndarray:
        """Return the centre of mass (..., 3; m) of all that moves, in the base frame. NaN for a robot without mass."""
        return self._looped(batch.center_of_mass_batch, (3,), out, q=q)

    def center_of_mass_jacobian(self, q, out=None) -> np.ndarray:
        """Return J (..., 3, nv): the velocity of ``center_of_mass`` is J qd."""
        return written(out, self.centroidal_momentum_matrix(q)[..., 3:, :] / self._model.arrays.I[1:, 0].sum())

    def centroidal_momentum_matrix(self, q, out=None) -> np.ndarray:
        """Return A (..., 6, nv): A qd is the momentum about the centre of mass, in the base's axes (N m s, N s).

        Rotors count by their ``rotor_spin``. Orin & Goswami 2008.
        """
        return self._looped(batch.centroidal_momentum_matrix_batch, (6, self.nv), out, q=q)

    def centroidal_momentum(self, q, qd, out=None) -> np.ndarray:
        """Return the momentum (..., 6; N m s, N s) about the centre of mass, in the base's axes."""
        (_, rows), shape = self._states(q=q, qd=qd)
        return written(out, (self.centroidal_momentum_matrix(q) @ rows.reshape(*shape, self.nv, 1))[..., 0])
