"""``from package import *`` of each package with public names: what its pages and its modules of names promise."""

import ast
import importlib
from pathlib import Path

import pytest

import robot_dynamics_ros

ROOT = Path(robot_dynamics_ros.__file__).parent


def public_packages() -> list[str]:
    """Return the packages whose ``__init__`` has public names: ``__all__``, or names at their first use."""
    found = []
    for path in sorted(ROOT.rglob('__init__.py')):
        nodes = ast.parse(path.read_text(encoding='utf-8')).body
        functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        assigned = {target.id for node in nodes if isinstance(node, ast.Assign) for target in node.targets}
        if '__getattr__' in functions or '__all__' in assigned:
            found.append('.'.join(path.parent.relative_to(ROOT.parent).parts))
    return found


def test_packages_with_public_names_are_found():
    assert {'robot_dynamics_ros', 'robot_dynamics_ros.identification', 'robot_dynamics_ros.simulation'} <= set(
        public_packages()
    )


@pytest.mark.parametrize('package', public_packages())
def test_a_star_imports_all_public_names(package):
    names: dict = {}
    exec(f'from {package} import *', names)
    module = importlib.import_module(package)
    assert module.__all__ and set(module.__all__) <= names.keys()
    if hasattr(module, 'NAMES'):  # of each module
        assert set(module.__all__) == {name for row in module.NAMES.values() for name in row}


@pytest.mark.parametrize('package', ['robot_dynamics_ros', 'robot_dynamics_ros.identification'])
def test_type_checkers_see_the_names_that_are_imported_at_first_use(package):
    """By the imports under ``TYPE_CHECKING``, each from where the name comes at run time."""
    module = importlib.import_module(package)
    nodes = ast.parse(Path(module.__file__).read_text(encoding='utf-8')).body
    (block,) = (node for node in nodes if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert ast.unparse(block.test) == 'TYPE_CHECKING' and set(seen) == set(module.__all__)
    assert all(getattr(importlib.import_module(seen[name]), name) is getattr(module, name) for name in seen)
