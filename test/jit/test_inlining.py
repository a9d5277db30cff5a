"""Numba emits the machine code of a kernel only as a part of the functions that call it."""

import numba
import pytest

from robot_dynamics_ros.jit.decorators import kernel, numba_is_disabled

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='kernels are Python functions with NUMBA_DISABLE_JIT')


@kernel
def half(x):
    return 0.5 * x


@kernel
def quarter(x):
    return half(half(x))


def test_compiled_code_calls_them_and_only_the_caller_has_machine_code():
    called = quarter.compiled

    @numba.njit
    def eighth(x):
        return called(x) * 0.5

    assert eighth(3.0) == 0.375
    assert _address(eighth)
    assert not _address(quarter.compiled)
    assert not _address(half.compiled)


def test_python_calls_them_all_the_same():
    assert quarter(3.0) == 0.75
    assert quarter(3) == 0.75


def _address(function):
    (version,) = function.overloads.values()
    return version.library.get_pointer_to_function(version.fndesc.llvm_func_name)
