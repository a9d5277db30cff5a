"""Digest of a robot's constants: it names the robot's own code and tells changed descriptions apart."""

import hashlib

from robot_dynamics_ros.model.arrays import ModelArrays

SPRINGS = ('stiffness', 'spring_rest', 'coordinate')
"""Arrays that count in the digest of robots with springs only."""


def robot_digest(arrays: ModelArrays) -> str:
    """Return the digest (16 hex digits) of a robot's constants: all arrays but the last link's inertia."""
    digest = hashlib.sha256()
    for name, array in zip(arrays._fields, arrays, strict=True):
        if name in SPRINGS and not arrays.has_springs:
            continue
        constant = array[:-1] if name == 'I' else array
        digest.update(f'{name} {constant.dtype.str} {constant.shape} '.encode() + constant.tobytes())
    return digest.hexdigest()[:16]
