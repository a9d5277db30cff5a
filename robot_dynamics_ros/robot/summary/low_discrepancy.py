"""Points that fill a cube evenly: positions at which something is searched."""

import numpy as np


def low_discrepancy(count: int, dimensions: int) -> np.ndarray:
    """Return points (count, dimensions) of the unit cube, by the additive recurrence R of Roberts (2018).

    Its step in dimension j is g^-(j + 1), g the positive root of x^(d + 1) = x + 1.
    """
    root = 2.0
    for _ in range(50):
        root = (1.0 + root) ** (1.0 / (dimensions + 1.0))
    step = root ** -np.arange(1.0, dimensions + 1.0)
    return (0.5 + np.arange(1, count + 1)[:, None] * step) % 1.0
