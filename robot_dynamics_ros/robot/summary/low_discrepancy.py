"""Points that fill a cube evenly: positions at which something is searched."""

import numpy as np

from robot_dynamics_ros.algorithms.position_search import write_points
from robot_dynamics_ros.codegen.bound_function import bound


def low_discrepancy(count: int, dimensions: int) -> np.ndarray:
    """Return points (count, dimensions) of the unit cube, by the additive recurrence R of Roberts (2018)."""
    points = np.empty((count, dimensions))
    bound(write_points, then=(points,))(points)
    return points
