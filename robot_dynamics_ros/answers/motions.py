"""Where links are, how they move, and how that follows from the joints.

Velocities, accelerations and Jacobians of a link's frame are (angular, linear), seen in one of three ways:

    'world'                 axes of the base frame, of the point that is at its origin now: spatial vectors
    'local_world_aligned'   axes of the base frame, of the frame's origin
    'local'                 axes of the frame, of its origin

Accelerations are the time derivatives of these velocities: the world-aligned one holds the classical acceleration of
the frame's origin, the two others are spatial accelerations (RBDA section 2.11).
"""

import numpy as np

from robot_dynamics_ros import arguments
from robot_dynamics_ros.answers.answering import Answering, filled, written
from robot_dynamics_ros.dynamics import batch


class Motions(Answering):
    """The kinematics of a robot."""

    def link_pose(self, q, link: str, out=None) -> np.ndarray:
        """Return the pose (..., 4, 4; m) of a link's frame in the base frame; UnknownNameError for an unknown link."""
        frame = self._model.frame(link)
        (q,), shape = self._states(q=q)
        given, pose = arguments.result(out, (*shape, 4, 4))
        pose[...] = self._poses(q, shape)[..., frame.link, :, :] @ frame.pose
        return filled(given, pose)

    def link_velocity(self, q, qd, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return the velocity (..., 6; rad/s, m/s) of a link's frame as seen from ``frame``; see ``answers.motions``.

        Raises UnknownNameError for an unknown link and ArgumentError for another ``frame``.
        """
        v = self._looped(batch.point_velocity_batch, (6,), None, *self._point(link), q=q, qd=qd)
        return written(out, self._seen(frame, link, q, v[..., None])[..., 0])

    def link_acceleration(self, q, qd, qdd, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return the derivative (..., 6; rad/s^2, m/s^2) of ``link_velocity``; gravity has no part in it."""
        a = self._looped(batch.point_acceleration_batch, (6,), None, *self._point(link), q=q, qd=qd, qdd=qdd)
        if frame != 'local_world_aligned':
            # spatial: (v + p x w)' = a + v x w + p x alpha at the base's origin, and (R' v)' = R' (a + v x w)
            velocity = self._looped(batch.point_velocity_batch, (6,), None, *self._point(link), q=q, qd=qd)
            a[..., 3:] += np.cross(velocity[..., 3:], velocity[..., :3])
        return written(out, self._seen(frame, link, q, a[..., None])[..., 0])

    def jacobian(self, q, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return J (..., 6, nv): ``link_velocity`` is J qd. Featherstone & Orin 2000, section 3.4.

        Raises UnknownNameError for an unknown link and ArgumentError for another ``frame``.
        """
        J = self._looped(batch.jacobian_batch, (6, self.nv), None, *self._point(link), q=q)
        return written(out, self._seen(frame, link, q, J))

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

    def _point(self, link: str) -> tuple[int, np.ndarray]:
        """Return the moving link that a link's frame is on, and its origin there."""
        frame = self._model.frame(link)
        return frame.link, frame.origin

    def _seen(self, frame: str, link: str, q, columns: np.ndarray) -> np.ndarray:
        """Return world-aligned columns (..., 6, k) of a link's frame as they are seen from ``frame``."""
        arguments.check_frame(frame)
        if frame == 'local_world_aligned':
            return columns
        angular, linear, pose = columns[..., :3, :], columns[..., 3:, :], self.link_pose(q, link)
        if frame == 'local':
            back = np.swapaxes(pose[..., :3, :3], -1, -2)
            return np.concatenate([back @ angular, back @ linear], axis=-2)
        return np.concatenate([angular, linear + np.cross(pose[..., :3, 3:], angular, axis=-2)], axis=-2)
