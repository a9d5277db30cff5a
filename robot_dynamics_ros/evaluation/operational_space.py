"""Operational-space dynamics of a link's frame (Khatib 1987).

Where v = J qd is the frame's velocity, the wrench F = inertia dv/dt + bias + gravity at the frame makes the robot move
so with torques J' F at its joints.
"""

import numpy as np

from robot_dynamics_ros.errors import SingularError
from robot_dynamics_ros.evaluation.evaluator import written
from robot_dynamics_ros.evaluation.forces import Forces
from robot_dynamics_ros.evaluation.kinematics import Motions

LEAST_CONDITION = 1e-12
"""Of J M^-1 J', smallest over largest singular value: below, rounding decides whether the frame can move."""


class OperationalSpace(Forces, Motions):
    """The dynamics of a robot at one of its links; ``motions`` says what ``frame`` means.

    Every method raises SingularError where the link cannot move in all six directions: at a singular position, or
    where fewer than six velocities carry it.
    """

    def operational_space_inertia(self, q, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return (J M^-1 J')^-1 (..., 6, 6; kg m^2, kg m, kg)."""
        return written(out, self._operational_space(q, link, frame)[0])

    def consistent_inverse(self, q, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return the dynamically consistent inverse of J, (..., nv, 6): M^-1 J' (J M^-1 J')^-1."""
        return written(out, self._operational_space(q, link, frame)[1])

    def operational_space_bias(self, q, qd, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return the wrench (..., 6; N m, N) of Coriolis and centrifugal forces, gravity not in it."""
        inertia, inverse = self._operational_space(q, link, frame)
        of_joints = np.swapaxes(inverse, -1, -2) @ self.coriolis_torque(q, qd)[..., None]
        of_frame = inertia @ self.jacobian_dot_qd(q, qd, link, frame)[..., None]
        return written(out, (of_joints - of_frame)[..., 0])

    def operational_space_gravity(self, q, link: str, frame: str = 'world', out=None) -> np.ndarray:
        """Return the wrench (..., 6; N m, N) at the link that holds the robot against gravity."""
        inverse = self._operational_space(q, link, frame)[1]
        return written(out, (np.swapaxes(inverse, -1, -2) @ self.gravity_torque(q)[..., None])[..., 0])

    def _operational_space(self, q, link: str, frame: str) -> tuple[np.ndarray, np.ndarray]:
        """Return inertia (..., 6, 6) and consistent inverse (..., nv, 6)."""
        J = self.jacobian(q, link, frame)
        # M^-1 J'
        mobility = self.mass_matrix_inverse(q) @ np.swapaxes(J, -1, -2)
        sizes = np.linalg.svd(J @ mobility, compute_uv=False)
        singular = sizes[..., -1] <= LEAST_CONDITION * sizes[..., 0]
        if singular.any():
            index = [int(k) for k in np.argwhere(singular)[0]]
            where = f'q{index}' if index else 'q'
            raise SingularError(f'{where}: link {link!r} cannot move in all six directions here')
        inertia = np.linalg.inv(J @ mobility)
        return inertia, mobility @ inertia
