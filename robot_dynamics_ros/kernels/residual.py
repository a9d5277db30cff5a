"""Learnt residual of a joint: the measured torque minus that of the model, as a sum of features."""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.sincos import sincos


@kernel
def features_of(gear_ratio, fastest, q, qd):
    """Return the ``model.residual.FEATURES`` of a joint at q (rad, m) and qd (rad/s, m/s), at most ``fastest``."""
    v = max(-fastest, min(fastest, qd))
    # s = v / sqrt(v^2 + v_s^2),  v_s = 0.02 rad/s (m/s)
    s = v / np.sqrt(v * v + 0.0004)
    sine, cosine = sincos(q)
    of_motor, cosine_of_motor = sincos(gear_ratio * q)
    return (
        s,
        # 1e-300 makes the derivative at zero finite and changes no bits: it is less than rounding
        s * np.sqrt(abs(v) + 1e-300),
        v,
        sine,
        cosine,
        2.0 * sine * cosine,
        cosine * cosine - sine * sine,
        s * sine,
        s * cosine,
        of_motor,
        cosine_of_motor,
        2.0 * of_motor * cosine_of_motor,
        cosine_of_motor * cosine_of_motor - of_motor * of_motor,
    )


@kernel
def residual_torque(residual, i, q, qd):
    """Return the learnt torque (N m, N) of joint i at q (rad, m) and qd (rad/s, m/s), within its bound.

    Columns of residual (n, 16): gear ratio, largest velocity, bound, and the weights of the features, fitted by ridge
    regression (Hoerl & Kennard 1970).
    """
    features = features_of(residual[i, 0], residual[i, 1], q, qd)
    torque = 0.0
    for k in range(13):
        torque += residual[i, 3 + k] * features[k]
    return max(-residual[i, 2], min(residual[i, 2], torque))
