"""What the tests of robot_dynamics_controllers compile is kept in one folder for all processes of a run."""

import os

from support.controllers import controllers_core

import pytest


@pytest.fixture(scope='session', autouse=True)
def compiled_core(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if 'PYTEST_XDIST_WORKER' in os.environ else base
    controllers_core.use_folder(shared / 'controllers_core')
