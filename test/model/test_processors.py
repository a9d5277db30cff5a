"""A model is the same on every processor: BLAS, NumPy and the C library choose their code by it, the models do not."""

import ast
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import model_bits
from support.example_robots import example_urdfs
from support.matrices import matrix
from support.processors import CORES, WITHOUT_AVX, environment_of

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model import checked
from robot_dynamics_ros.model.products import determinant, product, symmetric_inverse
from robot_dynamics_ros.model.rotations import sine_and_cosine

mpmath = pytest.importorskip('mpmath')

TREE = Path(__file__).parents[2]
PACKAGE = TREE / 'robot_dynamics_ros'
FEW = ('panda.urdf', 'ur5_robot.urdf', 'tiago.urdf', 'kinova.urdf', 'solo12.urdf', 'icub.urdf')

MODELS = (*sorted((PACKAGE / 'model').glob('*.py')), *sorted((PACKAGE / 'formats').glob('*.py')))
SOURCES = (*MODELS, PACKAGE / 'payload.py', PACKAGE / 'validation.py', PACKAGE / 'robot.py')
# What BLAS, LAPACK, NumPy's vector code or the C library computes; sums because of the order of their terms.
DEPENDENT = {
    **dict.fromkeys(('dot', 'vdot', 'inner', 'matmul', 'einsum', 'tensordot', 'trace', 'sum', 'mean'), 'a sum'),
    **dict.fromkeys(('linalg', 'convolve', 'Polynomial'), 'linear algebra'),
    **dict.fromkeys(('sin', 'cos', 'tan', 'arcsin', 'arccos', 'arctan', 'arctan2', 'sinc'), 'a function of an angle'),
    **dict.fromkeys(('asin', 'acos', 'atan', 'atan2', 'exp', 'log', 'power', 'cbrt'), 'a transcendental function'),
}
# What may use them in spite of that: no array of a model depends on it. File: names, reason.
MOMENTS = {'linalg'}, 'principal moments, which decide whether a body is refused or reported'
ALLOWED = {
    'model/audit.py': MOMENTS,
    'model/assembly.py': MOMENTS,
    'payload.py': MOMENTS,
    'model/pseudo_inertia.py': ({'linalg', 'log', 'exp'}, 'coordinates of a body, for optimizers'),
    'model/configuration.py': ({'linalg', 'sum', 'sin', 'cos', 'tan', 'sinc', 'arctan2'}, 'positions of joints'),
    'model/loop_audit.py': ({'sum'}, 'a report on a model'),
    'model/base_parameters.py': ({'linalg', '@', 'sum', 'sin', 'cos'}, 'a report on a model'),
    'model/rotations.py': ({'sin', 'cos', 'atan2'}, 'angles of a rotation, with which a URDF is written'),
    'validation.py': ({'linalg'}, 'the length of a quaternion in an error message'),
}


def dependent(path: Path) -> set[str]:
    """Return the names of what depends on the processor in a source file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            found.add('@')
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and (node.module or '').startswith(('math', 'numpy')):
            found.update(alias.name for alias in node.names)
    return found & {'@', *DEPENDENT}


@pytest.mark.parametrize('path', SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_models_are_built_by_operations_that_are_equal_everywhere(path):
    allowed, _ = ALLOWED.get(str(path.relative_to(PACKAGE)), (set(), ''))
    assert dependent(path) == allowed, 'use model.products or model.rotations, or say why not in ALLOWED'


@pytest.mark.parametrize(
    'line', ['a @ b', 'a @= b', 'np.linalg.svd(a)', 'a.sum()', 'math.sin(a)', 'from math import cos']
)
def test_what_depends_on_the_processor_is_found(line, tmp_path):
    path = tmp_path / 'source.py'
    path.write_text(line)
    assert dependent(path)


def printed(urdfs, *environments) -> list[dict]:
    """Return the digests of models and of results that a process prints in each environment."""

    def one(environment) -> dict:
        command = [sys.executable, model_bits.__file__, *urdfs]
        environment = {**environment, 'PYTHONPATH': str(TREE)}
        return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)

    # the first one compiles the kernels, unless they are cached
    first = one(environments[0])
    with ThreadPoolExecutor() as threads:
        return [first, *threads.map(one, environments[1:])]


@pytest.mark.parametrize(('cores', 'few'), matrix([(CORES[:3], True), (CORES, False)], few=[(CORES[:3], True)]))
def test_models_and_results_are_equal_on_every_processor(cores, few):
    urdfs = [path for path in example_urdfs() if not few or path.endswith(FEW)]
    # the oldest one has no vector instructions of this decade
    environments = [environment_of(core, simd=core not in WITHOUT_AVX) for core in cores]
    first, *others = printed(urdfs, *environments)
    assert len(first) > len(urdfs) > 0
    for core, other in zip(cores[1:], others, strict=True):
        assert {name: other[name] for name in first if other[name] != first[name]} == {}, core


@given(st.floats(-1e30, 1e30) | st.floats(-7.0, 7.0))
def test_sine_and_cosine_are_correctly_rounded(angle):
    with mpmath.workprec(400):
        exact = float(mpmath.sin(angle)), float(mpmath.cos(angle))
    assert sine_and_cosine(angle) == exact


ROTATIONS = Rotation.random(200, np.random.default_rng(0)).as_matrix()


def test_a_rotation_stays_as_it_is_when_it_is_read():
    for rotation in [*ROTATIONS, *(product(*three) for three in ROTATIONS[:198].reshape(-1, 3, 3, 3))]:
        assert np.array_equal(checked.rotation('rotation', rotation), rotation)


def test_a_rounded_rotation_becomes_the_nearest_one():
    for rotation in ROTATIONS:
        rounded = np.round(rotation, 7)
        left, _, right = np.linalg.svd(rounded)
        assert checked.rotation('rotation', rounded) == pytest.approx(left @ right, rel=0, abs=1e-14)


def test_a_unit_vector_stays_as_it_is_when_it_is_read():
    for axis in ROTATIONS[:, 0]:
        assert np.array_equal(checked.direction('axis', axis), axis)


@pytest.mark.parametrize('name', ['aubo_i5', 'aubo_i5_lecture'])
def test_rotations_in_yaml_are_the_models_to_the_bit(name):
    robot = Robot.named(name)
    read = Robot.from_yaml(robot.to_yaml())
    for field in ('E0', 'Ec', 'Es', 'r0', 'S'):
        assert np.array_equal(getattr(read._model.arrays, field), getattr(robot._model.arrays, field)), field


@pytest.mark.parametrize('condition', [1.0, 1e3, 1e9])
def test_inverses_of_inertias(condition):
    for R in ROTATIONS:
        inertia = R @ np.diag([1.0, 0.9, 1.0 / condition]) @ R.T
        inertia = 0.5 * (inertia + inertia.T)
        inverse = symmetric_inverse(inertia)
        assert np.array_equal(inverse, inverse.T)
        # each entry of the residual is a sum of three products, the largest of about the condition
        bound = 10.0 * 3 * np.finfo(float).eps * condition
        assert np.abs(inertia @ inverse - np.eye(3)).max() < bound
        assert determinant(inertia) == pytest.approx(0.9 / condition, rel=10.0 * 3 * np.finfo(float).eps * condition)
