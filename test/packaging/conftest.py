"""What setup.py promises, for several files."""

import os

from support.project import project_files

import pytest

os.environ.setdefault('ROBOT_DYNAMICS_OBJECTS', str(project_files.ROOT / 'build' / 'kernels'))
"""Builds by these tests compile nothing again."""


@pytest.fixture(scope='session')
def setup_arguments():
    """The arguments with which setup.py calls setuptools."""
    return project_files.setup_arguments()


@pytest.fixture(scope='session')
def executables(setup_arguments):
    """Name of each executable: (module, function)."""
    lines = [line.split('=') for line in setup_arguments['entry_points']['console_scripts']]
    return {name.strip(): tuple(target.strip().split(':')) for name, target in lines}
