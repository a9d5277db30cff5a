"""Where arrays enter compiled code: what it accepts, and what it refuses."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.compiler import numpy_abi
from robot_dynamics_ros.compiler.compiled_robot import Specialised

ARRAYS = Robot.named('aubo_i5')._model.arrays


def test_numpy_arrays_look_as_compiled_code_expects_them():
    assert numpy_abi.layout_is_known()


@pytest.mark.parametrize(
    'wrong',
    [
        np.zeros(5),
        np.zeros(7),
        np.zeros((6, 1)),
        np.zeros(()),
        np.zeros(12)[::2],
        np.zeros(6, np.float32),
        np.zeros(6, np.int64),
        np.zeros(6, '>f8'),
        np.frombuffer(bytes(49), offset=1),
        [0.0] * 6,
        None,
        1.0,
        'zeros!',
        np.matrix(np.zeros(6)),
    ],
    ids=lambda wrong: f'{type(wrong).__name__} {getattr(wrong, "dtype", "")} {getattr(wrong, "shape", "")}',
)
def test_compiled_code_accepts_contiguous_float64_arrays_only(wrong):
    single = Specialised(ARRAYS).single.gravity_torque
    load, result = np.zeros(19), np.zeros(6)
    assert single(np.zeros(6), load, result) is True
    with pytest.raises(TypeError, match='C-contiguous float64 array'):
        single(wrong, load, result)
    with pytest.raises(TypeError, match='C-contiguous float64 array'):
        single(np.zeros(6), load, wrong)


def test_a_result_must_be_writable():
    single = Specialised(ARRAYS).single.gravity_torque
    result = np.zeros(6)
    result.flags.writeable = False
    with pytest.raises(TypeError, match='writable'):
        single(np.zeros(6), np.zeros(19), result)
    readonly = np.zeros(6)
    readonly.flags.writeable = False
    assert single(readonly, np.zeros(19), np.zeros(6)) is True


@pytest.mark.parametrize('count', [1, 5, 64, 65])
def test_an_argument_count_that_is_wrong_is_refused(count):
    single = Specialised(ARRAYS).single.gravity_torque
    with pytest.raises(TypeError):
        single(*[np.zeros(6)] * count)
