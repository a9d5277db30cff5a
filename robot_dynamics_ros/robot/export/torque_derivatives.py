"""Exact derivatives of the whole torque and of its inverse: rigid bodies, springs, friction, and a learnt residual.

``kernels.joint_torques``: tau = tau_t + W' friction(W qd, tau_t) + residual(q, qd), where the joints transmit
tau_t = M qdd + c + g - tau_s. The smooth sign of friction is differentiable at zero velocity, too. Where one term is
not, its derivative is that of one side or between both: 0 for abs(tau_t) at 0, and for a residual at and beyond its
bound and its largest velocity.
"""

import numpy as np

from robot_dynamics_ros.robot.evaluator import Evaluator

RESIDUAL_TRANSITION = 0.02
"""Transition velocity v_s in the features of a residual, rad/s or m/s; see ``kernels.residual``."""


def of_torque(evaluator: Evaluator, q, qd, qdd) -> np.ndarray:
    """Return the derivatives (..., 3, nv, nv) of ``torque`` by q, qd and qdd."""
    derivatives, _ = _of_torque(evaluator, q, qd, qdd)
    return derivatives


def of_acceleration(evaluator: Evaluator, q, qd, tau) -> np.ndarray:
    """Return the derivatives (..., 3, nv, nv) of ``acceleration`` by q, qd and tau.

    ``torque`` at this acceleration is tau: (1 + d friction / d tau_t) M dqdd = dtau - d torque of dq and dqd.
    """
    qdd = evaluator.result('acceleration', q, qd, tau)
    derivatives, by_load = _of_torque(evaluator, q, qd, qdd)
    inverse = evaluator.result('mass_matrix_inverse', q) / (1.0 + by_load[..., None, :])
    derivatives[..., :2, :, :] *= -1.0
    derivatives[..., 2, :, :] = np.eye(evaluator.arrays.nv)
    return inverse[..., None, :, :] @ derivatives


def _of_torque(evaluator: Evaluator, q, qd, qdd) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives (..., 3, nv, nv) of ``torque``, and those (..., nv) of friction by tau_t of its motor."""
    arrays, (friction, W, residual) = evaluator.model.arrays, evaluator.joint_torques
    derivatives = evaluator.result('inverse_dynamics_derivatives', q, qd, qdd)
    # of tau_t = M qdd + c + g + stiffness (q - rest)
    derivatives[..., 0, :, :] += np.diag(arrays.stiffness[1:])
    transmitted = evaluator.result('inverse_dynamics', q, qd, qdd) - evaluator.result('spring_torque', q, qd)
    velocities = np.asarray(qd) @ W.T if len(W) else np.asarray(qd)
    by_velocity, by_load = _of_friction(friction, velocities, transmitted)
    # of the motors: F_w W dqd + F_t dtau_t; and of W' motors at the joints
    of_motors = by_load[..., None, :, None] * derivatives
    of_motors[..., 1, :, :] += by_velocity[..., None] * W if len(W) else _diagonal(by_velocity)
    derivatives += W.T @ of_motors if len(W) else of_motors
    if len(residual):
        by_position, by_velocity = _of_residual(residual, q, qd)
        derivatives[..., 0, :, :] += _diagonal(by_position)
        derivatives[..., 1, :, :] += _diagonal(by_velocity)
    return derivatives, by_load


def _of_friction(friction: np.ndarray, w, tau_t) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives (..., nv) of ``kernels.friction.friction_of`` by velocities w and transmitted torques."""
    viscous, coulomb, _, transition, stribeck, stribeck_velocity, load, quadratic = friction
    # level = coulomb + load |tau_t| + stribeck / (1 + (w / v_st)^2)
    share = 1.0 / (1.0 + (w / stribeck_velocity) ** 2)
    level = coulomb + load * np.abs(tau_t) + stribeck * share
    slope_of_level = -2.0 * stribeck * share * share * (w / stribeck_velocity) / stribeck_velocity
    sign, slope_of_sign = _smooth_sign(w, transition)
    by_velocity = viscous + 2.0 * quadratic * np.abs(w) + slope_of_level * sign + level * slope_of_sign
    return by_velocity, load * np.sign(tau_t) * sign


def _of_residual(residual: np.ndarray, q, qd) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives (..., nv) of ``kernels.residual.residual_torque`` by q and qd."""
    ratio, fastest, bound, *weights = residual.T
    (of_sign, of_root, of_v), (of_joint, of_motor) = weights[:3], (weights[3:7], weights[9:])
    of_sign_sine, of_sign_cosine = weights[7:9]
    q, qd = np.asarray(q), np.asarray(qd)
    v = np.clip(qd, -fastest, fastest)
    sign, slope_of_sign = _smooth_sign(v, RESIDUAL_TRANSITION)
    root = np.sqrt(np.abs(v))
    sine, cosine = np.sin(q), np.cos(q)
    by_sign = of_sign + of_root * root + of_sign_sine * sine + of_sign_cosine * cosine
    (of_q, by_q), (of_angle, by_angle) = _harmonics(of_joint, q), _harmonics(of_motor, ratio * q)
    torque = by_sign * sign + of_v * v + of_q + of_angle
    by_position = by_q + ratio * by_angle + sign * (of_sign_sine * cosine - of_sign_cosine * sine)
    # s sign(v) / (2 sqrt|v|) = sqrt|v| / (2 sqrt(v^2 + v_s^2))
    by_v = by_sign * slope_of_sign + of_root * 0.5 * root / np.hypot(v, RESIDUAL_TRANSITION) + of_v
    within = np.abs(torque) < bound
    return within * by_position, (within & (np.abs(qd) < fastest)) * by_v


def _harmonics(weights, angle) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of sin x, cos x, sin 2x and cos 2x of an angle x with these weights, and its derivative by x."""
    sine, cosine, sine_of_twice, cosine_of_twice = (
        np.sin(angle),
        np.cos(angle),
        np.sin(2.0 * angle),
        np.cos(2.0 * angle),
    )
    a, b, c, d = weights
    value = a * sine + b * cosine + c * sine_of_twice + d * cosine_of_twice
    return value, a * cosine - b * sine + 2.0 * (c * cosine_of_twice - d * sine_of_twice)


def _smooth_sign(velocity, transition) -> tuple[np.ndarray, np.ndarray]:
    """Return v / sqrt(v^2 + v_s^2) of velocities v, and its derivative v_s^2 / (v^2 + v_s^2)^(3 / 2)."""
    length = np.hypot(velocity, transition)
    return velocity / length, (transition / length) ** 2 / length


def _diagonal(numbers: np.ndarray) -> np.ndarray:
    """Return diagonal matrices (..., n, n) of numbers (..., n)."""
    return numbers[..., None] * np.eye(numbers.shape[-1])
