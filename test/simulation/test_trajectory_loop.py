"""The loop over steps in plain Python, for its coverage: elsewhere it is compiled."""

import ctypes
from functools import partial

from support.simulated_robots import closed, four_bar, limited, with_friction

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.evaluation.described_robot import evaluator_of
from robot_dynamics_ros.evaluation.evaluator import Evaluator
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.native.states_code import StatesCode
from robot_dynamics_ros.simulation import compiled_motion, simulate

WITHOUT_NUMBA = pytest.mark.skipif(
    not numba_is_disabled(), reason='Numba is enabled: the loop is compiled, other tests compare it'
)


def machine_code(method, sizes):
    """Return a function of C that calls a method of a robot for states in rows."""

    def numbers(start, *shape):
        return np.ctypeslib.as_array(ctypes.cast(start, ctypes.POINTER(ctypes.c_double)), shape)

    def call(vectors, runtime_inputs, result, count, program, streamed):
        starts = ctypes.cast(vectors, ctypes.POINTER(ctypes.c_int64))
        rows = [numbers(start, count, size) for start, size in zip(starts[: len(sizes)], sizes, strict=True)]
        try:
            found = method(*rows)
        except (ArgumentError, ModelError):
            found = np.full(method(*(np.zeros((count, size)) for size in sizes)).shape, np.nan)
        numbers(result, *found.shape)[:] = found
        return True

    return ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_int64] * 6)(call)


def code_that_calls(robot):
    """Return what stands for ``Evaluator.states_code``: code that calls the methods of a robot."""
    nq, nv, m = robot.nq, robot.nv, robot.model.arrays.constraints
    evaluator = evaluator_of(robot)
    functions = {
        'forward_dynamics': machine_code(robot.forward_dynamics, (nq, nv, nv)),
        'mass_matrix_inverse': machine_code(robot.mass_matrix_inverse, (nq,)),
        'loop_errors': machine_code(robot.loop_errors, (nq,)),
        'loop_rates': machine_code(robot.loop_rates, (nq, nv)),
        'loop_jacobian': machine_code(robot.loop_jacobian, (nq,)),
        'loop_step': machine_code(partial(evaluator.evaluate, 'loop_step', evaluator.inputs, None), (nq, m)),
    }
    programs = {key: np.array([ctypes.cast(it, ctypes.c_void_p).value]) for key, it in functions.items()}

    def code(self, key, evaluations, many):
        # a program begins with the address of what runs it
        return StatesCode([], (), 19, programs[key], functions)

    return code


@WITHOUT_NUMBA
@pytest.mark.parametrize('friction', [False, True])
def test_the_loop_as_plain_python(monkeypatch, friction):
    """It computes what steps from Python do, for two blocks of states; methods are called back as machine code."""
    robot = with_friction(limited())
    q, qd = np.array([[0.4, 0.1], [0.0, 0.45], [-0.4, 0.0]]), np.array([[9.0, 0.0], [0.0, 9.0], [-9.0, 1.0]])
    torque = np.random.default_rng(0).normal(size=(10, 2))
    options = {'duration': 0.1, 'step': 0.01, 'every': 2, 'limits': 'bounce', 'friction': friction}
    stepped = simulate(robot, q, qd, torque, **options)
    monkeypatch.setattr(compiled_motion, 'BLOCK', 2)
    monkeypatch.setattr(compiled_motion, 'numba_is_disabled', lambda: False)
    monkeypatch.setattr(Evaluator, 'states_code', code_that_calls(robot))
    looped = simulate(robot, q, qd, torque, **options, threads=2)
    assert (looped.q == stepped.q).all() and (looped.qd == stepped.qd).all()
    np.testing.assert_allclose(looped.work, stepped.work, atol=1e-12)
    assert looped.q.max() <= 0.5 and (looped.qd[0, :, 0] < 0.0).any()
    monkeypatch.setattr(compiled_motion, 'BLOCK', 1)
    with pytest.raises(ArgumentError, match='of start state 1 is not finite after'):
        simulate(robot, q, 1e30 * qd * [[0.0], [1.0], [0.0]], torque, duration=0.1, step=0.01, method='euler')


@WITHOUT_NUMBA
def test_closed_loops_as_plain_python(monkeypatch):
    """Through an impact at a position limit."""
    robot = four_bar(lower=1.4, upper=1.7, gain=0.0)
    q, qd = closed(robot, [1.0, -0.5, 1.6], [6.0, 0.0, 0.0])
    q, qd = np.array([q, q]), np.array([qd, -qd])
    options = {'duration': 0.1, 'step': 0.01, 'limits': 'bounce', 'method': 'semi_implicit'}
    stepped = simulate(robot, q, qd, np.zeros((10, 3)), **options)
    monkeypatch.setattr(compiled_motion, 'numba_is_disabled', lambda: False)
    monkeypatch.setattr(Evaluator, 'states_code', code_that_calls(robot))
    looped = simulate(robot, q, qd, np.zeros((10, 3)), **options, threads=1)
    assert (looped.q == stepped.q).all() and (looped.qd == stepped.qd).all()
    assert looped.loop_rate.max() < 1e-9 and (np.diff(np.sign(looped.qd[..., 2])) != 0).any(axis=1).all()
