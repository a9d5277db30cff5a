"""Declared functions: found by their sources, imported without ROS, compiled from their declarations alone."""

import ast
import importlib
import subprocess
import sys

from support.matrices import matrix

import pytest

from robot_dynamics_ros.codegen.new_function import new_code
from robot_dynamics_ros.jit import compiled as declarations
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.jit.sources import PACKAGE


def declared() -> set[str]:
    """Return the names of all declared functions of the package."""
    modules = declarations.modules()
    for module in modules:
        importlib.import_module(module)
    return {name for name, it in declarations.functions.items() if it.function.__module__ in modules}


def bound_in(path) -> set[str]:
    """Return the names of the functions that a file passes to ``bound``."""
    tree, module = (
        ast.parse(path.read_text(encoding='utf-8')),
        '.'.join(path.relative_to(PACKAGE).with_suffix('').parts),
    )
    origin = {
        alias.name: node.module.removeprefix(f'{PACKAGE.name}.')
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    if origin.get('bound') != 'codegen.bound_function':
        return set()
    of_each = {
        node.target.id: [it.id for it in node.iter.elts]
        for node in ast.walk(tree)
        if isinstance(node, ast.comprehension) and isinstance(node.iter, ast.Tuple)
        if isinstance(node.target, ast.Name) and all(isinstance(it, ast.Name) for it in node.iter.elts)
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == 'bound']
    names = [name for node in calls for name in of_each.get(node.args[0].id, [node.args[0].id])]
    return {f'{origin.get(name, module)}.{name}' for name in names}


def test_every_function_that_is_bound_is_declared_and_every_declared_one_is_bound():
    found = set().union(*map(bound_in, PACKAGE.rglob('*.py')))
    assert found == declared()
    assert len(found) > 40


IMPORTS = """
import importlib, sys
from robot_dynamics_ros.jit import compiled
assert not any(name.startswith('robot_dynamics_ros.') and '.jit' not in name for name in sys.modules)
for module in compiled.modules():
    importlib.import_module(module)
print(*{name.split('.')[0] for name in sys.modules})
"""


def test_declared_functions_are_imported_without_ros_and_numba():
    imported = set(subprocess.check_output([sys.executable, '-c', IMPORTS], text=True).split())
    assert imported & {'rclpy', 'rosidl_parser', 'sensor_msgs', 'std_msgs', 'numba', 'scipy'} == set()
    assert 'robot_dynamics_ros' in imported


@pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: nothing is compiled')
@pytest.mark.parametrize(
    'name',
    matrix(
        ['control.guards.torque_limiter._limit', 'messages.cdr_numbers.read_fields', 'simulation.time_steps.end_step'],
        ['control.guards.torque_limiter._limit'],
    ),
)
def test_functions_compile_from_their_declarations_alone(name):
    assert name in declared()
    declaration = declarations.functions[name]
    assert new_code(declaration.python, *declaration.examples)


def test_a_declared_function_is_returned_unchanged():
    def half(values: Vector, factor: float) -> None:
        values[0] = factor

    assert compiled(given='factor')(half) is half
    declaration = declarations.declaration_of(half)
    assert declaration.function is declaration.python is half
    assert list(declaration.fixed) == ['values'] and declaration.given == {'factor': 0.0}
    assert declaration.fixed['values'].shape == (0,)


@pytest.mark.parametrize('given', ['values', 'factor values', 'size'])
def test_given_parameters_are_the_last_ones(given):
    def half(values: Vector, factor: float) -> None:
        values[0] = factor

    with pytest.raises(TypeError, match=r'half: expected an annotation of each'):
        compiled(given=given)(half)


def test_each_parameter_is_annotated():
    def half(values: Vector, factor) -> None:
        values[0] = factor

    with pytest.raises(TypeError, match=r"half: .* \('values', 'factor'\), .* got \('values',\)"):
        compiled(given='factor')(half)
