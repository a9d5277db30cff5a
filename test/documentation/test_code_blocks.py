"""Every code block of README and site runs, or names only what exists.

A block runs in an environment with what pip installs alone, unless it says that it needs ROS 2: by a comment, or by
``ros2`` itself. Where ROS 2 is not installed (scripts/pip_alone) only what runs without is looked at.
"""

import re
import subprocess
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

from support.project import shell_commands
from support.project.pip_alone import pip_alone
from support.project.shell_commands import ROOT

import pytest
import yaml
from markdown_it import MarkdownIt

from robot_dynamics_ros import Robot

HAS_ROS = find_spec('rclpy') is not None
WITH_ROS = ('bringup', 'demo', 'demo_motion', 'replay')
"""Commands that say that they need ROS 2 (packaging/test_pip_alone.py)."""
OPTIONAL = {'casadi': ('casadi',), 'jax_and_torch': ('jax', 'torch')}
"""Packages that a page needs, and that the tests do without."""
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
    if HAS_ROS:
        exec(code, names)


def run_bash(text: str, line: int, page: Path, names: dict) -> None:
    """Check what commands name; run a compiler, for the blocks after it."""
    for command in text.replace('\\\n', ' ').splitlines():
        if (found := re.match(r'robot_dynamics_(\w+)', command)) is not None:
            assert (NEEDS_ROS in command) == (found[1] in WITH_ROS), command
    for words in shell_commands.commands(text):
        of_pip = words[0].startswith('robot_dynamics_')
        if HAS_ROS or of_pip:
            with pip_alone() if of_pip else nullcontext():
                shell_commands.check(words)
        if words[0] == 'cc':
            subprocess.run([*words, '-Wall', '-Wextra', '-Werror'], check=True)


def write_c(text: str, line: int, page: Path, names: dict) -> None:
    """Write the file that its first line names."""
    Path(text.split()[1].rstrip(':')).write_text(text, encoding='utf-8')


def check_cpp(text: str, line: int, page: Path, names: dict) -> None:
    """Write the file and let the compiler check it; test_effort_law_page.py builds it as the page says."""
    write_c(text, line, page, names)
    options = ('-std=c++17', '-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-I')
    include = ROOT / 'robot_dynamics_controllers' / 'include'
    subprocess.run(['c++', *options, include, text.split()[1].rstrip(':')], check=True)


def check_yaml(text: str, line: int, page: Path, names: dict) -> None:
    """Take it for a parameter, actuator or loops file or that of a controller_manager; write one that is named."""
    tables, first = yaml.safe_load(text), text.partition('\n')[0]
    if first.endswith('.yaml'):
        Path(first.removeprefix('# ')).write_text(text, encoding='utf-8')
    if list(tables) == ['loops']:
        assert first.endswith('.yaml')  # the page's Python reads it
        return
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
    from rclpy.context import Context  # noqa: PLC0415

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
    'cmake': write_c,
    'cpp': check_cpp,
    'python': run_python,
    'text': lambda *block: None,
    'yaml': check_yaml,
}


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT).with_suffix('')))
def test_the_code_blocks_of_a_page(page, tmp_path, monkeypatch):
    for package in OPTIONAL.get(page.stem, ()):
        pytest.importorskip(package, reason=f'{package} is not installed')
    monkeypatch.chdir(tmp_path)
    names = {'__name__': page.stem}
    for language, text, line in blocks(page):
        where = f'{page.name}:{line}'
        assert language in LANGUAGES, f'{where}: a block of language {language!r}'
        try:
            if 'ros__parameters:' in text and HAS_ROS:
                read_by_rcl(text)
            LANGUAGES[language](text, line, page, names)
        except Exception as error:
            raise AssertionError(f'{where}: {error!r}') from error


@pytest.mark.skipif(not HAS_ROS, reason='needs ROS 2')
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
