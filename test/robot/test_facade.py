"""Every method of ``Robot`` against Pinocchio, for each form of its arguments."""

import copy
import inspect
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

from support.matrices import crossed, matrix
from support.robots.facade_robots import (
    FORMS,
    MERGED,
    METHOD,
    METHODS,
    ROBOT,
    ROBOTS,
    assert_close,
    call,
    expected,
    readonly,
    robot_of,
    same_bits,
    states,
)

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot, validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import wrench_inputs
from robot_dynamics_ros.robot.quantity_key import QuantityKey

pytestmark = pytest.mark.quick

OPERATIONAL = (  # not of every robot: test_operational_space.py
    'consistent_inverse',
    'nullspace_projector',
    'operational_space_bias',
    'operational_space_gravity',
    'operational_space_inertia',
    'operational_space_inertia_inverse',
)

OF_LOOPS = (  # test_closed_loops.py
    'closure_torque',
    'constraint_forces',
    'closing_step',  # and the next: control/arm/test_closed_mechanism.py
    'driven_motion',
    'impact',
    'loop_accelerations',
    'loop_errors',
    'loop_jacobian',
    'loop_rates',
)

OF_SPRINGS = ('spring_torque',)  # formats/test_mjcf_springs.py
OF_MOTORS = ('torque', 'acceleration')  # test_whole_torque.py

# What the methods return


def test_every_method_with_out_is_tested_here():
    public = {key: value for key, value in inspect.getmembers(Robot, inspect.isfunction) if key[0] != '_'}
    computing = {key for key, value in public.items() if 'out' in inspect.signature(value).parameters}
    assert computing == {*METHODS, *OPERATIONAL, *OF_LOOPS, *OF_SPRINGS, *OF_MOTORS}
    assert {key for key in public if key not in computing} == {
        'casadi',
        'chain',
        'close_loops',
        'compiled',
        'export_c',
        'jax',
        'torch',
        'base_parameters',
        'address',
        'kernel',
        'mobility',
        'neutral',
        'prepare',
        'random',
        'to_urdf',
        'to_yaml',
        'with_actuators',
        'with_attached',
        'with_base_orientation',
        'with_consistent_inertias',
        'with_friction',
        'with_limits',
        'with_residual',
        'with_gravity',
        'with_inertial_parameters',
        'with_locked_joints',
        'with_loops',
        'with_payload',
        'with_rotor_inertia',
        'without_payload',
    }


SHAPES = [(), (1,), (5,), (2, 3), (2, 1, 2)]


@pytest.mark.parametrize(('method', 'name', 'batch'), crossed(METHODS, ROBOTS, SHAPES), ids=str)
def test_one_state_or_any_batch(name, method, batch):
    arguments = states(name, method, batch)
    result = call(name, method, arguments)
    item = METHODS[method][1](robot_of(name).nv)
    rows = [expected(name, method, [a[index] for a in arguments]) for index in np.ndindex(batch)]
    assert_close(result, np.reshape(rows, (*batch, *item)))
    assert result.dtype == np.float64


@pytest.mark.parametrize(('method', 'name', 'batch'), crossed(METHODS, ROBOTS, [(0,), (3, 0), (0, 2)]), ids=str)
def test_an_empty_batch(name, method, batch):
    result = call(name, method, states(name, method, batch))
    assert result.shape == (*batch, *METHODS[method][1](robot_of(name).nv))


@METHOD
@ROBOT
def test_a_batch_has_the_bits_of_its_states(name, method):
    arguments = states(name, method, (2, 3))
    result = call(name, method, arguments)
    for index in np.ndindex(2, 3):
        assert same_bits(np.array(result[index]), call(name, method, [a[index] for a in arguments]))


SEVERAL = [method for method in METHODS if ' ' in METHODS[method][0]]
BATCHES = [((), (4,), (3, 1)), ((2, 1), (), (3,)), ((1,), (5,), (5,))]


@pytest.mark.parametrize(('method', 'name', 'batches'), crossed(SEVERAL, ROBOTS, BATCHES), ids=str)
def test_arguments_broadcast_against_each_other(name, method, batches):
    count = len(METHODS[method][0].split())
    arguments = [states(name, method, batch, seed=k)[0] for k, batch in enumerate(batches[:count])]
    shape = np.broadcast_shapes(*(a.shape for a in arguments))
    apart = call(name, method, [np.broadcast_to(a, shape).copy() for a in arguments])
    assert same_bits(call(name, method, arguments), apart)
    assert apart.shape == (*shape[:-1], *METHODS[method][1](robot_of(name).nv))


# What may come in


@pytest.mark.parametrize(('method', 'name', 'form'), crossed(METHODS, ROBOTS, FORMS))
def test_the_same_numbers_in_another_form_yield_the_same_bits(name, method, form):
    arguments = states(name, method, (4,))
    plain = call(name, method, arguments)
    assert same_bits(call(name, method, [FORMS[form](a) for a in arguments]), plain)


