"""As a ROS 2 user builds: colcon builds both packages, and what it installs can be found, imported and started."""

import re
import subprocess
import sys
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / 'scripts' / 'environment.sh'
PACKAGE = 'robot_dynamics_ros'
INTERFACES = 'robot_dynamics_interfaces'
NODES = [
    'aubo_node',
    'dynamics_server',
    'external_torque_node',
    'feedforward_node',
    'gravity_compensation_node',
    'robot_dynamics_bringup',
    'robot_dynamics_check_model',
    'robot_dynamics_compare',
    'robot_dynamics_demo',
    'robot_dynamics_demo_motion',
    'robot_dynamics_export_c',
    'robot_dynamics_export_controller',
    'robot_dynamics_identify',
    'robot_dynamics_propose_gains',
    'robot_dynamics_replay',
    'simulated_arm',
    'torque_controller',
    'trajectory_effort_node',
]

pytestmark = [
    pytest.mark.skipif(
        not (ROOT / '.venv' / 'bin' / 'colcon').exists(), reason='needs the .venv of scripts/bootstrap --test'
    ),
    # 20 s on two free cores; the build of the interfaces is most of it.
    pytest.mark.timeout(900),
]


def in_environment(command, folder):
    """Run a line of shell with the .venv as the only ROS prefix; return what it printed, or fail with it."""
    done = subprocess.run(
        ['bash', '-c', f'source "$0" && {command}', ENVIRONMENT],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope='module')
def workspace(tmp_path_factory):
    """A colcon workspace in which this package is built and installed.

    The interfaces are those of scripts/bootstrap, which CMake has built likewise.
    """
    return built(tmp_path_factory.mktemp('workspace'), 'src')


@pytest.fixture(scope='module')
def whole_workspace(tmp_path_factory):
    """One in which the interfaces are built, too, which takes most of the time."""
    return built(tmp_path_factory.mktemp('whole_workspace'), f'src src/{PACKAGE}/{INTERFACES}')


def built(folder, paths):
    """Build the packages below ``paths`` in a workspace with a copy of this tree."""
    if ' ' in f'{folder}{ROOT}':
        pytest.skip("colcon's own scripts do not work in a folder with a blank in its path")
    unwanted = ignore_patterns('.*', '__pycache__', 'build', 'install', 'log')
    copytree(ROOT, folder / 'src' / PACKAGE, ignore=unwanted)
    in_environment(
        f'colcon build --base-paths {paths} --cmake-args -G Ninja -DBUILD_TESTING=OFF'
        f' -DCMAKE_PROJECT_INCLUDE="{ROOT}/scripts/interfaces_on_wheels.cmake"',
        folder,
    )
    return folder


def in_workspace(script, workspace):
    """Run Python code as a user does who has sourced the workspace's install folder."""
    (workspace / 'script.py').write_text(script, encoding='utf-8')
    return in_environment('source install/local_setup.sh && python script.py', workspace)


def test_the_package_is_in_the_index(workspace):
    assert_in_the_index(PACKAGE, workspace)


@pytest.mark.slow
def test_the_interfaces_are_in_the_index(whole_workspace):
    assert_in_the_index(INTERFACES, whole_workspace)


def assert_in_the_index(package, workspace):
    prefix = workspace / 'install' / package
    assert (prefix / 'share' / 'ament_index' / 'resource_index' / 'packages' / package).is_file()
    assert (prefix / 'share' / package / 'package.xml').is_file()
    printed = in_workspace(
        f'import ament_index_python as index; print(index.get_package_prefix("{package}"))', workspace
    )
    assert printed.strip() == str(prefix)


@pytest.mark.parametrize('kind', ['launch', 'config', 'urdf'])
def test_share_holds_the_files_of_the_tree(workspace, kind):
    share = workspace / 'install' / PACKAGE / 'share' / PACKAGE / kind

    def files(folder):
        return {path.relative_to(folder) for path in folder.rglob('*') if path.is_file() and path.suffix != '.pyc'}

    assert files(share) == files(ROOT / kind) != set()


