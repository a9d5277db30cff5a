"""The loop over steps in plain Python, for its coverage: elsewhere it is compiled."""

import ctypes

from support.simulated_robots import limited, with_friction

import numpy as np
import pytest

from robot_dynamics_ros.compiler.array_call import Rows
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.evaluation.evaluator import Evaluator
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.simulation import fixed_steps, simulate, time_steps


@pytest.mark.skipif(not numba_is_disabled(), reason='Numba is enabled: the loop is compiled, other tests compare it')
@pytest.mark.parametrize('friction', [False, True])
def test_the_loop_as_plain_python(monkeypatch, friction):
    """It computes what steps from Python do, for two blocks of states; machine code is replaced by methods."""
    robot = with_friction(limited())
    forward, inverse = 1, 2

    def call(address, vectors, load, result, count, last):
        sizes = (robot.nq, robot.nv, robot.nv)[: 3 if address == forward else 1]
        rows = [
            np.ctypeslib.as_array(ctypes.cast(int(start), ctypes.POINTER(ctypes.c_double)), (count, size))
            for start, size in zip(vectors, sizes, strict=False)
        ]
        method = robot.forward_dynamics if address == forward else robot.mass_matrix_inverse
        try:
            result[:] = method(*rows).ravel()
        except (ArgumentError, ModelError):
            result[:] = np.nan

    def code(self, key, evaluations, many):
        return Rows([], (), 19, forward if key == 'forward_dynamics' else inverse, None)

    q, qd = np.array([[0.4, 0.1], [0.0, 0.45], [-0.4, 0.0]]), np.array([[9.0, 0.0], [0.0, 9.0], [-9.0, 1.0]])
    torque = np.random.default_rng(0).normal(size=(10, 2))
    options = {'duration': 0.1, 'step': 0.01, 'every': 2, 'limits': 'bounce', 'friction': friction}
    stepped = simulate(robot, q, qd, torque, **options)
    monkeypatch.setattr(fixed_steps, 'BLOCK', 2)
    monkeypatch.setattr(fixed_steps, 'is_possible', lambda: True)
    monkeypatch.setattr(time_steps, 'call_rows', call)
    monkeypatch.setattr(Evaluator, 'rows', code)
    looped = simulate(robot, q, qd, torque, **options, threads=2)
    assert (looped.q == stepped.q).all() and (looped.qd == stepped.qd).all()
    np.testing.assert_allclose(looped.work, stepped.work, atol=1e-12)
    assert looped.q.max() <= 0.5 and (looped.qd[0, :, 0] < 0.0).any()
    monkeypatch.setattr(fixed_steps, 'BLOCK', 1)
    with pytest.raises(ArgumentError, match='of start state 1 is not finite after'):
        simulate(robot, q, 1e30 * qd * [[0.0], [1.0], [0.0]], torque, duration=0.1, step=0.01, method='euler')
