"""The loop over steps in plain Python, for its coverage: elsewhere it is compiled."""

import ctypes
from functools import partial

from support.robots.simulated_robots import closed, four_bar, limited, with_friction

import numpy as np
import pytest

from robot_dynamics_ros.codegen.states_code import RESULT, VECTOR, StatesCode, words_of_program
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.robot.described_robot import evaluator_of
from robot_dynamics_ros.robot.evaluator import Evaluator
from robot_dynamics_ros.simulation import compiled_motion, simulate

WITHOUT_NUMBA = pytest.mark.skipif(
    not numba_is_disabled(), reason='Numba is enabled: the loop is compiled, other tests compare it'
)


def program_of(method, *sizes):
    """Return the program that calls a method of a robot for each state, and the function of C in it."""
    size = np.size(method(*map(np.zeros, sizes)))

    def numbers(start, size):
        return np.ctypeslib.as_array(ctypes.cast(start, ctypes.POINTER(ctypes.c_double)), (size,))

    def call(none, words):
        starts = ctypes.cast(words, ctypes.POINTER(ctypes.c_int64))[: len(sizes) + 1]
        *vectors, result = map(numbers, starts, (*sizes, size))
        try:
            result[:] = np.ravel(method(*vectors))
        except (ArgumentError, ModelError):
            result[:] = np.nan
        return True

    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(call)
    arguments = [*((VECTOR + k, 0, 8 * n) for k, n in enumerate(sizes)), (RESULT, 0, 8 * size)]
    return words_of_program([(ctypes.cast(function, ctypes.c_void_p).value, 0, arguments)]), function


def code_that_calls(robot):
    """Return what stands for ``Evaluator.states_code``: code that calls the methods of a robot."""
    nq, nv, m = robot.nq, robot.nv, robot.model.arrays.constraints
    evaluator = evaluator_of(robot)
    programs = {
        'forward_dynamics': program_of(robot.forward_dynamics, nq, nv, nv),
        'mass_matrix_inverse': program_of(robot.mass_matrix_inverse, nq),
    }
    if m:
        programs |= {
            'loop_errors': program_of(robot.loop_errors, nq),
            'loop_rates': program_of(robot.loop_rates, nq, nv),
            'loop_jacobian': program_of(robot.loop_jacobian, nq),
            'loop_step': program_of(partial(evaluator.evaluate, 'loop_step', evaluator.inputs, None), nq, m),
        }

    def code(self, key, evaluations, many):
        return StatesCode(None, robot.model.arrays, *programs[key.name])

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
