"""The specialised binding of one robot: programs made, compiled and kept when they are first asked for."""

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
"""Robots of more joints keep the generic kernels: compiling the programs of 12 joints takes about half a minute.

The torque regressor comes on top where it is asked for; it has as many operations as forward dynamics.
"""
SMALLEST_PART = 8192
"""States for which handing a part of a batch to another core pays.

The AUBO-i5's inverse dynamics on two cores over one: 1.3 for two parts of 4,000 states, 0.7 for two of 8,000 (waking a
core takes 0.1 ms and more; measured on 2026-11-20).
"""
STREAMED = 1 << 22
"""Bytes of a batch's result beyond which it is written past the caches.

Of 100,000 mass matrices of the AUBO-i5, 29 MB, each takes 27 ns so and 49 through the caches; of 10,000 it is 25 and 24
(2026-11-20).
"""


def robot_digest(arrays: ModelArrays) -> str:
    """Return the digest (16 hex digits) of a robot's constants: all but what ``load`` holds at run time."""
    digest = hashlib.sha256()
    for name, array in zip(arrays._fields, arrays, strict=True):
        constant = array[:-1] if name == 'I' else array
        digest.update(f'{name} {constant.dtype.str} {constant.shape} '.encode() + constant.tobytes())
    return digest.hexdigest()[:16]


def is_possible() -> bool:
    """Return whether specialised code can run here: Numba compiles, and arrays look as compiled code expects them."""
    return not numba_is_disabled() and numpy_abi.layout_is_known()


MOST_KEPT = 32
"""Robots whose code a process keeps for when they come again: Numba gives back no memory of what it has compiled."""
ROBOTS = FOLDER / 'robots'
"""Where generated files are kept: below the folder of this state of the sources, the generator's included."""


class Specialised:
    """Compiled straight-line code for one robot.

    ``single.<program>(vectors..., load, result)`` is for one state: joint vectors (nq,), (nv,), load (19,), result of
    the program's shape. Arguments of another type, shape or layout raise TypeError. It keeps the GIL: it is over before
    another thread could start.

    ``batch.<program>(rows..., load, result)`` is for states in rows (count, n), results (count, ...) likewise, and runs
    without the GIL, large batches on several cores.

    ``inline.<program>`` is ``single``'s for compiled code, a matrix flat; it takes any arrays. ``address.<program>`` is
    where ``single``'s code is in memory: bool f(double *, ...) in C.

    All tell if all numbers, arguments and results, are finite. A program that does not pay for a robot of this size
    (``pays``) is refused by ``single``.
    """

    def __init__(self, arrays: ModelArrays, threads: int = 1):
        """Take the robot's arrays; nothing is compiled yet. A batch may take as many cores as ``threads``."""
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
        """Return whether this is code for ``arrays`` too, of the same robot: only the last link may weigh another."""
        return np.array_equal(arrays.I[:-1], self.arrays.I[:-1])

    def add(self, name: str, algorithm: Algorithm) -> None:
        """Add an algorithm, for instance of a frame."""
        self._algorithms[name] = algorithm

    def pays(self, name: str) -> bool:
        """Return whether code of a program is made without being asked for by ``inline`` or ``address``."""
        return self.arrays.nv <= self._algorithms[name].most_velocities

    def _single(self, name: str):
        """Return the compiled program for one state, as Python calls it."""
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
            # what does not fill a block
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
    """Return the code of a robot, the same for the same constants; a batch may take ``threads`` cores (None: all)."""
    threads = threads or len(os.sched_getaffinity(0))
    key = robot_digest(arrays), threads
    code = _kept.pop(key, None) or Specialised(arrays, threads)
    _kept[key] = code
    if len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return code


class _OnDemand:
    """Attributes that are made when they are first read."""

    def __init__(self, programs: dict[str, Algorithm], make):
        """Make an attribute for a name among ``programs`` by ``make(name)``."""
        self._programs, self._make = programs, make

    def __getattr__(self, name: str):
        """Make the attribute; from then on it is found without asking here, by all threads the same."""
        if name not in self._programs:
            raise AttributeError(name)
        return vars(self).setdefault(name, self._make(name))


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the threads of this process for all robots together: with the caller's as many as there are cores."""
    return ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) - 1), thread_name_prefix='robot_dynamics_ros')
