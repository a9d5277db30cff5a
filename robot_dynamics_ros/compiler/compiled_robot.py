"""The specialised binding of one robot: programs are generated, compiled and cached at their first use."""

import hashlib
import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from types import ModuleType

import numpy as np

from robot_dynamics_ros.compiler import emit, numpy_abi
from robot_dynamics_ros.compiler.algorithms import ALGORITHMS, LOAD_SIZE, Algorithm
from robot_dynamics_ros.compiler.batch_layout import LANES, Blocks
from robot_dynamics_ros.compiler.generic_robot import refuse
from robot_dynamics_ros.compiler.simd_transpose import lined_up
from robot_dynamics_ros.jit.cache import FOLDER
from robot_dynamics_ros.jit.decorators import inlined, numba_is_disabled
from robot_dynamics_ros.jit.generated import generated_module
from robot_dynamics_ros.model.model import ModelArrays

MOST_JOINTS = 12
"""Robots of more joints use the generic kernels: compiling the programs of 12 joints takes about half a minute."""
SMALLEST_PART = 8192
"""Minimum number of states per thread.

Time of the AUBO-i5's inverse dynamics on two cores relative to one: 1.3 for two parts of 4,000 states, 0.7 for two of
8,000 (waking a core takes 0.1 ms and more; 2026-11-20).
"""
STREAMED = 1 << 22
"""Bytes of a batch's result above which non-temporal stores are used.

100,000 mass matrices of the AUBO-i5, 29 MB: 27 ns each, 49 ns with normal stores; 10,000: 25 ns and 24 ns (2026-11-20).
"""


def robot_digest(arrays: ModelArrays) -> str:
    """Return the digest (16 hex digits) of a robot's constants: all arrays but the last link's inertia."""
    digest = hashlib.sha256()
    for name, array in zip(arrays._fields, arrays, strict=True):
        constant = array[:-1] if name == 'I' else array
        digest.update(f'{name} {constant.dtype.str} {constant.shape} '.encode() + constant.tobytes())
    return digest.hexdigest()[:16]


def is_possible() -> bool:
    """Return whether specialised code can run: Numba is enabled and the layout of NumPy arrays is as expected."""
    return not numba_is_disabled() and numpy_abi.layout_is_known()


MOST_KEPT = 32
"""Number of robots whose code a process keeps for reuse; Numba does not free the memory of compiled code."""
ROBOTS = FOLDER / 'robots'
"""Folder of generated files, below the folder of this version of the sources."""


