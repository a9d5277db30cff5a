"""Ten inertial parameters of a rigid body on the host side: made and taken apart (NumPy, not compiled).

The row is m (kg), h = m c (3, kg m), J about the frame's origin as xx, xy, xz, yy, yz, zz (kg m^2): the form that
kernels read (see ``inertia``). Sums of such rows are sums of bodies.
"""

import numpy as np


def ten_parameters(mass, com, inertia) -> np.ndarray:
    """Return the row (10,) of a body from mass (kg), centre (3, m) and inertia about the centre (3, 3; kg m^2)."""
    com = np.asarray(com, float)
    J = np.asarray(inertia, float) + mass * ((com @ com) * np.eye(3) - np.outer(com, com))
    return np.array([mass, *(mass * com), J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])


def central_parameters(row) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass (kg), centre (3, m; 0 if massless) and inertia about the centre (3, 3; kg m^2) of a row (10,)."""
    mass = float(row[0])
    com = row[1:4] / mass if mass else np.zeros(3)
    xx, xy, xz, yy, yz, zz = row[4:]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return mass, com, J - mass * ((com @ com) * np.eye(3) - np.outer(com, com))