def test_nodes_lie_where_ros2_run_looks(workspace):
    folder = workspace / 'install' / PACKAGE / 'lib' / PACKAGE
    assert sorted(path.name for path in folder.iterdir()) == NODES
    assert all(path.stat().st_mode & 0o111 for path in folder.iterdir())


def test_nodes_load_from_the_install_folder(workspace):
    printed = in_workspace(
        'import inspect\n'
        'from importlib.metadata import distribution\n'
        f'for entry in distribution("{PACKAGE}").entry_points:\n'
        '    print(inspect.getfile(entry.load()))\n',
        workspace,
    )
    modules = printed.split()
    assert len(modules) == len(NODES)
    assert all(module.startswith(f'{workspace}/install/{PACKAGE}/') for module in modules)


def test_the_robot_comes_with_its_urdf(workspace):
    printed = in_workspace(f'from {PACKAGE}.formats.library import named_urdf; print(named_urdf("aubo_i5"))', workspace)
    assert printed.strip() == str(workspace / 'install' / PACKAGE / 'share' / PACKAGE / 'urdf' / 'aubo_i5.urdf')


@pytest.mark.slow
def test_services_come_from_the_install_folder(whole_workspace):
    printed = in_workspace(
        f'import {INTERFACES}\n'
        f'from {INTERFACES}.msg import PayloadState\n'
        f'from {INTERFACES}.srv import CheckTrajectory, GetForwardDynamics, GetInverseDynamics, GetJacobian\n'
        f'from {INTERFACES}.srv import GetMassMatrix, SetGravity, SetPayload\n'
        'GetMassMatrix.Request(joint_names=["a"], positions=[1.0])\n'
        f'print({INTERFACES}.__file__)\n',
        whole_workspace,
    )
    assert printed.startswith(f'{whole_workspace}/install/{INTERFACES}/')


def test_colcon_test_runs_tests(workspace):
    in_environment(
        f'colcon test --base-paths src --packages-select {PACKAGE} '
        '--pytest-args test/control/terms/test_compensation_policy.py',
        workspace,
    )
    printed = in_environment('colcon test-result --all', workspace)
    counts = [
        int(number) for number in re.search(r'Summary: (\d+) tests, (\d+) errors, (\d+) failures', printed).groups()
    ]
    assert counts[0] > 15
    assert counts[1:] == [0, 0]


def pytest_of_two(tmp_path, *arguments):
    """Run a file that imports what is not installed beside one that passes; return status and what was printed."""
    shelf, room = tmp_path / 'test' / 'support' / 'shelf', tmp_path / 'test' / 'room'
    shelf.mkdir(parents=True)
    room.mkdir(exist_ok=True)
    for name in ('conftest.py', 'pyproject.toml'):
        copy(ROOT / name, tmp_path)
    (shelf / 'beside.py').write_text('import no_such_package.of_it\n')
    (room / 'test_lacks.py').write_text('from support.shelf import beside\n\ndef test_a():\n    pass\n')
    (room / 'test_has.py').write_text('import json\n\ndef test_b():\n    pass\n')
    command = [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', *arguments]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    return done.returncode, done.stdout


def test_colcon_test_leaves_out_what_cannot_be_imported_and_names_it(tmp_path):
    status, printed = pytest_of_two(tmp_path, f'--junit-prefix={PACKAGE}', 'test')  # as colcon calls it
    assert status == 0
    assert '1 passed' in printed
    assert 'left out: room/test_lacks.py, for not installed: no_such_package' in printed


def test_colcon_test_runs_quick_tests_unless_it_is_told_others(tmp_path):
    folder = tmp_path / 'test' / 'room'
    folder.mkdir(parents=True)
    lines = 'import pytest', '@pytest.mark.quick', 'def test_c():', '    pass', 'def test_d():', '    pass', ''
    (folder / 'test_quick.py').write_text('\n'.join(lines))
    status, printed = pytest_of_two(tmp_path, f'--junit-prefix={PACKAGE}')
    assert status == 0
    assert '1 passed, 2 deselected' in printed
    assert 'quick tests alone: the others are run by scripts/test' in printed


def test_without_colcon_nothing_is_left_out(tmp_path):
    status, printed = pytest_of_two(tmp_path)
    assert status != 0
    assert "No module named 'no_such_package'" in printed
    assert 'left out' not in printed
