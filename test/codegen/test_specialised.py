"""The specialised binding: the same bits as the generic kernels, for which robots, and how it is called."""

import ctypes
import pickle

from support.code.bindings import shared
from support.matrices import matrix
from support.robots import random_trees as trees

import numba
import numpy as np
import pytest
from numba.core.event import install_recorder

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.algorithms.table import ALGORITHMS
from robot_dynamics_ros.codegen import kept_code, specialised
from robot_dynamics_ros.codegen.kept_code import lanes, object_file
from robot_dynamics_ros.codegen.specialised import Specialised, folder_of
from robot_dynamics_ros.codegen.straight_line import StraightLine, needed
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.digest import robot_digest

SPECIALISED = [name for name, it in ALGORITHMS.items() if hasattr(Robot, name) and not it.of_loops]
TREE = trees.random_joints(11, count=5, chain=0.4)


def models():
    return {'aubo_i5': Robot.named('aubo_i5')._model, 'tree': trees.Model.of('tree', trees.BASE, TREE)}


def pair(model):
    """Return a robot answered by generic kernels and by specialised code."""
    robot = Robot(model, (0.4, -1.0, -9.7))
    return shared(robot), robot.compiled()


def states(robot, name, count, seed=0):
    return np.random.default_rng(seed).normal(size=(len(ALGORITHMS[name].inputs), count, robot.nv))


def test_changes_of_sign_make_no_code_too_long(monkeypatch):
    """Compilers fold them into the operations around them."""
    arrays = models()['aubo_i5'].arrays
    program = program_of(arrays, 'inverse_dynamics')
    values = needed(StraightLine.of(program, arrays).results)
    longest = sum(value.operation != 'neg' for value in values) + 2 * program.size
    assert longest < len(values) + 2 * program.size
    for most in (longest, longest - 1):
        monkeypatch.setattr(specialised, 'MOST_OPERATIONS', most)
        assert Specialised(arrays).is_short(program, blocks=False) is (most == longest)


def test_bits_do_not_depend_on_cores():
    count = 4 * 8192 + 3
    model = models()['aubo_i5']
    rows = states(Robot(model), 'inverse_dynamics', count)
    results = [Robot(model).compiled(threads=threads).inverse_dynamics(*rows) for threads in (1, 2, 4)]
    assert (results[0] == results[1]).all() and (results[0] == results[2]).all()
    assert (results[0][-1] == Robot(model).inverse_dynamics(*rows[:, -1])).all()


@pytest.mark.parametrize('name', SPECIALISED)
@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_a_folded_zero_swallows_nothing(name, value):
    _, robot = pair(models()['aubo_i5'])
    for argument, vector in enumerate(ALGORITHMS[name].inputs):
        for joint in range(robot.nv):
            one = states(robot, name, 1)[:, 0]
            one[argument, joint] = value
            with pytest.raises(ArgumentError, match=rf'{vector}\[{joint}\]'):
                getattr(robot, name)(*one)
            many = states(robot, name, 70)
            many[argument, 66, joint] = value
            with pytest.raises(ArgumentError, match=rf'{vector}\[66, {joint}\]'):
                getattr(robot, name)(*many)


def test_gravity_and_payload_compile_nothing(monkeypatch):
    robot = Robot.named('aubo_i5').compiled('inverse_dynamics')
    q, qd, qdd = states(robot, 'inverse_dynamics', 1)[:, 0]
    robot.inverse_dynamics(q, qd, qdd)
    monkeypatch.setattr(kept_code, 'host_object', None)  # LLVM
    with install_recorder('numba:compile') as compiled:
        carrying = robot.with_payload(Payload(3.0, (0.1, 0.02, 0.3), 0.01 * np.eye(3))).with_gravity((1.0, 2.0, 3.0))
        tau = carrying.inverse_dynamics(q, qd, qdd)
        assert compiled.buffer == []
        numba.njit(lambda x: x + 1)(1)
        assert compiled.buffer, 'the recorder sees nothing'
    assert carrying.is_compiled
    assert (tau == shared(carrying).inverse_dynamics(q, qd, qdd)).all()
    assert robot_digest(carrying._model.arrays) == robot_digest(robot._model.arrays)


def test_with_a_payload_on_another_link_the_generic_kernels_compute():
    robot = Robot.named('aubo_i5').compiled().with_payload(Payload(1.0, (0.0, 0.0, 0.1)), 'foreArm_Link')
    assert not robot.is_compiled


