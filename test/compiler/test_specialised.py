"""The specialised binding: the same bits as the generic kernels, kept safely, and compiled once."""

import ctypes
import os
import pickle
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import random_trees as trees
from support.matrices import matrix

import numba
import numpy as np
import pytest
from numba.core.event import install_recorder

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.compiler import compiled_robot, numpy_abi
from robot_dynamics_ros.compiler.algorithms import ALGORITHMS, MOST_VELOCITIES_OF_DERIVATIVES
from robot_dynamics_ros.compiler.batch_layout import LANES
from robot_dynamics_ros.compiler.compiled_robot import (
    MOST_JOINTS,
    ROBOTS,
    SMALLEST_PART,
    Specialised,
    code_of,
    robot_digest,
)
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.cache import FOLDER
from robot_dynamics_ros.model.regrouping import regrouped

SPECIALISED = [name for name, algorithm in ALGORITHMS.items() if algorithm.most_velocities]
TREE = trees.random_joints(11, count=5, chain=0.4)


def models():
    return {'aubo_i5': Robot.named('aubo_i5')._model, 'tree': trees.Model.of('tree', trees.BASE, TREE)}


def pair(model):
    """Return a robot answered by generic kernels and by specialised code."""
    robot = Robot(model, (0.4, -1.0, -9.7))
    return robot.with_binding('generic'), robot.with_binding('specialised')


def states(robot, name, count, seed=0):
    return np.random.default_rng(seed).normal(size=(len(ALGORITHMS[name].inputs), count, robot.nv))


def test_bits_do_not_depend_on_cores():
    count = 4 * SMALLEST_PART + 3
    model = models()['aubo_i5']
    rows = states(Robot(model), 'inverse_dynamics', count)
    results = [Robot(model).with_binding('specialised', threads).inverse_dynamics(*rows) for threads in (1, 2, 4)]
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


def test_gravity_and_payload_compile_nothing():
    robot = Robot.named('aubo_i5')
    q, qd, qdd = states(robot, 'inverse_dynamics', 1)[:, 0]
    robot.inverse_dynamics(q, qd, qdd)
    with install_recorder('numba:compile') as compiled:
        carrying = robot.with_payload(Payload(3.0, (0.1, 0.02, 0.3), 0.01 * np.eye(3))).with_gravity((1.0, 2.0, 3.0))
        tau = carrying.inverse_dynamics(q, qd, qdd)
        assert compiled.buffer == []
        numba.njit(lambda x: x + 1)(1)
        assert compiled.buffer, 'the recorder sees nothing'
    assert carrying.binding == 'specialised'
    assert (tau == carrying.with_binding('generic').inverse_dynamics(q, qd, qdd)).all()
    assert robot_digest(carrying._model.arrays) == robot_digest(robot._model.arrays)


def test_a_payload_elsewhere_is_answered_by_the_generic_kernels():
    robot = Robot.named('aubo_i5').with_payload(Payload(1.0, (0.0, 0.0, 0.1)), 'foreArm_Link')
    assert robot.binding == 'generic'


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


def test_large_robots_keep_the_generic_kernels():
    joints = trees.random_joints(3, count=MOST_JOINTS + 1)
    robot = Robot(trees.Model.of('large', trees.BASE, joints)).with_binding('specialised')
    assert robot.binding == 'generic'


def test_how_many_joints_are_specialised_is_a_setting():
    robot = Robot.named('aubo_i5')
    assert robot.with_binding('specialised', most_joints=5).binding == 'generic'
    assert robot.with_binding('specialised', most_joints=6).binding == 'specialised'
    joints = trees.random_joints(3, count=MOST_JOINTS + 1)
    large = Robot(trees.Model.of('large', trees.BASE, joints)).with_binding('specialised', most_joints=MOST_JOINTS + 1)
    assert large.binding == pickle.loads(pickle.dumps(large)).binding == 'specialised'


