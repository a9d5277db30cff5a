"""Compilation by Numba of a generic kernel, for ``generic``."""

import itertools

from llvmlite import ir
from numba import typeof, types

from robot_dynamics_ros.codegen.numba_code import Record, Value, object_file
from robot_dynamics_ros.jit.decorators import Kernel, inlined, unwrapped
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace

LENGTHS = {
    'v_0': (6,),
    'a_0': (6,),
    'gravity': (3,),
    'f_ext': (None, 6),
    'rotation': (3, 3),
    'origin': (3,),
    'rotations': (None, 3, 3),
    'origins': (None, 3),
}
"""Lengths of axes of parameters that are the same for all robots, None for others."""


def compiled_kernel(kernel: Kernel, kinds: str, arrays: ModelArrays) -> bytes:
    """Return the object file of ``bool step(int64 *words, ...)``, the same for the ``arrays`` of any robot.

    The words are the addresses of the records of the model and of the workspace, then those of each argument, one of
    the ``kinds``: 'i' an integer; '1', '2', '3' the address of an array of so many axes, and their lengths; 'I' the
    same of integers, one axis.
    """
    values = [Value(Record(fields), is_address=True) for fields in (_of_model(arrays), _of_work())]
    values += [_of_argument(*it) for it in zip(kernel.parameters, kinds, strict=True)]
    offsets = itertools.accumulate((8 * value.words for value in values), initial=0)
    body = kernel.compiled

    def step(*arguments):
        body(*arguments)
        return True

    places = [(0, offset, value) for offset, value in zip(offsets, values, strict=False)]
    return object_file('step', inlined(step, **unwrapped()), places, ir.IntType(8), types.boolean)


def _of_argument(name: str, kind: str) -> Value:
    """Return type and lengths of an argument in memory."""
    if kind == 'i':
        return Value(types.int64)
    axes, numbers = (1, types.int64) if kind == 'I' else (int(kind), types.float64)
    return Value(types.Array(numbers, axes, 'C'), LENGTHS.get(name, (None,) * axes))


def _of_model(arrays: ModelArrays) -> dict[str, Value]:
    """Return the fields of the model: the first axis of each array has the number of joints or velocities."""
    named = arrays._asdict().items()
    return {name: Value(types.Array(typeof(it).dtype, it.ndim, 'C'), (None, *it.shape[1:])) for name, it in named}


def _of_work() -> dict[str, Value]:
    """Return the fields of the workspace: lengths of axes are constant if equal for robots of two sizes."""
    shapes = zip(Workspace.shapes(2, 3, 1, 5), Workspace.shapes(4, 6, 2, 12), strict=True)
    axes = [tuple(a if a == b else None for a, b in zip(one, other, strict=True)) for one, other in shapes]
    named = zip(Workspace._fields, axes, strict=True)
    return {name: Value(types.Array(types.float64, len(shape), 'C'), shape) for name, shape in named}
