"""Numbers of serialised messages at known offsets, read and written by compiled code; needs no ROS."""

import numpy as np

from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Integers, Matrix, Octets, Vector, Words32

SECOND = 1_000_000_000
OTHER_LAYOUT = -1


@compiled(given='data')
def read_fields(
    memory: Octets,
    fixed: Integers,
    numbers: Vector,
    first: Integers,
    places: Integers,
    lower: Matrix,
    upper: Matrix,
    out: Matrix,
    optional: Integers,
    found_optional: Vector,
    data: bytes,
) -> int:
    """Write memory (uint8) = data (bytes) and, for each field f, out[f] (n) = numbers[first[f] + places].

    A field with first[f] < 0 is absent, and NaN is written for it. Returns a number with bit f set if field f is
    present and its numbers are above lower[f] (n) and below upper[f] (n). Also writes found_optional (m) =
    numbers[optional], NaN where that is negative. Returns OTHER_LAYOUT, and writes nothing, if ``data`` and ``memory``
    differ in length or at an offset of ``fixed``.
    """
    if len(data) != memory.shape[0]:
        return OTHER_LAYOUT
    for place in fixed:
        if data[place] != memory[place]:
            return OTHER_LAYOUT
    for place in range(memory.shape[0]):
        memory[place] = data[place]
    found = 0
    for f in range(first.shape[0]):
        within = True
        for k in range(places.shape[0]):
            out[f, k] = numbers[first[f] + places[k]] if first[f] >= 0 else np.nan
            within &= lower[f, k] < out[f, k] < upper[f, k]
        found += within << f
    for k in range(optional.shape[0]):
        found_optional[k] = numbers[optional[k]] if optional[k] >= 0 else np.nan
    return found


@compiled(given='torque stamp')
def write_effort(words: Words32, effort: Vector, torque: Vector, stamp: int) -> None:
    """Write effort (n) = torque (n) and the words (2, int32) of a stamp (ns)."""
    words[0], words[1] = stamp // SECOND, stamp % SECOND
    for k in range(effort.shape[0]):
        effort[k] = torque[k]


@compiled(given='stamp')
def write_stamp(words: Words32, stamp: int) -> None:
    """Write the words (2, int32) of a stamp (ns)."""
    words[0], words[1] = stamp // SECOND, stamp % SECOND