# each is compiled once more with its caller, the larger ones for seconds
@pytest.mark.parametrize('name', matrix(SPECIALISED, ['inverse_dynamics', 'gravity_torque', 'mass_matrix']))
def test_a_kernel_can_be_called_from_compiled_code(name):
    robot = Robot.named('aubo_i5').with_payload(Payload(2.0, (0.1, 0.0, 0.2)))
    kernel, load = robot.kernel(name), robot.load
    *vectors, result = [
        *states(robot, name, 1)[:, 0],
        np.empty(np.prod(ALGORITHMS[name].shape_of(robot._evaluator.arrays))),
    ]
    call = numba.njit(lambda *arguments: kernel(*arguments) and True)
    assert call(*vectors, load, result)
    assert (result.reshape(getattr(robot, name)(*vectors).shape) == getattr(robot, name)(*vectors)).all()
    vectors[0][2] = np.nan
    assert not call(*vectors, load, result)


@pytest.mark.parametrize('name', SPECIALISED)
def test_a_program_can_be_called_from_c(name):
    robot = Robot.named('aubo_i5').with_payload(Payload(2.0, (0.1, 0.0, 0.2)))
    vectors = [*states(robot, name, 1)[:, 0]]
    expected = getattr(robot, name)(*vectors)
    result = np.empty_like(expected)
    arrays = [*vectors, robot.load, result]
    in_c = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_void_p] * len(arrays))(robot.address(name))
    assert in_c(*(array.ctypes.data for array in arrays)) is True
    assert (result == expected).all()
    vectors[0][2] = np.nan
    assert in_c(*(array.ctypes.data for array in arrays)) is False


def test_a_result_may_be_one_number():
    robot = Robot(models()['tree'])
    code = Specialised(robot._model.arrays)
    code.add('energy', ALGORITHMS['kinetic_energy']._replace(most_velocities=robot.nv))
    rows, result, one = states(robot, 'kinetic_energy', 2 * LANES + 3), np.empty(2 * LANES + 3), np.empty(())
    assert code.batch.energy(*rows, robot.load, result) and code.single.energy(*rows[:, 5], robot.load, one)
    assert (result == robot.kinetic_energy(*rows)).all() and one == result[5] > 0.0


@pytest.mark.parametrize('form', ['kernel', 'address'])
def test_a_program_that_is_not_there_is_refused(form):
    robot = Robot.named('aubo_i5')
    with pytest.raises(ArgumentError, match=r"^program: expected one of inverse_dynamics, .*, got 'rnea'$"):
        getattr(robot, form)('rnea')
    with pytest.raises(ArgumentError, match='generic'):
        getattr(robot.with_binding('generic'), form)('inverse_dynamics')


def test_an_unknown_binding_is_refused():
    with pytest.raises(ArgumentError, match='generic, specialised'):
        Robot.named('aubo_i5').with_binding('fast')


# What is kept


def test_code_is_made_once_for_robots_of_the_same_constants():
    arrays = regrouped(models()['tree'].arrays)
    code = code_of(arrays, 1)
    assert code_of(type(arrays)(*(array.copy() for array in arrays)), 1) is code
    assert code_of(arrays, 2) is not code
    heavier = arrays._replace(I=np.concatenate([arrays.I[:-1], 2.0 * arrays.I[-1:]]))
    assert code_of(heavier, 1) is code
    other = arrays._replace(I=2.0 * arrays.I)
    assert code_of(other, 1) is not code


def test_threads_that_ask_at_once_get_the_same_code():
    """Or one of them would hold the address of code that nobody keeps."""
    both = threading.Barrier(2)

    def make(name):
        both.wait(10.0)
        return object()

    made = compiled_robot._OnDemand({'program': None}, make)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: made.program, range(2))
    assert one is other is made.program


def test_the_code_of_many_robots_is_forgotten_oldest_first():
    arrays = regrouped(models()['tree'].arrays)
    made = [code_of(arrays, threads) for threads in range(1, compiled_robot.MOST_KEPT + 1)]
    assert code_of(arrays, 1) is made[0]  # which makes the second one the oldest
    assert code_of(arrays, len(made) + 1) not in made
    assert code_of(arrays, 1) is made[0]
    assert code_of(arrays, 2) is not made[1]


