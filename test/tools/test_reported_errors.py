"""Errors of commands: one line with the command's name, and none where the reader of the output has ended."""

import os
import subprocess
import sys

import pytest

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.tools.reported_errors import reported_errors


@pytest.mark.parametrize(
    ('error', 'said'),
    [
        (ArgumentError('--rate: wrong'), 'robot_dynamics_view: --rate: wrong'),
        (OSError('no space'), 'robot_dynamics_view: no space'),
        (KeyboardInterrupt(), 'robot_dynamics_view: interrupted'),
    ],
)
def test_an_error_becomes_one_line(error, said):
    with pytest.raises(SystemExit) as ended, reported_errors('robot_dynamics_view'):
        raise error
    assert ended.value.code == said


@pytest.mark.parametrize('unbuffered', ['', '1'])
def test_without_a_reader_of_the_output_a_command_ends_silently(unbuffered):
    program = (
        'from robot_dynamics_ros.tools.reported_errors import reported_errors\n'
        "with reported_errors('robot_dynamics_view'):\n    print('a table')\n"
    )
    environment = {**os.environ, 'PYTHONUNBUFFERED': unbuffered}
    read, write = os.pipe()
    os.close(read)
    try:
        ended = subprocess.run(
            [sys.executable, '-c', program], check=False, env=environment, stdout=write, stderr=subprocess.PIPE
        )
    finally:
        os.close(write)
    assert (ended.returncode, ended.stderr) == (1, b'')
