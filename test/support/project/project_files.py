"""Folders and files of the project by kind: interfaces, launch files, scripts."""

import runpy
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / 'robot_dynamics_ros'
INTERFACES = ROOT / 'robot_dynamics_interfaces'
SERVICES = sorted((INTERFACES / 'srv').glob('*.srv'))
MESSAGES = sorted((INTERFACES / 'msg').glob('*.msg'))
LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.py'))
COMMANDS = [
    *(
        ROOT / 'scripts' / name
        for name in (
            'bootstrap',
            'compatibility',
            'demo',
            'fuzz',
            'generate',
            'interfaces',
            'mutation',
            'other_distribution',
            'pip_alone',
            'soak',
            'test',
        )
    ),
    ROOT / '.ci' / 'run',
]
SHELL_FILES = [*COMMANDS, ROOT / 'scripts' / 'arm64.sh', ROOT / 'scripts' / 'environment.sh']


@cache
def setup_arguments() -> dict:
    """Return what setup.py hands to setuptools."""
    import setuptools  # noqa: PLC0415  (not in every environment of the tests)

    given: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(setuptools, 'setup', given.update)
        runpy.run_path('setup.py')
    return given