@pytest.mark.parametrize('form', FORMS)
def test_kernels_get_one_form_only(form):
    """Read-only and strided arrays are other types to Numba, which would compile every kernel once more for them."""
    given = np.random.default_rng(0).normal(size=(4, 6))
    (rows, repeated), shape = validation.states({'q': 6, 'qd': 6}, q=FORMS[form](given), qd=np.zeros(6))
    wrenches = FORMS[form](np.zeros((4, 7, 6)))
    _, wrenches = wrench_inputs.rows_on_links(robot_of('aubo_i5').model, wrenches, 'local', (given,), None)
    (of_links,), _ = validation.states({'wrenches': 42}, wrenches=wrenches)
    assert (rows.shape, repeated.shape, of_links.shape, shape) == ((4, 6), (4, 6), (4, 42), (4,))
    for array in (rows, repeated, of_links):
        assert array.flags.c_contiguous and array.flags.writeable and array.dtype == np.dtype('=f8')


def test_what_is_in_the_form_already_is_not_copied():
    q, out = np.zeros((2, 3, 6)), np.empty((2, 3, 6))
    (rows,), shape = validation.states({'q': 6}, q=q)
    assert np.shares_memory(rows, q) and shape == (2, 3)
    assert all(array is out for array in validation.result(out, (2, 3, 6)))


@pytest.mark.parametrize(('method', 'dtype'), crossed(METHODS, ['float32', 'float16', 'int64', 'int8', 'uint16']))
def test_numbers_of_another_type_yield_the_bits_of_their_float64(method, dtype):
    arguments = [np.abs(3 * a).astype(dtype) for a in states('aubo_i5', method, (4,))]
    plain = call('aubo_i5', method, [a.astype(np.float64) for a in arguments])
    assert same_bits(call('aubo_i5', method, arguments), plain)


@METHOD
@ROBOT
def test_no_input_is_changed(name, method):
    arguments = states(name, method, (4,))
    before = [a.tobytes() for a in arguments]
    call(name, method, arguments)
    assert [a.tobytes() for a in arguments] == before


@pytest.mark.parametrize('method', ['inverse_dynamics', 'forward_dynamics'])
def test_no_wrench_is_changed(method):
    arguments, wrench = states('aubo_i5', method, (4,)), np.arange(6.0)
    wrenches, many = {'ee_link': wrench, 'wrist3_Link': wrench}, np.ones((4, 7, 6))
    for given in (wrenches, many):
        call('aubo_i5', method, arguments, wrenches=given)
    assert wrenches == {'ee_link': wrench, 'wrist3_Link': wrench}
    assert wrench.tolist() == [0, 1, 2, 3, 4, 5] and (many == 1).all()


# out=


@pytest.mark.parametrize(('method', 'name', 'batch'), crossed(METHODS, ROBOTS, [(), (4,), (2, 3), (0,)]), ids=str)
def test_out_is_written_in_place_and_returned(name, method, batch):
    arguments = states(name, method, batch)
    plain = call(name, method, arguments)
    out = np.full(plain.shape, np.nan)
    assert call(name, method, arguments, out=out) is out
    assert same_bits(out, plain)


@METHOD
@ROBOT
def test_out_may_be_any_view_and_nothing_around_it_is_written(name, method):
    arguments = states(name, method, (4,))
    plain = call(name, method, arguments)
    everything = np.full((9, *(size + 2 for size in plain.shape[1:])), np.nan)
    out = everything[(slice(1, 9, 2), *(slice(1, -1) for _ in plain.shape[1:]))]
    assert not out.flags.c_contiguous
    assert call(name, method, arguments, out=out) is out
    assert same_bits(np.ascontiguousarray(out), plain)
    assert np.isnan(everything).sum() == everything.size - plain.size


@pytest.mark.parametrize('method', [m for m in METHODS if METHODS[m][1](5) == (5,)])
@ROBOT
def test_out_may_be_an_argument(name, method):
    plain = call(name, method, states(name, method, (4,)))
    for k in range(len(METHODS[method][0].split())):
        arguments = states(name, method, (4,))
        assert same_bits(call(name, method, arguments, out=arguments[k]), plain)
        wide = np.concatenate([states(name, method, (4,))[k], arguments[k][:1]])
        arguments = states(name, method, (4,))
        arguments[k] = wide[:-1]  # each result is where the next state was
        assert same_bits(call(name, method, arguments, out=wide[1:]), plain)


@METHOD
@pytest.mark.parametrize('batch', [(), (4,)], ids=str)
def test_out_may_have_come_from_another_process(method, batch):
    arguments = states('aubo_i5', method, batch)
    plain = call('aubo_i5', method, arguments)
    out = pickle.loads(pickle.dumps(np.full(plain.shape, np.nan)))
    assert call('aubo_i5', method, arguments, out=out) is out
    assert same_bits(out, plain)


@METHOD
def test_out_that_does_not_fit_the_result_is_refused(method):
    arguments = states('aubo_i5', method, (4,))
    shape = call('aubo_i5', method, arguments).shape
    for out in (
        np.empty((*shape, 1)),
        np.empty((5, *shape[1:])),
        np.empty(shape[1:]),
        np.empty(shape, np.float32),
        np.empty(shape, int),
        np.empty(shape, complex),
        readonly(np.empty(shape)),
        np.empty(shape).tolist(),
    ):
        before = out.copy()
        with pytest.raises(ArgumentError, match=r'^out: expected a writable float64 array of shape') as error:
            call('aubo_i5', method, arguments, out=out)
        assert str(shape) in str(error.value)
        assert out == before if isinstance(out, list) else out.tobytes() == before.tobytes()


