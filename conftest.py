"""What tests need beyond pytest: all of it for scripts/test, whatever is there for ``colcon test``.

``colcon test`` (known by its prefix of test names) leaves out test files that import a package that is not installed,
and names both at the end. Everywhere else a missing package is an error. Without files or folders it runs what is
marked as quick.
"""

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).parent / 'test'
BESIDE = (TESTS, TESTS.parent / 'fuzz')
LEFT_OUT = pytest.StashKey[dict]()


def pytest_addoption(parser):
    """Let the settings of pytest-timeout stand in pyproject.toml also where it is not installed."""
    if find_spec('pytest_timeout') is None:
        parser.addini('timeout', 'of no effect without pytest-timeout')


def pytest_configure(config):
    """Likewise for its marker; select what is quick for ``colcon test`` without files or folders."""
    if find_spec('pytest_timeout') is None:
        config.addinivalue_line('markers', 'timeout: of no effect without pytest-timeout')
    config.stash[LEFT_OUT] = {}
    if _only_quick(config):
        config.option.markexpr = 'quick and not slow'


def _only_quick(config) -> bool:
    return bool(config.getoption('junitprefix')) and config.args_source is not config.ArgsSource.ARGS


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
            paths = (folder.joinpath(top, *inner[:depth]) for depth in range(len(inner) + 1) for folder in BESIDE)
            beside = next((file for path in paths if (file := path.with_suffix('.py')).is_file()), None)
            if beside:
                found |= missing(beside)
            elif find_spec(top) is None:
                found.add(top)
    return frozenset(found)


def pytest_ignore_collect(collection_path, config):
    """Leave a file out for ``colcon test`` that can't be imported."""
    of_tests = TESTS in collection_path.parents and collection_path.match('test_*.py')
    if config.getoption('junitprefix') and of_tests and (lacks := missing(collection_path)):
        config.stash[LEFT_OUT][collection_path.relative_to(TESTS).as_posix()] = lacks
        return True
    return None


def pytest_terminal_summary(terminalreporter, config):
    """Name what was left out."""
    if _only_quick(config):
        terminalreporter.write_line(
            'quick tests alone: the others are run by scripts/test, or by colcon test --pytest-args test'
        )
    for name, packages in sorted(config.stash[LEFT_OUT].items()):
        terminalreporter.write_line(f'left out: {name}, for not installed: {", ".join(sorted(packages))}')
