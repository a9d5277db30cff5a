"""The decorators of kernels."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import numba

from robot_dynamics_ros.jit.cache import FOLDER, CompiledFiles
from robot_dynamics_ros.jit.fused import fused

OPTIONS: dict[str, Any] = {'error_model': 'numpy', '_nrt': False}
"""Of all that is compiled. No fast-math, so that every binding of a kernel gives the same bits; x / 0 is inf and raises
nothing, as in NumPy. No counting of references: kernels make no arrays and those that they are lent outlive the call,
while counting, an atomic operation for each array of each kernel that is called, takes most of the time: inverse
dynamics of 6 joints by the generic kernels needs 2.6 us with it and 0.34 without (2026-11-20)."""


def numba_is_disabled() -> bool:
    """Return whether NUMBA_DISABLE_JIT leaves kernels plain Python."""
    return bool(vars(numba.config)['DISABLE_JIT'])


def kernel(function):
    """Compile ``function``, its sums of products fused, into whatever calls it."""
    return inlined(fused(function))


def inlined(function):
    """Compile ``function`` as it stands into whatever calls it, for the types it is called with.

    It is not kept on disk: code that comes from there can't be inlined into a caller that is compiled anew.
    """
    return numba.njit(forceinline=True, **OPTIONS)(function)


def entry(function, nogil=True):
    """Compile ``function``, a kernel that Python calls, and keep the result on disk.

    It gives the GIL back while it runs, so that a long batch does not stall another thread, unless told not to.
    """
    # Numba chooses the folder when the function is decorated; other users of Numba in this process keep theirs.
    settings = vars(numba.config)
    before, settings['CACHE_DIR'] = settings['CACHE_DIR'], str(FOLDER)
    try:
        compiled = numba.njit(cache=_has_file(function), nogil=nogil, **OPTIONS)(function)
    finally:
        settings['CACHE_DIR'] = before
    kept = vars(compiled).get('_cache')  # none where NUMBA_DISABLE_JIT leaves plain Python
    numbas_own = getattr(kept, '_cache_file', None)
    if kept is not None and numbas_own is not None:
        kept._cache_file = CompiledFiles(Path(numbas_own._index_path).with_suffix(''), numbas_own._source_stamp)
    return compiled


def bound(compiled, *arguments, then=()):
    """Return an ``entry`` with its first ``arguments`` fixed, called without another look at their types.

    The others have to be of the types of the examples ``then``: nothing looks at them, so this is for callers that make
    them themselves. That look is half of what a small call costs. The compiler, which one thread has at a time, is
    asked only for a version that is not there yet.
    """
    if numba_is_disabled():
        return partial(compiled, *arguments)
    types = tuple(map(numba.typeof, (*arguments, *then)))
    if types not in compiled.overloads:
        compiled.compile(types)
    return partial(compiled.overloads[types].entry_point, *arguments)


def _has_file(function) -> bool:
    """Return whether the source of ``function`` is a file; without one Numba keeps nothing."""
    return os.path.exists(function.__code__.co_filename)
