"""Choice of kernels by the shape of a robot, such as its depth: generic and specialised code use the same kernel."""

from collections.abc import Callable

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


def forward_dynamics(arrays: ModelArrays) -> Kernel:
    """Return the kernel of forward dynamics."""
    return articulated(arrays) if arrays.constraints or articulated_bodies_pay(arrays) else crba_forward


def articulated(arrays: ModelArrays) -> Kernel:
    """Return the kernel of forward dynamics by articulated bodies."""
    return loop_forward if arrays.constraints else aba


def by_depth(by_factors: Kernel, by_propagation: Kernel) -> Callable[[ModelArrays], Kernel]:
    """Return the choice between two kernels of operational space by the largest number of velocities before a link."""
    return lambda arrays: by_propagation if arrays.depth > MOST_VELOCITIES_IN_A_ROW else by_factors
