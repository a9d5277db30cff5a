"""A Python as after ``pip install``: packages that this one requires, with its extras, and none of ROS 2.

Where nothing else is installed, nothing changes.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from sysconfig import get_path

from support.project import hidden_packages
from support.project.project_files import setup_arguments

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import robot_dynamics_ros

PACKAGE = 'robot_dynamics_ros'
FOLDERS = 'client', 'messages', 'nodes', 'tools'
WITH_ROS = tuple(f'{PACKAGE}.{folder}' for folder in FOLDERS)
"""Folders of the package whose modules may import ROS 2."""
ALSO = ('coverage', 'distributed', 'pytest', 'pytest-timeout', 'pytest-xdist')
"""Distributions that run tests, or that an example says it needs."""


@cache
def hidden() -> frozenset[str]:
    """Return the names of the packages that pip would not have installed, those of ROS 2 among them."""
    site = tuple(Path(get_path(name)) for name in ('purelib', 'platlib'))
    folders = [path for path in map(Path, sys.path) if path.is_dir() and any(path.is_relative_to(it) for it in site)]
    there = {path.name.partition('.')[0] for folder in folders for path in folder.iterdir()}
    installed = packages_distributions()
    return frozenset(
        name for name in there if not any(canonicalize_name(it) in required() for it in installed.get(name, ()))
    ) - {PACKAGE}


@cache
def required() -> frozenset[str]:
    """Return the canonical names of the distributions that pip installs with all extras, and of ``ALSO``."""
    setup = setup_arguments()
    extras = (it for extra in setup['extras_require'].values() for it in extra)
    found: set[str] = set()
    waiting = [('', it) for it in [*setup['install_requires'], *extras, *ALSO]]
    while waiting:
        extra, text = waiting.pop()
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({'extra': extra}):
            continue
        if name in found and not requirement.extras:
            continue
        found.add(name)
        waiting += [(part, it) for part in ['', *requirement.extras] for it in requirements_of(name)]
    return frozenset(found)


def requirements_of(distribution: str) -> Iterable[str]:
    """Return the requirements of a distribution; none where it is not installed."""
    try:
        return requires(distribution) or ()
    except PackageNotFoundError:
        return ()


def command(*words) -> list[str]:
    """Return the command that runs a Python program and its arguments so."""
    return [sys.executable, hidden_packages.__file__, ','.join(hidden()), *map(str, words)]


@contextmanager
def pip_alone() -> Iterator[None]:
    """Hide packages, imported ones included; modules of this package that may import ROS 2 are imported again."""
    modules = [*sys.modules.items()]
    kept = {name: it for name, it in modules if name.startswith(WITH_ROS) or name.partition('.')[0] in hidden()}
    package = vars(robot_dynamics_ros)
    attributes = {name: package[name] for name in FOLDERS if name in package}
    for name in kept:
        del sys.modules[name]
    try:
        with hidden_packages.hidden_packages(hidden()):
            yield
    finally:
        for name in [name for name in sys.modules if name.startswith(WITH_ROS)]:
            del sys.modules[name]  # their classes are not those of the modules that come back
        sys.modules.update(kept)
        package.update(attributes)
