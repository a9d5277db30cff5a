"""Dynamics with external wrenches on the links and with a moving base, by generic kernels.

Derivatives are for wrenches that are constant in their reference frame. Those of the kernels are for wrenches that are
constant in the frames of the links; the difference is added here.
"""

import numpy as np

from robot_dynamics_ros import validation


def inverse_dynamics(evaluator, out, wrenches, reference_frame: str, base, q, qd, qdd) -> np.ndarray:
    """Return joint torques (..., nv); ``base`` has velocity and acceleration of the base (..., 6 each) or None."""
    if all(motion is None for motion in base):
        return evaluator.evaluate_with_wrenches('inverse_dynamics', out, wrenches, reference_frame, q, qd, qdd)
    base = (np.zeros(6) if motion is None else motion for motion in base)
    name = 'inverse_dynamics_on_moving_base'
    return evaluator.evaluate_with_wrenches(name, out, wrenches, reference_frame, q, qd, qdd, *base)


def forward_dynamics(evaluator, out, wrenches, reference_frame: str, base, q, qd, tau) -> np.ndarray:
    """Return joint accelerations (..., nv); arguments as in ``inverse_dynamics``."""
    if all(motion is None for motion in base):
        return evaluator.evaluate_with_wrenches('forward_dynamics', out, wrenches, reference_frame, q, qd, tau)
    (q, qd, tau), shape = evaluator.states(q=q, qd=qd, tau=tau)
    q, qd, tau = (rows.reshape(*shape, rows.shape[-1]) for rows in (q, qd, tau))
    h = inverse_dynamics(evaluator, None, wrenches, reference_frame, base, q, qd, np.zeros_like(qd))
    # M qdd = tau - h is solved as forward dynamics at qd = 0 without gravity
    tau = tau - h
    q = np.broadcast_to(q, (*tau.shape[:-1], q.shape[-1]))
    return evaluator.evaluate('forward_dynamics', evaluator.weightless, out, q, np.zeros_like(tau), tau)


def inverse_dynamics_derivatives(evaluator, out, wrenches, reference_frame: str, q, qd, qdd) -> np.ndarray:
    """Return the derivatives (..., 3, nv, nv) of inverse dynamics with respect to q, qd and qdd."""
    name = 'inverse_dynamics_derivatives'
    D = evaluator.evaluate_with_wrenches(name, out, wrenches, reference_frame, q, qd, qdd)
    D[..., 0, :, :] += _torque_change(evaluator, np.asarray(q, float), wrenches, reference_frame)
    return D


def forward_dynamics_derivatives(evaluator, out, wrenches, reference_frame: str, q, qd, tau) -> np.ndarray:
    """Return the derivatives (..., 3, nv, nv) of forward dynamics with respect to q, qd and tau."""
    name = 'forward_dynamics_derivatives'
    D = evaluator.evaluate_with_wrenches(name, out, wrenches, reference_frame, q, qd, tau)
    # dqdd = M^-1 (dtau - dID)
    D[..., 0, :, :] -= D[..., 2, :, :] @ _torque_change(evaluator, np.asarray(q, float), wrenches, reference_frame)
    return D


def _torque_change(evaluator, q: np.ndarray, wrenches, reference_frame: str) -> np.ndarray:
    """Return -J' dF/dq (..., nv, nv) of wrenches F that are constant in the reference frame, at q (..., nq).

    F = (n, f) and column k of the Jacobian (w, v) are in the frame of the link: dn/dq_k = n x w and df/dq_k = f x w.
    For ``'world'``, f x v is added to dn/dq_k, since the reference point of the moment does not move.
    """
    nv = evaluator.arrays.nv
    change = np.zeros((nv, nv))
    if reference_frame == 'local':
        return change
    if not isinstance(wrenches, dict):
        stacked = np.asarray(wrenches, float)
        wrenches = {link: stacked[..., k, :] for k, link in enumerate(evaluator.model.link_names)}
    for link, wrench in wrenches.items():
        J = evaluator.evaluate_generic(('jacobian', link, 'local'), q)
        T = evaluator.evaluate_generic(('link_pose', link, 'local'), q)
        w, v = J[..., :3, :], J[..., 3:, :]
        F = validation.in_link_frame(reference_frame, np.asarray(wrench, float), T)
        n, f = F[..., :3, None], F[..., 3:, None]
        dn, df = np.cross(n, w, axis=-2), np.cross(f, w, axis=-2)
        if reference_frame == 'world':
            dn = dn + np.cross(f, v, axis=-2)
        # dn and df have the broadcast batch shape of q and wrench
        change = change - np.swapaxes(J, -1, -2) @ np.concatenate([dn, df], axis=-2)
    return change
