"""Decorators of kernels; they import Numba only when something has to be compiled."""

import os
from collections.abc import Callable
from inspect import signature
from types import FunctionType
from typing import Any

from robot_dynamics_ros.jit.at_first_use import AtFirstUse
from robot_dynamics_ros.jit.fused_multiply_add import with_fused_multiply_adds

OPTIONS: dict[str, Any] = {'error_model': 'numpy', '_nrt': False}
"""Options of all compiled functions.

No fast-math, so that generic and specialised code of a kernel give the same numbers; x / 0 is inf without an error, as
in NumPy. No reference counting: kernels create no arrays and their arguments outlive the call. Counting is an atomic
operation per array and call: inverse dynamics of 6 joints by generic kernels needs 2.6 us with it, 0.34 us without
(2026-11-20).
"""


def numba_is_disabled() -> bool:
    """Return whether NUMBA_DISABLE_JIT is set: kernels are then Python functions."""
    return bool(int(os.environ.get('NUMBA_DISABLE_JIT') or 0))


class Kernel:
    """A function with fused multiply-adds that Numba inlines into its compiled callers, for the types of the call."""

    def __init__(self, function: FunctionType):
        """Store the function as it is written."""
        self.source = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __call__(self, *arguments):
        """Call the compiled function."""
        return self._for_python(*arguments)

    @AtFirstUse
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters after ``model`` and ``work``, the result last."""
        return tuple(signature(self.source).parameters)[2:]

    @AtFirstUse
    def py_func(self) -> Callable:
        """The Python function."""
        return with_fused_multiply_adds(self.source)

    @AtFirstUse
    def compiled(self) -> Any:
        """Numba's function for compiled callers, or the Python function with NUMBA_DISABLE_JIT."""
        return inlined(self.py_func, **unwrapped())

    @AtFirstUse
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
