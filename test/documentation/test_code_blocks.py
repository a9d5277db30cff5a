"""Every code block of README and site runs, or names only what exists.

A block runs in an environment with what pip installs alone, unless it says that it needs ROS 2: by a comment, or by
``ros2`` itself.
"""

import re
import subprocess
from contextlib import nullcontext
from pathlib import Path

from support import shell_commands
from support.pip_alone import pip_alone
from support.shell_commands import ROOT

import pytest
import yaml
from markdown_it import MarkdownIt
from rclpy.context import Context

from robot_dynamics_ros import Robot

WITH_ROS = ('bringup', 'demo', 'demo_motion', 'replay')
"""Commands that say that they need ROS 2 (packaging/test_pip_alone.py)."""
PAGES = [
    *(ROOT / name for name in ('README.md', 'CONTRIBUTING.md', 'CONVENTIONS.md', 'SECURITY.md')),
    *sorted(path for path in (ROOT / 'doc').rglob('*.md') if path.parent.name != 'parameters'),
]


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Return language, text and first line of each code block; directives of the site are none."""
    tokens = MarkdownIt().parse(page.read_text(encoding='utf-8'))
    found = [token for token in tokens if token.type in ('fence', 'code_block')]
    return [(token.info, token.content, token.map[0] + 1) for token in found if not token.info.startswith('{')]


NEEDS_ROS = 'needs ROS 2'
"""In the comment of a line of Python or of a command."""


def run_python(text: str, line: int, page: Path, names: dict) -> None:
    code = compile('\n' * line + text, page, 'exec')
    with pip_alone():
        if NEEDS_ROS not in text:
            exec(code, names)
            return
        with pytest.raises(ModuleNotFoundError):
            exec(code, {**names})
    exec(code, names)


def run_bash(text: str, line: int, page: Path, names: dict) -> None:
    """Check what commands name; run a compiler, for the blocks after it."""
    for command in text.replace('\\\n', ' ').splitlines():
        if (found := re.match(r'robot_dynamics_(\w+)', command)) is not None:
            assert (NEEDS_ROS in command) == (found[1] in WITH_ROS), command
    for words in shell_commands.commands(text):
        with pip_alone() if words[0].startswith('robot_dynamics_') else nullcontext():
            shell_commands.check(words)
        if words[0] == 'cc':
            subprocess.run([*words, '-Wall', '-Wextra', '-Werror'], check=True)


def write_c(text: str, line: int, page: Path, names: dict) -> None:
    """Write the file that its first line names."""
    Path(text.split()[1].rstrip(':')).write_text(text, encoding='utf-8')


def check_yaml(text: str, line: int, page: Path, names: dict) -> None:
    """Take it for a parameter file, an actuator file or that of a controller_manager."""
    tables = yaml.safe_load(text)
    if 'controller_manager' in tables:
        check_controllers(tables)
        return
    if not any(name.startswith('/**') for name in tables):
        Robot.named('aubo_i5').with_actuators(tables)
        return
    for name, table in tables.items():
        assert list(table) == ['ros__parameters']
        for parameter, value in table['ros__parameters'].items():
            shell_commands.check_parameter(name.removeprefix('/**').removeprefix('/'), parameter, value)


def read_by_rcl(text: str) -> None:
    """Read a parameter file as a node does: rcl refuses much that YAML allows, aliases for instance."""
    Path('parameters.yaml').write_text(text, encoding='utf-8')
    context = Context()
    context.init(['--ros-args', '--params-file', 'parameters.yaml'])
    context.shutdown()


def check_controllers(tables: dict) -> None:
    """Assert that each controller forwards commands, has joints and claims an interface."""
    listed = tables.pop('controller_manager')['ros__parameters']
    assert set(tables) == set(listed)
    for name, it in listed.items():
        assert it == {'type': 'forward_command_controller/ForwardCommandController'}, name
        assert set(tables[name]['ros__parameters']) == {'joints', 'interface_name'}, name


LANGUAGES = {
    'bash': run_bash,
    'c': write_c,
    'python': run_python,
    'text': lambda *block: None,
    'yaml': check_yaml,
}


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT).with_suffix('')))
def test_the_code_blocks_of_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {'__name__': page.stem}
    for language, text, line in blocks(page):
        where = f'{page.name}:{line}'
        assert language in LANGUAGES, f'{where}: a block of language {language!r}'
        try:
            if 'ros__parameters:' in text:
                read_by_rcl(text)
            LANGUAGES[language](text, line, page, names)
        except Exception as error:
            raise AssertionError(f'{where}: {error!r}') from error


@pytest.mark.parametrize('values', ['{a: &arm [one, two], b: *arm}', '{a: [1.0, two]}'], ids=['alias', 'mixed list'])
def test_a_parameter_file_that_rcl_refuses_is_found(values, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = f'/**:\n  ros__parameters: {values}\n'
    yaml.safe_load(text)
    with pytest.raises(Exception, match='rcl'):
        read_by_rcl(text)


def test_each_language_occurs():
    assert {language for page in PAGES for language, *_ in blocks(page)} == set(LANGUAGES)


@pytest.mark.parametrize(
    ('command', 'culprit'),
    [
        ('scripts/demo --lgo x', '--lgo'),
        ('ros2 launch robot_dynamics_ros bringup.launch.py modle:=x', 'modle'),
        ('ros2 launch robot_dynamics_ros bringup.launch.py nodes:=feedforward', 'feedforward'),
        ('ros2 launch robot_dynamics_ros start.launch.py', 'start.launch.py'),
        ('ros2 run robot_dynamics_ros feedforward', 'feedforward'),
        ('ros2 run robot_dynamics_ros feedforward_node --ros-args -p sourc:=x', 'sourc'),
        ('ros2 run robot_dynamics_ros feedforward_node --ros-args -p reference_age_limit:=long', 'reference_age_limit'),
        ('ros2 run robot_dynamics_ros gravity_compensation_node --ros-args -r joint_trajectory:=x', 'joint_trajectory'),
        ('ros2 run robot_dynamics_ros export_c aubo_i5 exported --program mass', 'mass'),
        ('ros2 run robot_dynamics_ros export_c aubo_i5 exported --programs mass_matrix', '--programs'),
        ('ros2 run robot_dynamics_ros export_controller aubo_i5 exported --preset aubo', 'aubo'),
        ('ros2 run robot_dynamics_ros compare --motoin cubic', '--motoin'),
        ('robot_dynamics_replay aubo_i5', 'robot_dynamics_replay'),  # without a log
        ('compare aubo_i5', 'compare'),
        ('ros2 topic echo /gravity', '/gravity'),
        ('ros2 bag record /joint_states /joint_temperature -o my_bag', '/joint_temperature'),
        ('ros2 lifecycle set /torque_node activate', 'torque_node'),
        ('ros2 lifecycle set /torque_controller start', 'start'),
        ('ros2 service call /dynamics_server/set_mass robot_dynamics_interfaces/srv/SetPayload "{}"', 'set_mass'),
        ('ros2 service call /dynamics_server/set_payload robot_dynamics_interfaces/srv/SetPayload "{kg: 1.0}"', 'kg'),
        ('ros2 service call /dynamics_server/set_payload robot_dynamics_interfaces/srv/SetPayload "{mass: 1}"', 'mass'),
        ('ros2 run robot_dynamics_ros feedforward_node --ros-args --enclave /robot_dynamics_ros/feed', 'feed'),
        ('rviz2 -d config/rviz/arm.rviz', 'config/rviz/arm.rviz'),  # of the source folder only
        (f'rviz2 -d {shell_commands.SHARE}/config/rviz/am.rviz', 'am.rviz'),
        ('pip install ".[simulation]"', 'simulation'),
        ('rosdep install --from-paths src', 'src'),
        ('killall ros2', 'killall'),
    ],
)
def test_a_command_that_names_what_does_not_exist_is_found(command, culprit):
    (words,) = shell_commands.commands(command)
    assert culprit in command
    with pytest.raises((AssertionError, KeyError, OSError)):
        shell_commands.check(words)


@pytest.mark.parametrize(
    ('run', 'text'),
    [
        (run_python, 'import rclpy'),  # it does not say so
        (run_python, 'import math  # needs ROS 2'),
        (run_bash, 'robot_dynamics_replay aubo_i5 measured.csv'),
        (run_bash, 'robot_dynamics_export_c aubo_i5 exported  # needs ROS 2'),
    ],
)
def test_a_block_that_says_wrongly_what_it_needs_is_found(run, text):
    with pytest.raises((AssertionError, ModuleNotFoundError, pytest.fail.Exception)):
        run(text, 1, Path('page.md'), {})


def test_commands_are_taken_apart():
    block = 'cd a && b=2 ros2 run \\\n  x "y z"  # why\n\n# nothing\nexport c=1; d=3\necho $d'
    assert shell_commands.commands(block) == [
        ['cd', 'a'],
        ['ros2', 'run', 'x', 'y z'],
        ['export', 'c=1'],
        ['echo', '3'],
    ]
