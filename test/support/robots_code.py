"""Kernels over many states by the machine code that robots use, so that tests compile no code of their own."""

from functools import cache

import numpy as np

from robot_dynamics_ros.compiler.algorithms import (
    ALGORITHMS,
    LOAD_SIZE,
    OF_A_FRAME,
    OF_FRAMES,
    OF_WRENCHES,
    OPERATIONAL_SPACE,
    WITH_WRENCH,
    WITH_WRENCHES,
    WRENCHES_AT_POINTS,
)
from robot_dynamics_ros.compiler.compiled_calls import call_rows
from robot_dynamics_ros.compiler.compiled_robot import is_possible
from robot_dynamics_ros.compiler.generic_code import code_of_kernel, context_of
from robot_dynamics_ros.jit.batch_loop import batch_loop


def loop_of(kernel):
    """Return ``kernel`` as a loop over states with the arguments of ``batch_loop``, by the generic binding's code.

    There ``f_ext`` has one row for all states. Complex numbers, and Python without machine code, get a batch loop.
    """

    def loop(model, work, *arguments):
        *given, result = arguments
        if result.dtype == complex or not is_possible():
            batch_loop(kernel)(model, work, *given, result)
            return
        name, algorithm = _algorithms()[kernel.__name__]
        vectors, given = given[: len(algorithm.inputs)], given[len(algorithm.inputs) :]
        zeros, given = given[: algorithm.zeros], given[algorithm.zeros :]
        needed = dict(zip(algorithm.needs, given, strict=False))
        load, f_ext = np.zeros(LOAD_SIZE), needed.get('f_ext', work.f_0[None])
        load[:3] = needed.get('gravity', 0.0)
        assert len(f_ext) == 1 and not np.any(zeros)
        frame = tuple(given[len(needed) :])
        if vectors[-1].shape[1] == 9 * (model.n + 1):
            algorithm = algorithm._replace(inputs=(*algorithm.inputs[:-1], WRENCHES_AT_POINTS))
        assert [vector.shape[1] for vector in vectors] == algorithm.lengths(model)
        assert all(array.flags.c_contiguous and array.dtype == float for array in (*vectors, f_ext, result))
        work = work._replace(f_0=f_ext[0], **({'rest': np.zeros(model.nv)} if zeros else {}))
        algorithm = algorithm._replace(frame=frame)
        if OF_WRENCHES in algorithm.shape:
            algorithm = algorithm._replace(shape=result.shape[1:])
        context = context_of(algorithm, model, work)
        addresses = np.array([vector.ctypes.data for vector in vectors])
        code = code_of_kernel(name, algorithm, model)
        call_rows(code, addresses, load, result, len(result), context.ctypes.data)

    return loop


@cache
def _algorithms() -> dict:
    """Return name and algorithm of each kernel, with that kernel for robots of any size."""
    algorithms = {}
    of_frames = {f'{name}_of_frames': algorithm for name, algorithm in OF_FRAMES.items()}
    others = {**OF_A_FRAME, **OPERATIONAL_SPACE, **of_frames, **WITH_WRENCH, **WITH_WRENCHES}
    for name, algorithm in {**ALGORITHMS, **others}.items():
        for kernel in filter(None, (algorithm.kernel, algorithm.articulated, algorithm.of_deep)):
            # the first one of a kernel has the fewest zeros
            alone = algorithm._replace(kernel=kernel, articulated=None, of_deep=None)
            algorithms.setdefault(kernel.__name__, (name, alone))
    return algorithms
