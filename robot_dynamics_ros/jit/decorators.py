"""The decorators of kernels. Numba is imported when something has to be compiled, not before."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

from robot_dynamics_ros.jit.fused import fused

OPTIONS: dict[str, Any] = {'error_model': 'numpy', '_nrt': False}
"""Options of all compiled functions.

No fast-math, so that every binding of a kernel gives the same numbers; x / 0 is inf without an error, as in NumPy. No
reference counting: kernels create no arrays and their arguments outlive the call. Counting is an atomic operation per
array and call: inverse dynamics of 6 joints by generic kernels needs 2.6 us with it, 0.34 us without (2026-11-20).
"""


def numba_is_disabled() -> bool:
    """Return whether NUMBA_DISABLE_JIT is set: kernels are then Python functions."""
    return bool(int(os.environ.get('NUMBA_DISABLE_JIT') or 0))


class Kernel:
    """A function with fused multiply-adds that Numba inlines into its compiled callers, for the types of the call."""

    def __init__(self, function: FunctionType):
        """Store the function as it is written."""
        self._function = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __call__(self, *arguments):
        """Call the compiled function."""
        return self._for_python(*arguments)

    @cached_property
    def py_func(self) -> Callable:
        """The Python function."""
        return fused(self._function)

    @cached_property
    def compiled(self) -> Any:
        """Numba's function for compiled callers, or the Python function with NUMBA_DISABLE_JIT."""
        return inlined(self.py_func, **unwrapped())

    @cached_property
    def _for_python(self) -> Any:
        """Numba's function for callers in Python."""
        return inlined(self.py_func)

    @property
    def _numba_type_(self):
        """Numba's type of the function, with which compiled code calls it."""
        return self.compiled._numba_type_


def unwrapped() -> dict[str, Any]:
    """Return the options of functions that only compiled code calls.

    They have no wrappers, and no machine code of their own. A wrapper converts each array of model and workspace: with
    wrappers, six kernels compile in 27 s, without in 15 s (2026-11-22).
    """
    from robot_dynamics_ros.jit.inlining import Inlining  # noqa: PLC0415

    return {'no_cpython_wrapper': True, 'no_cfunc_wrapper': True, 'pipeline_class': Inlining}


def kernel(function) -> Kernel:
    """Inline ``function`` into its compiled callers, with fused multiply-adds."""
    return Kernel(function)


def inlined(function, **options):
    """Inline ``function`` as written into its compiled callers, for the types of the call.

    It is not cached on disk: cached code cannot be inlined into a new caller. ``options`` are further ones of Numba.
    """
    import numba  # noqa: PLC0415

    from robot_dynamics_ros.jit import instructions  # noqa: F401, PLC0415

    return numba.njit(forceinline=True, **OPTIONS, **options)(function)


def entry(function):
    """Compile ``function``, a kernel that Python calls by Numba, and cache it on disk; it releases the GIL.

    Each call looks up the types of its arguments, and the process imports Numba: ``compiler.bound_function`` does
    neither. This is for batch loops in tests, and where interpreters have no other way to call machine code.
    """
    import numba  # noqa: PLC0415

    from robot_dynamics_ros.jit import instructions  # noqa: F401, PLC0415
    from robot_dynamics_ros.jit.cache import FOLDER  # noqa: PLC0415
    from robot_dynamics_ros.jit.compiled_files import CompiledFiles  # noqa: PLC0415

    # Numba selects the folder at decoration; the setting of other users of Numba in this process is restored
    settings = vars(numba.config)
    before, settings['CACHE_DIR'] = settings['CACHE_DIR'], str(FOLDER)
    try:
        compiled = numba.njit(cache=_has_file(function), nogil=True, **OPTIONS)(function)
    finally:
        settings['CACHE_DIR'] = before
    cache = vars(compiled).get('_cache')  # None with NUMBA_DISABLE_JIT
    files = getattr(cache, '_cache_file', None)
    if cache is not None and files is not None:
        cache._cache_file = CompiledFiles(Path(files._index_path).with_suffix(''), files._source_stamp)
    return compiled


def _has_file(function) -> bool:
    """Return whether the source of ``function`` is a file; otherwise Numba cannot cache it."""
    return os.path.exists(function.__code__.co_filename)
