"""The program on the page on exported C that has the law of the controllers: its commands build it, and it holds."""

import re
import shutil
import subprocess
from pathlib import Path

from support.project import shell_commands
from support.project.project_files import ROOT

import numpy as np
import pytest
from markdown_it import MarkdownIt

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.tools import export_controller

PAGE = ROOT / 'doc' / 'how_to' / 'library' / 'export_c.md'
SECTION = '## The law of the controllers without ROS'
QUICKLY = ('-DCMAKE_BUILD_TYPE=Debug', '-DCMAKE_UNITY_BUILD=ON', '-DCMAKE_UNITY_BUILD_BATCH_SIZE=99')


@pytest.mark.slow
@pytest.mark.skipif(not all(map(shutil.which, ('cmake', 'cc', 'c++'))), reason='no CMake, or no C and C++ compiler')
def test_the_law_runs_without_ros_as_the_page_says(tmp_path, monkeypatch):
    section = PAGE.read_text(encoding='utf-8').partition(SECTION)[2].partition('\n## ')[0]
    blocks = [it for it in MarkdownIt().parse(section) if it.type == 'fence']
    assert [it.info for it in blocks] == ['bash', 'cmake', 'cpp', 'bash', 'text']
    export, *files, build, shown = blocks
    monkeypatch.chdir(tmp_path)
    for file in files:
        Path(file.content.split()[1].rstrip(':')).write_text(file.content, encoding='utf-8')
    ((name, *arguments),) = shell_commands.commands(export.content)
    monkeypatch.setattr('sys.argv', [name, *arguments])
    export_controller.main()
    configure, compiled, run = shell_commands.commands(build.content.replace('../robot_dynamics_ros', str(ROOT)))
    subprocess.run([*configure, *QUICKLY], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(compiled, check=True, stdout=subprocess.DEVNULL)
    printed = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert printed == shown.content
    outcome, *numbers = re.split(r'\s(?=-?\d)', printed.strip())
    robot = Robot.named('aubo_i5').with_payload(Payload(2.0, (0.0, 0.0, 0.05)))
    assert outcome == 'no reference: gravity compensation:'
    assert np.array(numbers, float) == pytest.approx(robot.gravity_torque(np.full(6, 0.3)), abs=1e-6)
