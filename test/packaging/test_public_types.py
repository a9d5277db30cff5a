"""What the pages of the API and the packages with public names offer has complete types, by pyright."""

import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from support.project.project_files import PACKAGE, ROOT

import pytest

PACKAGES = tuple(f'{PACKAGE.name}{part}' for part in ('', '.identification', '.simulation'))
"""Packages with public names."""
SOME = (
    'robot.dynamics.Dynamics.inverse_dynamics',
    'robot.changed_copies.ChangedCopies.with_payload',
    'payload.Payload',
)


def public_names() -> set[str]:
    """Return the full names of public functions, classes and their base classes, where they are defined."""
    pages = '\n'.join(page.read_text(encoding='utf-8') for page in (ROOT / 'doc' / 'api').glob('*.md'))
    documented = re.findall(rf'^\.\. auto\w+:: ({PACKAGE.name}[\w.]*)', pages, re.MULTILINE)
    found = [named(path) for path in documented]
    for package in map(importlib.import_module, PACKAGES):
        found += [getattr(package, name) for name in package.__all__]
    names = set()
    for it in found:
        if inspect.ismodule(it):
            names.add(it.__name__)
        elif inspect.isclass(it):
            names |= {f'{base.__module__}.{base.__qualname__}' for base in it.__mro__}
        elif inspect.isfunction(it):
            names.add(f'{it.__module__}.{it.__qualname__}')
    return {name for name in names if name.startswith(PACKAGE.name)}


def named(path: str):
    """Return the module, class or function with this path."""
    *rest, last = path.split('.')
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        return getattr(named('.'.join(rest)), last)


def test_public_names_are_found():
    names = public_names()
    assert {f'{PACKAGE.name}.{name}' for name in SOME} <= names and len(names) > 100


def test_the_page_on_versions_names_the_packages_and_the_versions_of_python():
    page = (ROOT / 'doc' / 'versions.md').read_text(encoding='utf-8')
    assert set(re.findall(r'`(robot_dynamics_ros[\w.]*)`', page.partition('## Public interfaces')[2])) == {*PACKAGES}
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    assert re.search(r'\| Python \| (3\.\d+ to 3\.\d+) ', page)[1] in readme


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which('pyright'), reason='pyright is not installed: pip install pyright')
def test_types_of_public_names_are_complete():
    """Of the installed package: pyright searches the packages of the Python that is first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ['PATH']])
    command = ['pyright', '--verifytypes', PACKAGE.name, '--ignoreexternal', '--outputjson']
    done = subprocess.run(
        command, env={**os.environ, 'PATH': path}, cwd='/', capture_output=True, text=True, check=False
    )
    symbols = json.loads(done.stdout)['typeCompleteness']['symbols']
    ours = tuple(public_names())
    below = tuple(f'{name}.' for name in ours)
    public = [it for it in symbols if it['name'] in ours or it['name'].startswith(below)]
    assert len(public) > 500, done.stdout[-2000:]
    lacking = {it['name']: [cause['message'] for cause in it['diagnostics']] for it in public if not it['isTypeKnown']}
    assert lacking == {}
