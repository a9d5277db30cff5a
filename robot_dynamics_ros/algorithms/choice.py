"""Choice of kernels by the shape of a robot, such as its depth: generic and specialised code use the same kernel."""

from collections.abc import Callable
from typing import NamedTuple

from robot_dynamics_ros.algorithms.forward_method import articulated_bodies_pay
from robot_dynamics_ros.jit.decorators import Kernel
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.kernels.closed_loops.quantities import loop_forward
from robot_dynamics_ros.kernels.crba_forward import crba_forward
from robot_dynamics_ros.model.arrays import ModelArrays

MOST_VELOCITIES_IN_A_ROW = 12
"""Up to here operational space of a frame is computed by factors of the mass matrix, beyond by propagation of forces.

Inertia of a frame by generic kernels, us, at 6, 10, 14, 20 and 100 joints in a row: 1.1, 1.7, 2.5, 4.3 and 240 by
factors; 1.2, 1.6, 2.0, 2.5 and 10 by propagation. Straight-line code has fewer operations by factors up to 15 joints.
On four limbs of 6 and of 12 joints: 1.9 and 4.8 by factors, 2.1 and 3.7 by propagation (2026-11-22).
"""


class Choice(NamedTuple):
    """The kernels of a quantity, and the place of the one that is used for the shape of a robot."""

    kernels: tuple[Kernel, ...]
    place: Callable[[ModelArrays], int]

    def __call__(self, arrays: ModelArrays) -> Kernel:
        """Return the kernel for a robot."""
        return self.kernels[self.place(arrays)]


def _articulated(arrays: ModelArrays) -> int:
    return int(arrays.constraints > 0)


def _forward_dynamics(arrays: ModelArrays) -> int:
    return _articulated(arrays) if arrays.constraints or articulated_bodies_pay(arrays) else 2


articulated = Choice((aba, loop_forward), _articulated)
"""Forward dynamics by articulated bodies."""
forward_dynamics = Choice((aba, loop_forward, crba_forward), _forward_dynamics)


def by_depth(by_factors: Kernel, by_propagation: Kernel) -> Choice:
    """Return the choice between two kernels of operational space by the largest number of velocities before a link."""
    return Choice((by_factors, by_propagation), lambda arrays: int(arrays.depth > MOST_VELOCITIES_IN_A_ROW))
