"""Operational-space dynamics of a link's frame (Khatib 1987).

F = inertia dv/dt + bias + gravity, where v = J qd is the velocity of the frame and F the wrench of the joint torques
tau = J' F.
"""

import numpy as np

from robot_dynamics_ros.errors import SingularError
from robot_dynamics_ros.evaluation.evaluator import Evaluator

LEAST_CONDITION = 1e-12
"""Smallest over largest singular value of J M^-1 J' below which the matrix counts as singular."""


def inertia_and_inverse(evaluator: Evaluator, q, link: str, reference_frame: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (J M^-1 J')^-1 (..., 6, 6) and the consistent inverse M^-1 J' (J M^-1 J')^-1 (..., nv, 6).

    Raises SingularError naming link and state if the link cannot move in all six directions.
    """
    J = evaluator.evaluate(('jacobian', link, reference_frame), evaluator.load, None, q)
    M_inv = evaluator.evaluate('mass_matrix_inverse', evaluator.load, None, q)
    # M^-1 J'
    mobility = M_inv @ np.swapaxes(J, -1, -2)
    sizes = np.linalg.svd(J @ mobility, compute_uv=False)
    singular = sizes[..., -1] <= LEAST_CONDITION * sizes[..., 0]
    if singular.any():
        index = [int(k) for k in np.argwhere(singular)[0]]
        where = f'q{index}' if index else 'q'
        raise SingularError(f'{where}: link {link!r} cannot move in all six directions here')
    inertia = np.linalg.inv(J @ mobility)
    return inertia, mobility @ inertia


def bias(evaluator: Evaluator, q, qd, link: str, reference_frame: str) -> np.ndarray:
    """Return the bias wrench (..., 6; N m, N) of Coriolis and centrifugal forces: Jbar' c - inertia dJ/dt qd."""
    inertia, inverse = inertia_and_inverse(evaluator, q, link, reference_frame)
    key, zeros = ('link_acceleration', link, reference_frame), np.zeros(evaluator.arrays.nv)
    c = evaluator.evaluate('bias_torque', evaluator.weightless, None, q, qd)
    dJ_qd = evaluator.evaluate(key, evaluator.load, None, q, qd, zeros)
    return (np.swapaxes(inverse, -1, -2) @ c[..., None] - inertia @ dJ_qd[..., None])[..., 0]


def gravity(evaluator: Evaluator, q, link: str, reference_frame: str) -> np.ndarray:
    """Return the wrench (..., 6; N m, N) that holds the robot against gravity: Jbar' g."""
    inverse = inertia_and_inverse(evaluator, q, link, reference_frame)[1]
    g = evaluator.evaluate('gravity_torque', evaluator.load, None, q)
    return (np.swapaxes(inverse, -1, -2) @ g[..., None])[..., 0]
