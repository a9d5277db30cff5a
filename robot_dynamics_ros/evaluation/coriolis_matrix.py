"""Coriolis matrix by Christoffel symbols."""

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.evaluation.evaluator import Evaluator


def coriolis_matrix(evaluator: Evaluator, q, qd) -> np.ndarray:
    """Return C (..., nv, nv; N m s/rad or N s/m) with C qd = c(q, qd); ModelError where qd is not the derivative of q.

    Siciliano et al. 2009, section 7.2.1.
    """
    model, nv = evaluator.model, evaluator.arrays.nv
    if any(kind in ('planar', 'spherical', 'free') for kind in model.joint_kinds):
        raise ModelError(f'Coriolis matrix: qd of {model.name} is not the time derivative of q')
    (q, qd), shape = evaluator.states(q=q, qd=qd)
    q, qd, units = q[:, None], qd[:, None], np.eye(nv)

    def c(u) -> np.ndarray:
        return evaluator.evaluate('bias_torque', evaluator.weightless, None, q, u)

    # c(u) = C(u) u is quadratic: column k of C(qd) is (c(qd + e_k) - c(qd - e_k)) / 4
    columns = 0.25 * (c(qd + units) - c(qd - units))
    return np.swapaxes(columns, -1, -2).reshape(*shape, nv, nv)
