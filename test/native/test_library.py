"""The library of functions that Numba compiled when the package was built."""

import os
import shutil
import subprocess
import sys

from support.robots.facade_robots import robot_of

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.kernel_arguments import kernels
from robot_dynamics_ros.algorithms.table import ALGORITHMS
from robot_dynamics_ros.codegen.library_build import parts
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.jit.sources import PACKAGE, digest_of, name_of
from robot_dynamics_ros.kernels.rnea import rnea
from robot_dynamics_ros.native import call, library

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')


def test_it_has_every_kernel_and_every_declared_function_of_these_sources():
    found = call.functions(str(library.LIBRARY), 0)
    assert {name: digest for name, (digest, _) in found.items()} == {
        name: digest_of(part.function) for name, part in parts().items()
    }
    assert {name_of(kernel) for kernel, _ in kernels()} < set(found)


@pytest.mark.skipif(call.LEVEL == 0, reason='this processor has no AVX2 or no fused multiply-adds: it runs one level')
def test_both_levels_of_processors_have_the_same_bits(monkeypatch):
    random = np.random.default_rng(0)
    for robot in (Robot.named('aubo_i5'), robot_of('tree')):
        names = [name for name, it in ALGORITHMS.items() if hasattr(robot, name)]
        rows = {name: random.normal(size=(len(ALGORITHMS[name].inputs), 20, robot.nv)) for name in names}
        results = []
        for level in (0, 1):
            monkeypatch.setattr(library, '_functions', lambda level=level: call.functions(str(library.LIBRARY), level))
            fresh = Robot(robot.model, robot.gravity)
            results.append({name: _result(fresh, name, rows[name]) for name in names})
        one, other = results
        assert sum(result is not None for result in one.values()) > 10
        for name in names:
            np.testing.assert_array_equal(one[name], other[name], err_msg=f'{robot.name}: {name}')


def _result(robot, name, rows):
    try:
        return getattr(robot, name)(*rows)
    except Exception as error:  # such as loops of a robot that has none
        return str(error)


def test_of_an_installation_with_other_sources_it_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setattr(library, 'digest_of', lambda function: 'another')
    monkeypatch.setattr(library, 'TREE', tmp_path)
    with pytest.raises(ImportError, match=r'kernels\..*\.so was built from other sources .*\.rnea'):
        library.address_of(rnea)


def test_a_missing_library_and_another_file_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(library, 'LIBRARY', tmp_path / 'kernels.other.so')
    library._functions.cache_clear()
    try:
        with pytest.raises(ImportError, match=r'not built, .*kernels\..*\.so does not exist: call scripts/bootstrap'):
            library.address_of(rnea)
        (tmp_path / 'kernels.other.so').write_text('no library')
        with pytest.raises(ImportError, match=r'kernels\..*\.so'):
            library.address_of(rnea)
    finally:
        library._functions.cache_clear()


PROGRAM = """
import numpy as np
from robot_dynamics_ros import Robot
robot, one = Robot.named('aubo_i5'), np.ones(6)
print(robot.kinetic_energy(one, one), robot.mass_matrix(one)[0, 0])
"""


def test_a_changed_kernel_of_a_working_tree_is_compiled_again_alone(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copytree(library.TREE / 'urdf', tmp_path / 'urdf')
    shutil.copy(library.TREE / 'setup.py', tmp_path)
    environment = {**os.environ, 'PYTHONPATH': str(tmp_path)}
    build = [sys.executable, '-m', f'{PACKAGE.name}.codegen.library_build']

    def printed() -> list[str]:
        done = subprocess.run(
            [sys.executable, '-c', PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    path = tmp_path / PACKAGE.name / 'kernels' / 'energy.py'
    if (library.TREE / 'build' / 'kernels').exists():
        shutil.copytree(library.TREE / 'build' / 'kernels', tmp_path / 'build' / 'kernels')
    else:
        subprocess.run(build, cwd=tmp_path, env=environment, check=True, capture_output=True)
    (before,) = printed()
    energy, mass = map(float, before.split())
    text = path.read_text()
    assert text.count('T[0] = 0.0') == 1
    path.write_text(text.replace('T[0] = 0.0', 'T[0] = 1.0'))
    said, after = printed()
    assert said.startswith(f'{library.LIBRARY.name}: Numba compiles ')
    assert int(said.split()[3]) < 10
    assert [float(number) for number in after.split()] == [pytest.approx(energy + 1.0), mass]
    assert printed() == [after]