# Robots don't share anything that changes


@METHOD
@ROBOT
def test_a_result_belongs_to_the_caller(name, method):
    arguments = states(name, method, (4,))
    first = call(name, method, arguments)
    kept = first.copy()
    second = call(name, method, states(name, method, (4,), seed=1))
    assert same_bits(first, kept)
    first[...], second[...] = np.nan, np.nan
    assert same_bits(call(name, method, arguments), kept)
    robot = robot_of(name)
    own = [value for value in (*vars(robot).values(), robot._setting.gravity) if isinstance(value, np.ndarray)]
    generic = robot._evaluator.generic
    inside = [*robot._model.arrays, *generic._shared.work, *generic._own.memory.work, *own]
    assert len(own) >= 4  # gravity, loads, zeros
    assert not any(np.shares_memory(first, array) for array in inside)


def test_arrays_of_a_robot_cannot_change_it():
    robot = robot_of('tree')
    robot.gravity[:] = 0.0
    assert robot.gravity.tolist() == [1.0, -2.0, -9.0]
    for array in (robot.rotor_inertia, robot.rotor_spin, *robot.limits, *robot.friction, *robot.actuators):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1.0


def test_a_robot_of_a_file_is_refused_with_what_reads_it():
    with pytest.raises(ArgumentError, match=r"^model: expected a Model, got 'arm\.urdf'; Robot\.from_description "):
        Robot('arm.urdf')


def test_gravity_is_copied():
    given = np.array([0.0, 0.0, -9.81])
    robot = robot_of('aubo_i5').with_gravity(given)
    given[:] = 0.0
    assert robot.gravity.tolist() == [0.0, 0.0, -9.81]


@pytest.mark.parametrize('method', matrix(METHODS, [*METHODS][::4]))
def test_threads_share_a_robot(method):
    name, count = 'aubo_i5', 4
    batches = [states(name, method, (3000,), seed=k) for k in range(count)]
    alone = [call(name, method, arguments) for arguments in batches]
    with ThreadPoolExecutor(count) as pool:
        together = list(pool.map(lambda k: call(name, method, batches[k % count]), range(3 * count)))
    assert all(same_bits(result, alone[k % count]) for k, result in enumerate(together))


@pytest.mark.parametrize('copied', [copy.copy, copy.deepcopy, lambda robot: pickle.loads(pickle.dumps(robot))])
@ROBOT
def test_a_copy_is_the_same_robot(name, copied):
    robot = robot_of(name)
    other = copied(robot)
    assert repr(other) == repr(robot) and other.frame_names == robot.frame_names and other.findings == robot.findings
    for field in ('limits', 'friction', 'actuators'):
        for one, two in zip(getattr(robot, field), getattr(other, field), strict=True):
            assert same_bits(one, two)
    arguments = states(name, 'inverse_dynamics', (3,))
    wrenches = {MERGED[name]: np.arange(6.0)}
    results = [call(name, 'inverse_dynamics', arguments, r, wrenches=wrenches) for r in (robot, other)]
    assert same_bits(*results)


ANOTHER = {
    'copy': copy.copy,
    'deep copy': copy.deepcopy,
    'pickle': lambda robot: pickle.loads(pickle.dumps(robot)),
    'gravity': lambda robot: robot.with_gravity((0.0, 0.0, 9.81)),
    'payload': lambda robot: robot.with_payload(Payload(1.0, (0.0, 0.0, 0.1))),
    'actuators': lambda robot: robot.with_actuators({'rotor_inertia': dict.fromkeys(robot.joint_names, 0.1)}),
}


@pytest.mark.parametrize('way', ANOTHER)
@pytest.mark.parametrize('threads', [1, 3, None])
def test_another_robot_keeps_to_as_many_threads(way, threads, monkeypatch):
    robot = robot_of('aubo_i5').compiled(threads=threads)
    another = ANOTHER[way](robot)
    # None is all cores, those of another machine where a pickle is read there
    monkeypatch.setattr(os, 'sched_getaffinity', lambda process: set(range(7)))
    for it in (another, pickle.loads(pickle.dumps(another))):
        evaluator = it._evaluator
        assert evaluator._own_code(evaluator.program(QuantityKey('gravity_torque'))).threads == (threads or 7)


@pytest.mark.parametrize('copied', [copy.deepcopy, lambda robot: pickle.loads(pickle.dumps(robot))])
def test_a_copy_cannot_be_changed_either(copied):
    """Writable model arrays are also another type to Numba: every kernel would be compiled once more."""
    robot = copied(robot_of('tree'))
    assert not [field for field, array in robot._model.arrays._asdict().items() if array.flags.writeable]
    for array in (robot.rotor_inertia, robot.rotor_spin, *robot.limits, *robot.friction, *robot.actuators):
        assert not array.flags.writeable
