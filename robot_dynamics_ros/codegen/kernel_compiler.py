"""Compilation by Numba of a generic kernel, for ``generic``."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types

from robot_dynamics_ros.codegen.numba_code import Record, array_at, integers_at, object_file, reader, word_at
from robot_dynamics_ros.jit.decorators import Kernel
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
    """Return the object file of ``bool step(int64 *words)``, the same for the ``arrays`` of any robot.

    The words are the addresses of the records of the model and of the workspace, then those of each argument, one of
    the ``kinds``: 'i' an integer; '1', '2', '3' the address of an array of so many axes, and their lengths; 'I' the
    same of integers, one axis.
    """
    lines, names, place = [], [], 16
    for name, kind in zip(kernel.parameters, kinds, strict=True):
        own = f'{name}_'
        names.append(own)
        if kind == 'i':
            lines.append(f'{own} = word_at(words, {place})')
            place += 8
            continue
        axes = 1 if kind == 'I' else int(kind)
        known = LENGTHS.get(name, (None,) * axes)
        lengths = [f'word_at(words, {place + 8 + 8 * k})' if it is None else str(it) for k, it in enumerate(known)]
        array = 'integers_at' if kind == 'I' else 'array_at'
        lines.append(f'{own} = {array}(word_at(words, {place}), ({", ".join(lengths)},))')
        place += 8 + 8 * axes
    source = '\n    '.join(
        [
            'def step(words):',
            'model, work = model_at(word_at(words, 0)), work_at(word_at(words, 8))',
            *lines,
            f'kernel(model, work, {", ".join(names)})',
            'return True',
        ]
    )
    code: dict[str, Any] = {
        'model_at': reader(Record('model', {name: _of_model(it) for name, it in arrays._asdict().items()})),
        'work_at': reader(Record('work', _of_work())),
        'array_at': array_at,
        'integers_at': integers_at,
        'word_at': word_at,
        'kernel': kernel,
    }
    exec(source, code)
    return object_file('step', code['step'], 1, ir.IntType(8), types.boolean)


def _of_model(array: np.ndarray) -> tuple[Any, tuple]:
    """Return type of numbers and axes of an array of the model: the first has the number of joints or velocities."""
    return typeof(array).dtype, (None, *array.shape[1:])


def _of_work() -> dict[str, tuple[Any, tuple]]:
    """Return types of numbers and axes of the arrays of the workspace: constant if equal for robots of two sizes."""
    shapes = zip(Workspace.shapes(2, 3, 1, 5), Workspace.shapes(4, 6, 2, 12), strict=True)
    axes = [tuple(a if a == b else None for a, b in zip(one, other, strict=True)) for one, other in shapes]
    return {name: (types.float64, shape) for name, shape in zip(Workspace._fields, axes, strict=True)}
