"""The page on torques of mechanisms, walked through in an empty folder: its commands run and print what it shows."""

import io
import re
from contextlib import redirect_stdout, suppress
from pathlib import Path

from support.project import shell_commands

import numpy as np
import pytest
from markdown_it import MarkdownIt

from robot_dynamics_ros.control.arm.driven_robot import in_driven_joints
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.tools import check_model, export_c, export_controller

PAGE = Path(__file__).resolve().parents[2] / 'doc' / 'how_to' / 'closed_loops.md'
RUN = {f'robot_dynamics_{it.__name__.rpartition(".")[2]}': it.main for it in (check_model, export_c, export_controller)}


def words_of(text: str) -> list[str]:
    """Return the lines of a text without the width of columns."""
    return [' '.join(line.split()) for line in text.splitlines() if line.strip()]


def status_of(command: str, arguments: list[str]) -> int:
    """Return the exit status of a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('sys.argv', [command, *arguments])
        try:
            RUN[command]()
        except SystemExit as error:
            return error.code or 0
    return 0


@pytest.fixture(scope='module')
def walked(tmp_path_factory):
    """Lines that the page shows, with those that its commands and messages have printed by then; and the folder."""
    folder = tmp_path_factory.mktemp('walked')
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output):
        patch.chdir(folder)
        names: dict = {'__name__': 'page'}
        shown = []
        for token in MarkdownIt().parse(PAGE.read_text(encoding='utf-8')):
            if token.info == 'python':
                exec(compile(token.content, PAGE, 'exec'), names)
            elif token.info == 'yaml':
                Path(token.content.split()[1]).write_text(token.content, encoding='utf-8')
            elif token.info == 'bash':
                for name, *arguments in shell_commands.commands(token.content):
                    if name in RUN:
                        assert status_of(name, arguments) == 0, arguments
            elif token.info == 'text':
                shown += [(line, words_of(output.getvalue())) for line in words_of(token.content)]
    return shown, words_of(output.getvalue()), folder, names


def test_tables_are_those_that_check_model_prints(walked):
    shown, *_ = walked
    tables = [(line, printed) for line, printed in shown if not line.startswith('joint state rejected')]
    assert len(tables) > 10
    assert [line for line, printed in tables if line not in printed] == []


def test_values_in_comments_are_those_that_are_printed(walked):
    _, printed, *_ = walked
    stated = re.findall(r'^print\(.*\)  # ([\[(].*?[\])])', PAGE.read_text(encoding='utf-8'), re.MULTILINE)
    assert len(stated) == 4
    assert [it for it in stated if it not in printed] == []


def test_messages_are_those_of_the_mechanism(walked):
    shown, *_, names = walked
    nothing = np.full(2, np.nan)
    said = []
    period = 4 * 10**6  # ns
    cases = [
        ([1.4, 1.36], nothing, 1000),
        ([1.4, -0.2 + np.radians(5.0)], nothing, 0),
        ([1.4, -0.2], np.array([-1.6, 1.9]), 0),
    ]
    for y, positions, steps in cases:
        following = in_driven_joints(names['whole'], 0.05).following
        begin = following.home if steps else np.array([1.4, -0.2])
        way = [*[begin] * 10, *np.linspace(begin, y, steps)]
        for k, place in enumerate(way):
            with suppress(DynamicsError):
                following.measure(place, nothing, period * k)
        stamp = period * len(way)
        with pytest.raises(DynamicsError) as error:
            following.measure(np.array(y), positions, stamp)
        said.append(f'joint state rejected: {error.value}')
    assert said == [line for line, _ in shown if line.startswith('joint state rejected')]


def test_the_exported_functions_are_those_that_the_page_names(walked):
    folder = walked[2]
    header = (folder / 'exported' / 'palletizer_dynamics.h').read_text()
    named = re.findall(r'`(palletizer_driven_\w+)`', PAGE.read_text(encoding='utf-8'))
    assert len(named) == 3 and all(f'{it}(' in header for it in named)
    assert (folder / 'palletizer_controllers' / 'package.xml').is_file()


def test_torques_where_the_loops_were_closed_first_are_those_of_the_page(walked):
    robot = walked[3]['palletizer']
    assert '{:.2f} and {:.2f} N m'.format(*robot.gravity_torque(robot.neutral())) in PAGE.read_text(encoding='utf-8')
