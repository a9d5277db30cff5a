"""The loop over steps in plain Python, for its coverage: elsewhere it is compiled."""

import ctypes

from support.simulated_robots import limited, with_friction

import numpy as np
import pytest

from robot_dynamics_ros.compiler.array_call import Rows
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.evaluation.evaluator import Evaluator
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.simulation import compiled_motion, simulate


@pytest.mark.skipif(not numba_is_disabled(), reason='Numba is enabled: the loop is compiled, other tests compare it')
@pytest.mark.parametrize('friction', [False, True])
def test_the_loop_as_plain_python(monkeypatch, friction):
    """It computes what steps from Python do, for two blocks of states; methods are called back as machine code."""
    robot = with_friction(limited())

    def machine_code(method, sizes):
        def numbers(start, *shape):
            return np.ctypeslib.as_array(ctypes.cast(start, ctypes.POINTER(ctypes.c_double)), shape)

        def call(vectors, load, result, count, last):
            starts = ctypes.cast(vectors, ctypes.POINTER(ctypes.c_int64))
            rows = [numbers(start, count, size) for start, size in zip(starts[: len(sizes)], sizes, strict=True)]
            try:
                found = method(*rows)
            except (ArgumentError, ModelError):
                found = np.full(method(*np.zeros((len(sizes), count, 2))).shape, np.nan)
            numbers(result, *found.shape)[:] = found
            return True

        return ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_int64] * 5)(call)

    forward = machine_code(robot.forward_dynamics, (robot.nq, robot.nv, robot.nv))
    inverse = machine_code(robot.mass_matrix_inverse, (robot.nq,))

    def code(self, key, evaluations, many):
        function = forward if key == 'forward_dynamics' else inverse
        return Rows([], (), 19, ctypes.cast(function, ctypes.c_void_p).value, None)

    q, qd = np.array([[0.4, 0.1], [0.0, 0.45], [-0.4, 0.0]]), np.array([[9.0, 0.0], [0.0, 9.0], [-9.0, 1.0]])
    torque = np.random.default_rng(0).normal(size=(10, 2))
    options = {'duration': 0.1, 'step': 0.01, 'every': 2, 'limits': 'bounce', 'friction': friction}
    stepped = simulate(robot, q, qd, torque, **options)
    monkeypatch.setattr(compiled_motion, 'BLOCK', 2)
    monkeypatch.setattr(compiled_motion, 'is_possible', lambda: True)
    monkeypatch.setattr(Evaluator, 'rows', code)
    looped = simulate(robot, q, qd, torque, **options, threads=2)
    assert (looped.q == stepped.q).all() and (looped.qd == stepped.qd).all()
    np.testing.assert_allclose(looped.work, stepped.work, atol=1e-12)
    assert looped.q.max() <= 0.5 and (looped.qd[0, :, 0] < 0.0).any()
    monkeypatch.setattr(compiled_motion, 'BLOCK', 1)
    with pytest.raises(ArgumentError, match='of start state 1 is not finite after'):
        simulate(robot, q, 1e30 * qd * [[0.0], [1.0], [0.0]], torque, duration=0.1, step=0.01, method='euler')
