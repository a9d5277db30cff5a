"""Machine code that computes a batch of states, and calls of it from Python."""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.native import call

UNLIMITED = 1 << 62
"""A number of states that is never reached."""


class StatesCode(NamedTuple):
    """Machine code for states in rows, and the sizes of its arguments."""

    lengths: list[int]
    """Lengths of the vectors of a state."""
    shape: tuple[int, ...]
    """Shape of the result of a state."""
    inputs: int
    """Number of run-time inputs."""
    rows: int
    """Address of ``bool f(double **vectors, double *runtime_inputs, double *result, int64 count, int64 context)``."""
    owner: object
    """Object that owns the memory at the addresses. Calls of this code keep it alive."""
    blocks: int = 0
    """0, or the address of
    ``bool f(double **vectors, double *runtime_inputs, double *result, int64 count, int64 streamed)``."""
    lanes: int = 1
    """The count of ``blocks`` is a multiple of this."""
    context: int = 0
    """Last argument of ``rows``."""
    checked: bool = False
    """Whether finiteness of all numbers and the size of angles have to be checked by the call, not by the code."""
    quaternions: tuple[int, ...] = ()
    """Indices in the first vector of the quaternions, which must have length 1."""
    columns: int = 0
    """If not 0, the last vector may have two axes, the second one of this length."""
    angles: tuple[int, ...] = ()
    """Indices in the first vector of the angles, which must be below ``model.joint_types.LARGEST_ANGLE``."""

    def function(
        self, most: int = UNLIMITED, held: int = 0, streamed: int = UNLIMITED, left: int = UNLIMITED
    ) -> call.StatesCall:
        """Return this code as a function ``f(vectors..., runtime_inputs, out)``; ``call.pyi`` says what it does.

        It refuses more than ``most`` states, and any once ``left`` states have been computed. It holds the GIL for up
        to ``held`` states. Results of more than ``streamed`` states bypass the caches.
        """
        return call.StatesCall(
            np.array(self.lengths, np.int64),
            np.array(self.shape, np.int64),
            np.array(self.quaternions, np.int64),
            np.array(self.angles, np.int64),
            self.inputs,
            self.columns,
            self.rows,
            self.blocks,
            self.lanes,
            self.context,
            self.checked,
            LARGEST_ANGLE,
            most,
            left,
            held,
            streamed,
            self.owner,
        )