def test_another_constant_is_another_robot():
    arrays = models()['aubo_i5'].arrays
    for field in ('E0', 'Ec', 'Es', 'r0', 'r1', 'S', 'rotor', 'spin'):
        changed = np.array(getattr(arrays, field))
        changed.flat[-1] += 1e-9
        assert robot_digest(arrays._replace(**{field: changed})) != robot_digest(arrays), field
    inertia = np.array(arrays.I)
    inertia[2, 4] += 1e-9
    assert robot_digest(arrays._replace(I=inertia)) != robot_digest(arrays)
    parent = np.array(arrays.parent)
    parent[-1] -= 1
    assert robot_digest(arrays._replace(parent=parent)) != robot_digest(arrays)


@pytest.mark.parametrize('count', matrix([20, 40], [20]))
def test_large_robots_have_code_of_their_own(count):
    large = Robot(trees.Model.of('large', trees.BASE, trees.random_joints(3, count=count)))
    own, generic = large.compiled(), shared(large)
    rows = states(large, 'inverse_dynamics', 40)
    assert (own.inverse_dynamics(*rows) == generic.inverse_dynamics(*rows)).all()
    assert object_file(folder_of(own._evaluator.arrays), 'inverse_dynamics').exists()
    assert own.is_compiled and pickle.loads(pickle.dumps(own)).is_compiled


# each is compiled once more with its caller, the larger ones for seconds
@pytest.mark.parametrize('name', matrix(SPECIALISED, ['inverse_dynamics', 'gravity_torque', 'mass_matrix']))
def test_a_kernel_can_be_called_from_compiled_code(name):
    robot = Robot.named('aubo_i5').with_payload(Payload(2.0, (0.1, 0.0, 0.2)))
    kernel, runtime_inputs = robot.kernel(name), robot.runtime_inputs
    *vectors, result = [
        *states(robot, name, 1)[:, 0],
        np.empty(program_of(robot._evaluator.arrays, name).size),
    ]
    call = numba.njit(lambda *arguments: kernel(*arguments) and True)
    assert call(*vectors, runtime_inputs, result)
    assert (result.reshape(getattr(robot, name)(*vectors).shape) == getattr(robot, name)(*vectors)).all()
    vectors[0][2] = np.nan
    assert not call(*vectors, runtime_inputs, result)


def test_a_kernel_refuses_arrays_that_it_cannot_read():
    kernel, arrays = Robot.named('aubo_i5').kernel('gravity_torque'), (np.zeros(6), np.zeros(19), np.zeros(6))
    assert kernel(*arrays) and (arrays[2] == 0.0).all()
    for wrong in (np.zeros(12)[::2], np.zeros(6, np.float32), 1.0):
        with pytest.raises(numba.TypingError, match='expected 3 C-contiguous arrays of float64'):
            kernel(wrong, *arrays[1:])
    with pytest.raises(numba.TypingError, match='expected 3 C-contiguous arrays of float64'):
        kernel(*arrays[1:])


@pytest.mark.parametrize('name', SPECIALISED)
def test_a_program_can_be_called_from_c(name):
    robot = Robot.named('aubo_i5').with_payload(Payload(2.0, (0.1, 0.0, 0.2)))
    vectors = [*states(robot, name, 1)[:, 0]]
    expected = getattr(robot, name)(*vectors)
    result = np.empty_like(expected)
    arrays = [*vectors, robot.runtime_inputs, result]
    in_c = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_void_p] * len(arrays))(robot.address(name))
    assert in_c(*(array.ctypes.data for array in arrays)) is True
    assert (result == expected).all()
    vectors[0][2] = np.nan
    assert in_c(*(array.ctypes.data for array in arrays)) is False


def test_a_result_may_be_one_number():
    robot = Robot(models()['tree'])
    arrays = robot._model.arrays
    code, program = Specialised(arrays), program_of(arrays, 'kinetic_energy')
    call, rows = code.states_code(program, blocks=True).function(), states(robot, 'kinetic_energy', 2 * lanes() + 3)
    result, one = call(*rows, robot.runtime_inputs, None), call(*rows[:, 5], robot.runtime_inputs, None)
    assert result.shape == (2 * lanes() + 3,) and one.shape == ()
    assert (result == robot.kinetic_energy(*rows)).all() and one == result[5] > 0.0


@pytest.mark.parametrize('form', ['kernel', 'address'])
def test_a_program_that_is_not_there_is_refused(form):
    robot = Robot.named('aubo_i5')
    with pytest.raises(ArgumentError, match=r"^program: expected one of inverse_dynamics, .*, got 'rnea'$"):
        getattr(robot, form)('rnea')