def generated(name='gravity_torque') -> Path:
    arrays = regrouped(models()['tree'].arrays)
    Specialised(arrays).single.__getattr__(name)
    return ROBOTS / robot_digest(arrays) / f'{name}.py'


def gravity_torque():
    compiled_robot._kept.clear()  # as in a process that has not made it yet
    robot = pair(models()['tree'])[1]
    return robot.gravity_torque(np.ones(robot.nv))


@pytest.mark.parametrize(
    'damage',
    [
        lambda text: text[: len(text) // 2],
        lambda text: '',
        lambda text: text.replace(' + ', ' - ', 1),
        lambda text: 'raise SystemExit\n' + text,
        lambda text: text + '\nraise SystemExit\n',
    ],
    ids=['torn', 'empty', 'edited', 'put before', 'put behind'],
)
def test_a_torn_or_foreign_file_is_written_anew(damage):
    path, expected = generated(), gravity_torque()
    good = path.read_text()
    path.write_text(damage(good))
    assert (gravity_torque() == expected).all()
    assert path.read_text() == good


@pytest.fixture
def machine_code():
    """The files of compiled code of the tree's gravity torque; none is left afterwards."""
    gravity_torque()
    kept = list(FOLDER.glob(f'{generated().parent.name}_*/gravity_torque.gravity_torque-*'))
    assert kept
    yield kept
    for path in kept:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize(
    'damage', [lambda data: data[:-1], lambda data: b'', lambda data: data[:40] + b'x' + data[41:]]
)
def test_torn_or_foreign_machine_code_is_compiled_anew(damage, machine_code):
    expected = gravity_torque()
    for path in machine_code:
        path.write_bytes(damage(path.read_bytes()))
    assert (gravity_torque() == expected).all()


def opened_to_others(path: Path, elsewhere: Path):
    path.chmod(0o666)


def linked(path: Path, elsewhere: Path):
    path.rename(elsewhere / path.name)
    path.symlink_to(elsewhere / path.name)


@pytest.mark.parametrize('change', [opened_to_others, linked])
def test_what_somebody_else_may_have_written_is_made_anew(tmp_path, change, machine_code):
    """Its digest says nothing: whoever writes a file can write that too."""
    source, expected = generated(), gravity_torque()
    for path in (source, *machine_code):
        change(path, tmp_path)
    assert (gravity_torque() == expected).all()
    assert source.lstat().st_mode == stat.S_IFREG | 0o600
    assert any(path.lstat().st_mode == stat.S_IFREG | 0o600 for path in machine_code)


def test_the_folder_of_generated_files_is_private():
    folder = generated().parent
    assert folder.stat().st_mode & 0o777 == 0o700 and folder.stat().st_uid == os.getuid()


def test_names_of_a_description_never_reach_generated_code_or_a_path():
    names = {'link "evil"': 1, 'import os; os._exit(1)': 2}
    joints = [
        trees.dataclasses.replace(joint, name=name, link=f'../../{name} link', parent=parent)
        for joint, name, parent in zip(
            trees.random_joints(2, count=2, chain=1.0), names, (trees.BASE, '../../link "evil" link'), strict=True
        )
    ]
    model = trees.Model.of('"""\nraise SystemExit', trees.BASE, joints)
    robot = Robot(model).with_binding('specialised')
    assert np.isfinite(robot.gravity_torque([0.1, 0.2])).all()
    assert np.isfinite(robot.link_pose([0.1, 0.2], '../../link "evil" link')).all()
    text = (ROBOTS / robot_digest(regrouped(model.arrays)) / 'gravity_torque.py').read_text()
    for kept in (text, *map(str, FOLDER.rglob('*'))):
        assert not any(word in kept for word in ('evil', 'import os', 'Exit', 'link"'))
    made = {path.name.partition('_')[0] for path in (ROBOTS / robot_digest(regrouped(model.arrays))).glob('*.py')}
    assert made == {'gravity', 'link'}


PROGRAM = """
import numpy as np
from robot_dynamics_ros import Robot
robot = Robot.named('aubo_i5')
print(robot.binding, robot.gravity_torque(np.arange(6.0) / 7.0).tobytes().hex())
"""


def printed(**environment) -> str:
    done = subprocess.run(
        [sys.executable, '-c', PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_two_processes_that_start_at_once_do_not_spoil_each_other(tmp_path):
    command = [sys.executable, '-c', PROGRAM]
    environment = {**os.environ, 'XDG_CACHE_HOME': str(tmp_path)}
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    first, second = (process.communicate(timeout=120)[0].strip() for process in started)
    assert first == second == printed(XDG_CACHE_HOME=str(tmp_path))
    assert first.startswith('specialised ')


def test_without_numba_the_generic_kernels_answer():
    assert printed(NUMBA_DISABLE_JIT='1').startswith('generic ')


# Where arrays enter


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
def test_compiled_code_takes_nothing_but_what_it_knows(wrong):
    single = Specialised(models()['aubo_i5'].arrays).single.gravity_torque
    load, result = np.zeros(19), np.zeros(6)
    assert single(np.zeros(6), load, result) is True
    with pytest.raises(TypeError, match='C-contiguous float64 array'):
        single(wrong, load, result)
    with pytest.raises(TypeError, match='C-contiguous float64 array'):
        single(np.zeros(6), load, wrong)


def test_a_result_must_be_writable():
    single = Specialised(models()['aubo_i5'].arrays).single.gravity_torque
    result = np.zeros(6)
    result.flags.writeable = False
    with pytest.raises(TypeError, match='writable'):
        single(np.zeros(6), np.zeros(19), result)
    readonly = np.zeros(6)
    readonly.flags.writeable = False
    assert single(readonly, np.zeros(19), np.zeros(6)) is True


def test_derivatives_of_large_robots_are_the_generic_kernels():
    """No code is made for them, which would take minutes, unless a caller asks for the code itself."""
    joints = trees.random_joints(4, count=MOST_VELOCITIES_OF_DERIVATIVES + 1)
    large = Robot(trees.Model.of('large', trees.BASE, joints)).with_binding('specialised')
    state = np.random.default_rng(0).normal(size=(3, 2, large.nv))
    for name in ('inverse_dynamics_derivatives', 'forward_dynamics_derivatives'):
        expected = getattr(large.with_binding('generic'), name)(*state)
        assert (getattr(large, name)(*state) == expected).all()
        assert (getattr(large, name)(*state[:, 0]) == expected[0]).all()
    assert large.binding == 'specialised'
    assert not list((ROBOTS / robot_digest(large._evaluator.arrays)).glob('*_derivatives*'))


@pytest.mark.parametrize('count', [1, 5, 64, 65])
def test_an_argument_count_that_is_wrong_is_refused(count):
    single = Specialised(models()['aubo_i5'].arrays).single.gravity_torque
    with pytest.raises(TypeError):
        single(*[np.zeros(6)] * count)


def test_the_number_of_lanes_divides_a_part():
    assert SMALLEST_PART % compiled_robot.LANES == 0


FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))  # as a full disk does, writing more fails
"""


@pytest.mark.parametrize('room', [0, 4000])
def test_a_full_disk_costs_only_the_keeping(tmp_path, room):
    program = FULL_DISK.format(room=room) + PROGRAM
    environment = {**os.environ, 'XDG_CACHE_HOME': str(tmp_path)}
    command = [sys.executable, '-W', 'ignore', '-c', program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == printed(XDG_CACHE_HOME=str(tmp_path / 'another')).split()[1]
    left = [path for path in tmp_path.rglob('*') if path.is_file() and 'another' not in path.parts]
    assert all(path.stat().st_size <= room for path in left)
