"""Which algorithm answers forward dynamics, the same for every binding of a robot.

Both are held against the slow method 1 of Walker & Orin 1982, nv + 1 inverse dynamics, which the tests keep.
"""

from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.kernels.crba_forward import crba_forward
from robot_dynamics_ros.model.model import ModelArrays

MOST_VELOCITIES_OF_CRBA_FORWARD = 12
"""Up to here forward dynamics by mass matrix takes no more operations than the articulated-body algorithm.

Counted for chains on 2026-11-20: 5,869 against 6,363 for 10 joints, 7,943 against 7,841 for 12; branched trees gain.
"""


def forward_algorithm(arrays: ModelArrays):
    """Return ``crba_forward`` or ``aba``, the one that takes fewer operations."""
    return crba_forward if arrays.nv <= MOST_VELOCITIES_OF_CRBA_FORWARD else aba
