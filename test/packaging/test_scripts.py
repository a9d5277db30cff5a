"""Scripts of the project: valid shell, and refusals by scripts/bootstrap and scripts/compatibility."""

import os
import re
import shutil
import subprocess
import sys

from support.project.project_files import COMMANDS, ROOT, SHELL_FILES

import pytest

LEFT_OUT = '.*', '__pycache__', 'build', 'install', 'log', 'benchmark', 'doc', 'examples', 'fuzz', 'test'
"""What a copy of the project need not have for its scripts to refuse or to install."""


@pytest.mark.parametrize('path', SHELL_FILES, ids=lambda path: path.name)
def test_scripts_are_valid(path):
    assert subprocess.run(['bash', '-n', path], check=False).returncode == 0


@pytest.mark.parametrize('path', COMMANDS, ids=lambda path: path.name)
def test_commands_can_be_called(path):
    assert os.access(path, os.X_OK)
    assert path.read_text(encoding='utf-8').startswith('#!/usr/bin/env bash\n')


def test_bootstrap_points_to_a_section_that_exists():
    named = set(re.findall(r"README\.md, '([^']+)'", COMMANDS[0].read_text(encoding='utf-8')))
    headings = re.findall(r'^#+ (.+)$', (ROOT / 'README.md').read_text(encoding='utf-8'), flags=re.MULTILINE)
    assert named
    assert named <= set(headings)


@pytest.fixture
def bootstrap(tmp_path):
    return script(tmp_path, 'bootstrap')


@pytest.fixture
def compatibility(tmp_path):
    return script(tmp_path, 'compatibility')


def script(tmp_path, name):
    """Return what runs a script of a copy of the project that has no .venv, and returns its exit code and output."""
    clone = tmp_path / 'clone'
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(*LEFT_OUT))

    def run(*arguments, **variables):
        # Nothing may be fetched here, should a refusal not come.
        quiet = {'PATH': os.environ['PATH'], 'PIP_NO_INDEX': '1', 'PIP_FIND_LINKS': '', 'PIP_CONFIG_FILE': os.devnull}
        done = subprocess.run(
            [clone / 'scripts' / name, *arguments],
            env=quiet | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout

    run.folder = tmp_path
    return run


def stand_in(folder, name, answer):
    """Write a command that prints one line, whatever it is asked; return its path."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho {answer}\n', encoding='utf-8')
    path.chmod(0o755)
    return str(path)


def test_bootstrap_leaves_a_sourced_ros_alone(bootstrap):
    code, output = bootstrap(ROS_DISTRO='jazzy', AMENT_PREFIX_PATH='/opt/ros/jazzy')
    assert code == 1
    assert 'ROS 2 jazzy is sourced' in output
    assert 'README.md' in output


def test_bootstrap_refuses_a_distribution_without_wheels(bootstrap):
    code, output = bootstrap(ROS_DISTRO='humble', PYTHON=sys.executable)
    assert code == 1
    assert 'wheels exist for jazzy and kilted' in output


def test_environment_forgets_the_name_of_a_sourced_ros():
    command = ['bash', '-c', 'source "$0" && echo "<${ROS_DISTRO-}>"', ROOT / 'scripts' / 'environment.sh']
    done = subprocess.run(command, env={'ROS_DISTRO': 'humble'}, capture_output=True, text=True, check=True)
    assert done.stdout == '<>\n'


def test_both_distributions_have_the_packages_that_nodes_import():
    first, second = (
        re.findall(r'^ros-[a-z-]+', (ROOT / 'requirements' / f'{name}.txt').read_text().split('\n\n')[0], re.MULTILINE)
        for name in ('jazzy', 'kilted')
    )
    assert first == second
    assert 'ros-rclpy' in first


def test_bootstrap_refuses_another_processor(bootstrap):
    stand_in(bootstrap.folder, 'uname', 'Linux riscv64')
    code, output = bootstrap(PATH=f'{bootstrap.folder}:{os.environ["PATH"]}')
    assert code == 1
    assert 'this is Linux riscv64' in output
    assert 'x86-64 only' in output


# A Python whose venv contains itself, and whose pip installs a file.
FAKE_PYTHON = """#!/bin/sh
echo 3.11
case "$*" in
  '-m venv '*)
    mkdir -p "$3/bin" "$3/lib/python3/site-packages/robot_dynamics_ros/native"
    cp "$0" "$3/bin/python" ;;
  '-m pip install '*'/source['*)
    echo "$*" >> "$(dirname "$0")/../asked"
    touch "$(dirname "$0")/../lib/python3/site-packages/robot_dynamics_ros/native/call.so" ;;
