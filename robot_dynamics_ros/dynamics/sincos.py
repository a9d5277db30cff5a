"""Sine and cosine of one angle, as every binding of the kernels takes them."""

import numpy as np

from robot_dynamics_ros.dynamics.jit import kernel


@kernel
def sincos(x):
    """Return sin(x) and cos(x), x in rad."""
    return np.sin(x), np.cos(x)
