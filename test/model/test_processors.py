"""A model is the same on every processor: BLAS, NumPy and the C library choose their code by it, the models do not."""

import ast
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.code import model_bits
from support.matrices import matrix
from support.processors import CORES, can_run, environment_of
from support.robots.example_robots import example_urdfs

import pytest

TREE = Path(__file__).parents[2]
PACKAGE = TREE / 'robot_dynamics_ros'
FEW = ('panda.urdf', 'ur5_robot.urdf', 'tiago.urdf', 'kinova.urdf', 'solo12.urdf', 'icub.urdf')

MODELS = (*sorted((PACKAGE / 'model').rglob('*.py')), *sorted((PACKAGE / 'formats').rglob('*.py')))
SOURCES = (*MODELS, PACKAGE / 'payload.py', PACKAGE / 'validation.py', PACKAGE / 'robot' / 'robot.py')
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
    'payload.py': MOMENTS,
    'model/pseudo_inertia.py': ({'linalg', 'log', 'exp'}, 'coordinates of a body, for optimizers'),
    'model/configuration.py': ({'linalg', 'sum', 'sin', 'cos', 'tan', 'sinc', 'arctan2'}, 'positions of joints'),
    'model/closed_loops/loop_audit.py': ({'sum'}, 'a report on a model'),
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
    assert dependent(path) == allowed, 'use model.linear_algebra or model.rotations, or say why not in ALLOWED'


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
    runnable = [core for core in cores if can_run(environment_of(core))]
    if len(runnable) < 2:
        pytest.skip(f'nothing to compare: of {", ".join(cores)} this processor runs {", ".join(runnable) or "none"}')
    first, *others = printed(urdfs, *map(environment_of, runnable))
    assert len(first) > len(urdfs) > 0
    for core, other in zip(runnable[1:], others, strict=True):
        assert {name: other[name] for name in first if other[name] != first[name]} == {}, core
