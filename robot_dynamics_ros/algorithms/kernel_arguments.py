"""Examples of the arguments of kernels: what machine code is compiled for, the same for all robots.

An axis of length 0 may have any length, and that of another length always has it.
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from robot_dynamics_ros.algorithms.choice import Choice
from robot_dynamics_ros.algorithms.program import WRENCH_KERNELS
from robot_dynamics_ros.algorithms.table import ALGORITHMS, BY_METHOD, OF_A_FRAME, OF_FRAMES, OPERATIONAL_SPACE
from robot_dynamics_ros.jit.decorators import Kernel
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace
from robot_dynamics_ros.model.model import Model

VECTOR, LINKS = np.empty(0), np.empty(0, np.int64)
ARGUMENTS = {
    **dict.fromkeys(('q', 'qd', 'qdd', 'tau', 'F', 'wrenches', 'change', 'torques', 'rates', 'accelerations'), VECTOR),
    **dict.fromkeys(('v_0', 'a_0'), np.empty(6)),
    'gravity': np.empty(3),
    'f_ext': np.empty((0, 6)),
    'D_f': np.empty((0, 0)),
    'i': 0,
    'rotation': np.empty((3, 3)),
    'origin': np.empty(3),
    'links': LINKS,
    'rotations': np.empty((0, 3, 3)),
    'origins': np.empty((0, 3)),
    'reference_frame': 0,
    'friction': np.empty((8, 0)),
    'W': np.empty((0, 0)),
    'residual': np.empty((0, 16)),
}
"""By parameter. The result of a kernel, its last parameter, is in the row of its algorithm."""


def _like(name: str, one: tuple[int, ...], other: tuple[int, ...]) -> np.ndarray:
    """Return an example of an array whose shapes for two robots are these."""
    return np.empty([a if a == b else 0 for a, b in zip(one, other, strict=True)])


WORKSPACE = Workspace(*map(_like, Workspace._fields, Workspace.shapes(2, 3, 1, 5), Workspace.shapes(4, 6, 2, 12)))


MODEL = ModelArrays(*(np.empty((0, *it.shape[1:]), it.dtype) for it in Model.of('no joints', 'base', ()).arrays))


def kernels() -> Iterator[tuple[Kernel, tuple]]:
    """Yield every kernel of the table of algorithms, with examples of its arguments after ``model`` and ``work``."""
    for table in (ALGORITHMS, BY_METHOD, OF_A_FRAME, OPERATIONAL_SPACE, OF_FRAMES):
        for algorithm in table.values():
            result = np.empty((0,) * max(1, len(algorithm.shape)))
            options = algorithm.kernel.kernels if isinstance(algorithm.kernel, Choice) else (algorithm.kernel,)
            for kernel in (*options, *filter(None, [algorithm.after])):
                yield kernel, (*(ARGUMENTS[name] for name in kernel.parameters[:-1]), result)
            if algorithm.before:
                yield algorithm.before, tuple(ARGUMENTS[name] for name in algorithm.before.parameters)
    for kernel in chain(*WRENCH_KERNELS):
        yield kernel, tuple(ARGUMENTS[name] for name in kernel.parameters)
