"""Operational-space dynamics of a link's frame (Khatib 1987).

F = inertia dv/dt + bias + gravity, where v = J qd is the velocity of the frame and F the wrench of the joint torques
tau = J' F.
"""

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, SingularError
from robot_dynamics_ros.evaluation.evaluator import Evaluator, written

LEAST_CONDITION = 1e-12
"""Smallest over largest singular value of J M^-1 J' below which the matrix counts as singular."""


def evaluate(evaluator: Evaluator, name: str, load: np.ndarray, out, link: str, reference_frame: str, q, *velocity):
    """Return the results (..., shape) of an algorithm of operational space.

    Kernels compute no finite result where the condition may be too large; ``exact`` decides there. Raises SingularError
    naming link and state if the link cannot move in all six directions.
    """
    try:
        if velocity:
            return evaluator.evaluate((name, link, reference_frame), load, out, q, *velocity)
        return evaluator.evaluate((name, link, reference_frame), load, out, q)
    except ArgumentError:
        result = exact(evaluator, name, load, link, reference_frame, q, *velocity)
        return written(out, result)


def exact(
    evaluator: Evaluator, name: str, load: np.ndarray, link: str, reference_frame: str, q, *velocity
) -> np.ndarray:
    """Return what ``evaluate`` does, by the singular values of J M^-1 J' (..., 6, 6)."""
    J = evaluator.evaluate_generic(('jacobian', link, reference_frame), q)
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
    if name == 'operational_space_inertia':
        return inertia
    inverse = mobility @ inertia
    if name == 'consistent_inverse':
        return inverse
    # Jbar' h - inertia dJ/dt qd
    (qd,) = velocity or (np.zeros(evaluator.arrays.nv),)
    h = evaluator.evaluate('bias_torque', load, None, q, qd)
    key = 'link_acceleration', link, reference_frame
    dJ_qd = evaluator.evaluate_generic(key, q, qd, np.zeros(evaluator.arrays.nv))
    return (np.swapaxes(inverse, -1, -2) @ h[..., None] - inertia @ dJ_qd[..., None])[..., 0]
