"""Kernels run on numbers that count their products and sums."""

import numpy as np

from robot_dynamics_ros.algorithms.program import Program
from robot_dynamics_ros.codegen.trace import Tape
from robot_dynamics_ros.formulations.operation_count import CountedNumber, Operations, Tally
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace


class CountedTape(Tape):
    """Runs kernels on counted numbers instead of symbols."""

    def __init__(self, tally: Tally):
        super().__init__()
        self.tally = tally

    def _sincos(self, x):
        return x.sin(), x.cos()

    def sqrt(self, x):
        return x.sqrt() if isinstance(x, CountedNumber) else float(np.sqrt(x))

    def fma(self, x, y, z):
        return x * y + z


def operations_of(program: Program, arrays: ModelArrays, *vectors) -> Operations:
    """Return the operations of a program's kernels on the state alone; products with 0 and 1 are free.

    ``vectors`` are the inputs of the program; gravity is constant, there are no wrenches.
    """
    tally = Tally()
    constants = ModelArrays(*(a if a.dtype.kind == 'i' else _floats(a) for a in arrays))
    inputs = [np.array([CountedNumber(value, tally) for value in vector], object) for vector in vectors]
    names = {'gravity': _floats(np.array([0.0, 0.0, -9.81])), 'f_ext': _floats(np.zeros((arrays.n + 1, 6)))}
    names |= dict(zip(program.inputs, inputs, strict=True)) | {'result': _floats(np.zeros(program.shape))}
    work = Workspace.of(arrays, object)
    for step in program.steps:
        CountedTape(tally).run(step.kernel, constants, work, *step.given(names, work, _floats))
    counts = {name: count - tally.trivial[name] for name, count in tally.dense.items()}
    return Operations(**counts, sincos=len(tally.angles))


def _floats(array: np.ndarray) -> np.ndarray:
    """Return an object array of Python floats."""
    return np.array(array.tolist(), object).reshape(array.shape)
