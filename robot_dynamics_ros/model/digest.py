"""Digests of a robot's constants: they name the robot's own code and tell changed descriptions apart."""

import hashlib

import numpy as np

from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.model import Model

SPRINGS = ('stiffness', 'spring_rest', 'coordinate')
"""Arrays that count in the digest of robots with springs only."""

FORCES = 'I', 'rotor', 'spin', 'geared', *SPRINGS, 'sprung', 'spring', 'loop_gain'
"""Arrays on which no position, velocity or constraint depends."""


def robot_digest(arrays: ModelArrays) -> str:
    """Return the digest (16 hex digits) of a robot's constants: all arrays but the last link's inertia."""
    digest = hashlib.sha256()
    for name, array in zip(arrays._fields, arrays, strict=True):
        if name in SPRINGS and not arrays.has_springs:
            continue
        constant = array[:-1] if name == 'I' else array
        digest.update(f'{name} {constant.dtype.str} {constant.shape} '.encode() + constant.tobytes())
    return digest.hexdigest()[:16]


def model_digest(model: Model) -> str:
    """Return the digest (16 hex digits) of a model: ``robot_digest``, and what closed loops are solved by.

    That is which joints are actuated, and near which positions the loops are closed: the assembly mode. Where joints
    follow others by multipliers alone neither counts.
    """
    digest, loops = robot_digest(model.arrays), model.loops
    near = sorted((joint, float(position)) for joint, position in loops.near.items() if position)
    if loops.are_mimic_joints or not (loops.actuated or near):
        return digest
    return hashlib.sha256(f'{digest} {sorted(loops.actuated)} {near}'.encode()).hexdigest()[:16]


def same_motion(model: Model, other: Model) -> bool:
    """Return whether joints and loops of two models are the same, whatever their links weigh."""
    return model.joint_names == other.joint_names and all(
        np.array_equal(array, others)
        for name, array, others in zip(model.arrays._fields, model.arrays, other.arrays, strict=True)
        if name not in FORCES
    )
