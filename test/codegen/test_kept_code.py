"""Code of the specialised binding: compiled once, kept in files of this user, and never executed once changed."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.matrices import matrix
from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.codegen import kept_code, specialised
from robot_dynamics_ros.codegen.kept_code import object_file
from robot_dynamics_ros.codegen.specialised import Specialised, code_of, folder_of
from robot_dynamics_ros.jit.cache import code_folder
from robot_dynamics_ros.model.regrouping import regrouped

TREE = trees.Model.of('tree', trees.BASE, trees.random_joints(11, count=5, chain=0.4))


def test_code_is_made_once_for_robots_of_the_same_constants():
    arrays = regrouped(TREE.arrays)
    code = code_of(arrays, 1)
    assert code_of(type(arrays)(*(array.copy() for array in arrays)), 1) is code
    assert code_of(arrays, 2) is not code
    heavier = arrays._replace(I=np.concatenate([arrays.I[:-1], 2.0 * arrays.I[-1:]]))
    assert code_of(heavier, 1) is code
    other = arrays._replace(I=2.0 * arrays.I)
    assert code_of(other, 1) is not code


def test_threads_that_ask_at_once_get_the_same_code():
    """Or one of them would hold the address of code that nobody keeps."""
    arrays = regrouped(TREE.arrays)
    code, program = Specialised(arrays), program_of(arrays, 'gravity_torque')
    with ThreadPoolExecutor(4) as pool:
        found = {*pool.map(lambda _: code.address(program), range(8))}
    assert found == {code.address(program)}


def test_the_code_of_many_robots_is_forgotten_oldest_first():
    arrays = regrouped(TREE.arrays)
    made = [code_of(arrays, threads) for threads in range(1, specialised.MOST_KEPT + 1)]
    assert code_of(arrays, 1) is made[0]  # which makes the second one the oldest
    assert code_of(arrays, len(made) + 1) not in made
    assert code_of(arrays, 1) is made[0]
    assert code_of(arrays, 2) is not made[1]


@pytest.fixture
def file() -> Path:
    """The object file of the tree's gravity torque."""
    gravity_torque()
    return object_file(folder_of(regrouped(TREE.arrays)), 'gravity_torque')


def gravity_torque():
    specialised._kept.clear()  # as in a process that has not made it yet
    robot = Robot(TREE).compiled()
    return robot.gravity_torque(np.ones(robot.nv))


@pytest.mark.parametrize(
    'damage',
    [
        lambda data: data[: len(data) // 2],
        lambda data: b'',
        lambda data: data[:-1],
        lambda data: data[:-100] + bytes(100),
        lambda data: b'x' + data,
        lambda data: data + b'x',
    ],
    ids=['torn', 'empty', 'shorter', 'edited', 'put before', 'put behind'],
)
def test_a_torn_or_edited_file_is_compiled_again(damage, file):
    expected, good = gravity_torque(), file.read_bytes()
    file.write_bytes(damage(good))
    assert (gravity_torque() == expected).all()
    assert file.read_bytes() == good


def opened_to_others(path: Path, elsewhere: Path):
    path.chmod(0o666)


def linked(path: Path, elsewhere: Path):
    path.rename(elsewhere / path.name)
    path.symlink_to(elsewhere / path.name)


@pytest.mark.parametrize('change', [opened_to_others, linked])
def test_a_file_that_another_user_may_have_written_is_replaced(tmp_path, change, file):
    """Its digest says nothing: whoever writes a file can write that too."""
    expected = gravity_torque()
    change(file, tmp_path)
    assert (gravity_torque() == expected).all()
    assert file.lstat().st_mode == stat.S_IFREG | 0o600


def test_another_processor_has_files_of_its_own(file, monkeypatch):
    monkeypatch.setattr(kept_code, 'host_processor', lambda: 'another')
    kept_code._processor_digest.cache_clear()
    try:
        assert object_file(folder_of(regrouped(TREE.arrays)), 'gravity_torque') != file
    finally:
        monkeypatch.undo()
        kept_code._processor_digest.cache_clear()


def test_the_folder_of_compiled_code_is_private(file):
    assert file.parent.stat().st_mode & 0o777 == 0o700 and file.parent.stat().st_uid == os.getuid()


def test_names_of_a_description_never_reach_code_or_a_path():
    names = {'link "evil"': 1, 'import os; os._exit(1)': 2}
    joints = [
        trees.dataclasses.replace(joint, name=name, link=f'../../{name} link', parent=parent)
        for joint, name, parent in zip(
            trees.random_joints(2, count=2, chain=1.0), names, (trees.BASE, '../../link "evil" link'), strict=True
        )
    ]
    model = trees.Model.of('"""\nraise SystemExit', trees.BASE, joints)
    robot = Robot(model).compiled()
    assert np.isfinite(robot.gravity_torque([0.1, 0.2])).all()
    assert np.isfinite(robot.link_pose([0.1, 0.2], '../../link "evil" link')).all()
    folder = code_folder() / folder_of(regrouped(model.arrays))
    for kept in map(str, code_folder().rglob('*')):
        assert not any(word in kept for word in ('evil', 'import os', 'Exit', 'link"'))
    for path in folder.glob('*.o'):
        assert b'evil' not in path.read_bytes() and b'Exit' not in path.read_bytes()
    assert {path.name.partition('_')[0] for path in folder.glob('*')} == {'gravity', 'link'}


PROGRAM = """
import numpy as np
from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.program import program_of
robot = Robot.named('aubo_i5').compiled()
print(robot.is_compiled, robot.gravity_torque(np.arange(6.0) / 7.0).tobytes().hex())
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
    assert first.startswith('True ')


def test_without_numba_the_kernels_of_all_robots_compute():
    assert printed(NUMBA_DISABLE_JIT='1').startswith('False ')


FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))  # as a full disk does, writing more fails
"""


@pytest.mark.parametrize('room', matrix([0, 4000], [4000]))
def test_a_full_disk_costs_only_the_keeping(tmp_path, room):
    program = FULL_DISK.format(room=room) + PROGRAM
    environment = {**os.environ, 'XDG_CACHE_HOME': str(tmp_path)}
    command = [sys.executable, '-W', 'ignore', '-c', program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == printed(XDG_CACHE_HOME=str(tmp_path / 'another')).split()[1]
    left = [path for path in tmp_path.rglob('*') if path.is_file() and 'another' not in path.parts]
    assert all(path.stat().st_size <= room for path in left)


def test_compiling_leaves_no_file_open():
    def compiled(seed: int) -> int:
        model = trees.Model.of('tree', trees.BASE, trees.random_joints(seed, count=2))
        file = object_file(folder_of(regrouped(model.arrays)), 'gravity_torque')
        file.unlink(missing_ok=True)
        Robot(model).compiled('gravity_torque')
        assert file.exists()
        return len(os.listdir('/proc/self/fd'))

    assert compiled(101) == compiled(102) == compiled(103)
