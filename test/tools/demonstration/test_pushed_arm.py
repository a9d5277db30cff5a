"""The demo of a compliant tool as a process: the tool yields to a push, and nothing stays behind after Ctrl+C."""

import os
import re
import signal
import subprocess
import sys

from support.nodes import graph as ros
from support.nodes.started_processes import still_running

import pytest

from robot_dynamics_ros.tools import demo

pytestmark = pytest.mark.ros

TIMEOUT = 240.0
UNTIL = 'it runs until Ctrl+C; push it on applied_wrench'


@pytest.mark.slow  # nodes/executables/test_applied_wrench.py has it without the demo, test_demo.py the demo
def test_a_push_moves_the_tool_by_force_over_stiffness_and_it_comes_back(tmp_path):
    command = [sys.executable, '-m', 'robot_dynamics_ros.tools.demo', '--compliant', '--output', str(tmp_path / 'new')]
    environment = {**os.environ, 'ROS_LOG_DIR': str(tmp_path), 'PYTHONUNBUFFERED': '1'}
    process = subprocess.Popen(
        command, cwd=ros.TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        printed = []
        for line in process.stdout:
            printed.append(line)
            if UNTIL in line:
                break
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=TIMEOUT)
    text = ''.join(printed) + rest
    assert process.returncode == 0, text
    (moved,) = re.findall(r'a push of 40 N along y moves the tool by (\d+) mm; .* would be 50 mm', text)
    (left,) = re.findall(r'comes back to (\d+) mm', text)
    assert 30 < int(moved) <= 50 and int(left) < 20  # friction of the joints carries the rest
    assert still_running() == [] and 'Traceback' not in text


def test_a_log_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, 'argv', ['demo', '--compliant', '--log', 'a.csv', '--output', str(tmp_path)])
    with pytest.raises(SystemExit, match=r'^robot_dynamics_demo: --log: a compliant tool follows none$'):
        demo.main()
