"""What tests need beyond pytest: all of it for scripts/test, whatever is there for ``colcon test``.

``colcon test`` (known by its prefix of test names) leaves out test files that import a package that is not installed,
and names both at the end. Everywhere else a missing package is an error. Without files or folders it runs ``QUICK``,
and so does ``scripts/test --quick``.
"""

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).parent / 'test'
BESIDE = (TESTS, TESTS.parent / 'fuzz')
LEFT_OUT, NOT_QUICK = pytest.StashKey(), pytest.StashKey()
QUICK = (
    'control',
    'messages',
    'native',
    'evaluation/test_closed_loops',
    'evaluation/test_facade',
    'formats/test_aubo_i5',
    'formats/test_library',
    'formats/test_urdf',
    'nodes/test_dynamics_server',
    'nodes/test_gravity_compensation',
    'nodes/test_torque_controller',
    'robot/test_payload',
)
"""Folders and files that show within a minute or two that library and nodes work."""


def pytest_addoption(parser):
    """Let the settings of pytest-timeout stand in pyproject.toml also where it is not installed."""
    parser.addoption('--quick', action='store_true', help='run a selection of the tests that takes a minute or two')
    if find_spec('pytest_timeout') is None:
        parser.addini('timeout', 'of no effect without pytest-timeout')


def pytest_configure(config):
    """Likewise for its marker."""
    if find_spec('pytest_timeout') is None:
        config.addinivalue_line('markers', 'timeout: of no effect without pytest-timeout')
    config.stash[LEFT_OUT], config.stash[NOT_QUICK] = {}, []


@cache
def missing(path: Path) -> frozenset:
    """Return the packages that are not installed among those that a file of the tests imports at its top."""
    found: set = set()
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f'{node.module}.{alias.name}' for alias in node.names]
        else:
            continue
        for name in names:
            top, *inner = name.split('.')
            paths = (folder.joinpath(top, *deeper) for deeper in ((), inner[:1]) for folder in BESIDE)
            beside = next((file for path in paths if (file := path.with_suffix('.py')).is_file()), None)
            if beside:
                found |= missing(beside)
            elif find_spec(top) is None:
                found.add(top)
    return frozenset(found)


def pytest_ignore_collect(collection_path, config):
    """Leave a file out that is not quick, and for ``colcon test`` one that can't be imported."""
    by_colcon, quick = config.getoption('junitprefix'), config.getoption('quick')
    if not (by_colcon or quick) or TESTS not in collection_path.parents or collection_path.suffix != '.py':
        return None
    name = collection_path.relative_to(TESTS).with_suffix('').as_posix()
    is_test = collection_path.name.startswith('test_')
    quick = quick or config.args_source is not config.ArgsSource.ARGS
    if is_test and quick and not {name, name.split('/')[0]} & {*QUICK}:
        config.stash[NOT_QUICK].append(name)
        return True
    lacks = missing(collection_path)
    if lacks and is_test:
        config.stash[LEFT_OUT][collection_path.relative_to(TESTS).as_posix()] = lacks
        return True
    return None


def pytest_terminal_summary(terminalreporter, config):
    """Name what was left out."""
    if config.stash[NOT_QUICK]:
        terminalreporter.write_line(
            f'quick tests alone: {len(config.stash[NOT_QUICK])} more files of tests are run by scripts/test, or by'
            ' colcon test --pytest-args test'
        )
    for name, packages in sorted(config.stash[LEFT_OUT].items()):
        terminalreporter.write_line(f'left out: {name}, for not installed: {", ".join(sorted(packages))}')