esac
"""


LARGE = ('jax', 'torch')
"""Extras of hundreds of megabytes, each for one method."""


def test_bootstrap_installs_the_library_on_arm64_and_says_how_the_nodes_come(bootstrap, setup_arguments):
    stand_in(bootstrap.folder, 'uname', 'Linux aarch64')
    python = bootstrap.folder / 'python'
    python.write_text(FAKE_PYTHON, encoding='utf-8')
    python.chmod(0o755)
    here = {'PYTHON': str(python), 'PATH': f'{bootstrap.folder}:{os.environ["PATH"]}'}
    code, output = bootstrap(**here)
    assert code == 0, output
    assert 'installing the library' in output
    assert 'install ROS 2 for this machine and build with colcon' in output
    (asked,) = (bootstrap.folder / 'clone' / '.venv' / 'asked').read_text(encoding='utf-8').splitlines()
    assert set(re.search(r'\[(.+)]', asked)[1].split(',')) == set(setup_arguments['extras_require']) - {'test', *LARGE}
    code, output = bootstrap(**here)
    assert code == 0
    assert 'installing' not in output
    assert 'install ROS 2 for this machine' in output


def test_bootstrap_names_the_tests_that_run_on_arm64(bootstrap):
    stand_in(bootstrap.folder, 'uname', 'Linux aarch64')
    code, output = bootstrap('--test', PATH=f'{bootstrap.folder}:{os.environ["PATH"]}')
    assert code == 1
    assert 'scripts/compatibility runs the tests of the library' in output


def test_bootstrap_refuses_another_python(bootstrap):
    code, output = bootstrap(PYTHON=stand_in(bootstrap.folder, 'python', '3.14'))
    assert code == 1
    assert 'is Python 3.14' in output


def test_bootstrap_asks_for_a_compiler(bootstrap):
    code, output = bootstrap(CXX='no-such-compiler')
    assert code == 1
    assert "there is no 'no-such-compiler'" in output


# A Python whose venv contains itself, and whose pip has settings and finds nothing.
POOR_PYTHON = """#!/bin/sh
case "$*" in
  '-m venv '*)
    mkdir -p "$3/bin" "$3/lib/python3/site-packages"
    cp "$0" "$3/bin/python" ;;
  '-m pip config list') echo "$SETTINGS" ;;
  '-m pip install '*)
    echo "$4" >> "$(dirname "$0")/../asked"
    echo 'ERROR: No matching distribution found'
    exit 1 ;;
  *) echo 3.11 ;;
esac
"""


@pytest.mark.parametrize(
    ('settings', 'asked'),
    [
        ('', ['uv>=0.9,<1', 'pip>=24']),
        ("global.extra-index-url='file:///packages'", ['uv>=0.9,<1', 'pip>=24']),
        ("global.index-url='file:///packages'", ['pip>=24']),
        (":env:.no-index='1'", ['pip>=24']),
    ],
)
def test_bootstrap_shows_the_log_of_a_failure_and_tries_again_with_the_same_distribution(bootstrap, settings, asked):
    """Without uv it tries pip, and asks for uv only where pip has no other index."""
    python = bootstrap.folder / 'python'
    python.write_text(POOR_PYTHON, encoding='utf-8')
    python.chmod(0o755)
    for choice in ({'ROS_DISTRO': 'jazzy'}, {}):
        code, output = bootstrap(PYTHON=str(python), SETTINGS=settings, **choice)
        assert code == 1
        assert 'No matching distribution found' in output
        assert 'failed while installing the requirements, with ROS 2 Jazzy' in output
    assert (bootstrap.folder / 'clone' / '.venv' / 'asked').read_text(encoding='utf-8').split() == 2 * asked


def test_bootstrap_refuses_an_unknown_argument(bootstrap):
    code, output = bootstrap('--tests')
    assert code == 1
    assert "unknown argument '--tests'" in output


def test_compatibility_refuses_an_unknown_argument(compatibility):
    code, output = compatibility('oldest')
    assert code == 1
    assert "unknown argument 'oldest'" in output


def test_compatibility_names_the_packages_of_an_emulated_processor(compatibility):
    tools = compatibility.folder / 'tools'
    tools.mkdir()
    for name in ('bash', 'dirname'):
        (tools / name).symlink_to(shutil.which(name))
    code, output = compatibility('--arm', PATH=str(tools))
    assert code == 1
    assert "no 'qemu-aarch64-static' here; on Debian: apt install qemu-user-static" in output


@pytest.mark.parametrize('version', ['3.9', '3.11'])
def test_compatibility_refuses_a_python_without_the_oldest_numba(compatibility, version):
    code, output = compatibility(PYTHON_OLDEST=stand_in(compatibility.folder, 'python', version))
    assert code == 1
    assert f'is Python {version}' in output
    assert 'PYTHON_OLDEST=' in output
