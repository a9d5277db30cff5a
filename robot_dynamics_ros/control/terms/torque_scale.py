"""Torque scale of motors: what has to be sent so that a motor executes a torque."""

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Integers, Vector

SMALLEST, LARGEST = 0.01, 100.0


@compiled(given='torque places scale out')
def _command(torque: Vector, places: Integers, scale: Vector, out: Vector) -> None:
    """Write out (n) = torque[places] / scale, N m as the motors read them."""
    for k in range(out.shape[0]):
        out[k] = torque[places[k]] / scale[k]


def torque_scales(stated, joints: int) -> np.ndarray:
    """Return the torque scale (joints,) from one number or one for each joint; ArgumentError where it is wrong."""
    scales = validation.of_each_joint('torque_scale', stated, joints, zero=False)
    if not ((scales >= SMALLEST) & (scales <= LARGEST)).all():
        raise ArgumentError(f'torque_scale: expected {SMALLEST:g} to {LARGEST:g}, got {scales.tolist()}')
    return scales


def bound_command(places: np.ndarray, scale: np.ndarray):
    """Return a function ``command(torque, places, scale, out)`` as machine code.

    It writes what has to be sent for ``torque`` (n, N m) in the robot's order, in the order of ``places`` (n);
    ``scale`` (n) is in the latter order, too.
    """
    return bound(_command, then=(np.zeros(0), places, scale, np.zeros(len(places))))