class Specialised:
    """Compiled straight-line code for one robot.

    ``single.<program>(vectors..., load, result)`` computes one state: joint vectors (nq,), (nv,), load (19,), result of
    the program's shape. Arguments of another type, shape or layout raise TypeError. It holds the GIL, since it returns
    before another thread could start.

    ``batch.<program>(rows..., load, result)`` computes states in rows (count, n) to results (count, ...). It releases
    the GIL and uses several cores for large batches.

    ``inline.<program>`` is ``single`` for compiled code, with flat matrices and unchecked arrays. ``address.<program>``
    is the address of ``single``: bool f(double *, ...) in C.

    All return whether all numbers, arguments and results, are finite. ``single`` raises TypeError for a program that is
    not specialised for a robot of this size (``pays``).
    """

    def __init__(self, arrays: ModelArrays, threads: int = 1):
        """Store the robot's arrays; nothing is compiled yet. ``threads`` is the number of cores for a batch."""
        self.arrays = arrays
        self._digest = robot_digest(arrays)
        self._threads = threads
        self._modules: dict[str, ModuleType] = {}
        self._algorithms = dict(ALGORITHMS)
        self._compiled = _OnDemand(self._algorithms, self._compile)
        self.single = _OnDemand(self._algorithms, self._single)
        self.address = _OnDemand(self._algorithms, lambda name: numpy_abi.address(getattr(self._compiled, name)))
        self.batch = _OnDemand(self._algorithms, self._batch)
        self.inline = _OnDemand(self._algorithms, self._inline)

    def fits(self, arrays: ModelArrays) -> bool:
        """Return whether ``arrays``, of the same robot, have the inertias of this code; the last link's may differ."""
        return np.array_equal(arrays.I[:-1], self.arrays.I[:-1])

    def add(self, name: str, algorithm: Algorithm) -> None:
        """Add an algorithm, for instance of a frame."""
        self._algorithms[name] = algorithm

    def pays(self, name: str) -> bool:
        """Return whether ``single`` and ``batch`` use specialised code for a program."""
        return self.arrays.nv <= self._algorithms[name].most_velocities

    def _single(self, name: str):
        """Return the compiled program for one state, to be called by Python."""
        return getattr(self._compiled, name).entry_point if self.pays(name) else refuse

    def _compile(self, name: str):
        """Return the compiled program for one state."""
        algorithm = self._algorithms[name]
        vectors = [numpy_abi.Array((length,), writable=False) for length in algorithm.lengths(self.arrays)]
        load = numpy_abi.Array((LOAD_SIZE,), writable=False)
        result = numpy_abi.Array(algorithm.shape_of(self.arrays), writable=True)
        arguments = (*vectors, load, result)
        return numpy_abi.compiled(getattr(self._module(name), name), arguments)

    def _inline(self, name: str):
        """Return a program for one state, to be called by compiled code."""
        return inlined(getattr(self._module(name), name))

    def _batch(self, name: str):
        """Return a program for states in rows."""
        function, single = getattr(self._module(name), f'{name}_batch'), getattr(self.single, name)
        length = Blocks(self.arrays, self._algorithms[name]).length

        def part(rows, load, result, streamed) -> bool:
            return function(*(row.reshape(-1) for row in rows), load, result.reshape(-1), lined_up(length), streamed)

        def run(*arguments) -> bool:
            *rows, load, result = arguments
            blocks = len(result) // LANES
            whole = blocks * LANES
            parts = max(1, min(self._threads, whole // SMALLEST_PART))
            cuts = [LANES * (blocks * k // parts) for k in range(parts + 1)]
            streamed = result.nbytes > STREAMED
            jobs = [([row[i:j] for row in rows], load, result[i:j], streamed) for i, j in pairwise(cuts)]
            others = [_pool().submit(part, *job) for job in jobs[1:]]
            finite = [part(*jobs[0]), *(other.result() for other in others)]
            # states that do not fill a block
            for k in range(whole, len(result)):
                finite.append(single(*(row[k] for row in rows), load, result[k, ...]))
            return all(finite)

        return run

    def _module(self, name: str):
        """Return the generated module of a program."""

        def write() -> str:
            heading = f'{name} of robot {self._digest}, sources {FOLDER.name}.'
            return emit.source(self.arrays, name, self._algorithms[name], heading)

        if name not in self._modules:
            self._modules[name] = generated_module(ROBOTS / self._digest, name, write)
        return self._modules[name]


_kept: OrderedDict[tuple[str, int], Specialised] = OrderedDict()


def code_of(arrays: ModelArrays, threads: int | None = None) -> Specialised:
    """Return the code of a robot, cached by its constants; a batch may use ``threads`` cores (None: all)."""
    threads = threads or len(os.sched_getaffinity(0))
    key = robot_digest(arrays), threads
    code = _kept.pop(key, None) or Specialised(arrays, threads)
    _kept[key] = code
    if len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return code


class _OnDemand:
    """Attributes that are created at their first use."""

    def __init__(self, programs: dict[str, Algorithm], make):
        """Create the attribute of each name in ``programs`` by ``make(name)``."""
        self._programs, self._make = programs, make

    def __getattr__(self, name: str):
        """Create the attribute; later reads do not call this method. All threads get the same object."""
        if name not in self._programs:
            raise AttributeError(name)
        return vars(self).setdefault(name, self._make(name))


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the thread pool that all robots share; with the calling thread there is one thread per core."""
    return ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) - 1), thread_name_prefix='robot_dynamics_ros')
