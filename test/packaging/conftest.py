"""What setup.py promises, for several files."""

import runpy
from pathlib import Path

import pytest
import setuptools


@pytest.fixture(scope='session')
def setup_arguments():
    """The arguments with which setup.py calls setuptools."""
    given = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).parents[2])
        patch.setattr(setuptools, 'setup', given.update)
        runpy.run_path('setup.py')
    return given


@pytest.fixture(scope='session')
def executables(setup_arguments):
    """Name of each executable: (module, function)."""
    lines = [line.split('=') for line in setup_arguments['entry_points']['console_scripts']]
    return {name.strip(): tuple(target.strip().split(':')) for name, target in lines}
