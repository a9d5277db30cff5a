"""An active node compiles nothing and looks for no compiled code on disk: configuring has done so.

Where everything was compiled before, the process of a node imports no compiler.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from support import graph as ros

import pytest

CASES = {
    'dynamics_server': ('warm_server.py',),
    **{
        node: ('warm_torque_node.py', node)
        for node in ('gravity_compensation_node', 'feedforward_node', 'torque_controller')
    },
}


@pytest.mark.parametrize('arguments', CASES.values(), ids=CASES)
def test_once_active_nothing_is_compiled_or_looked_for_on_disk(tmp_path, arguments):
    """A node, warmed up, answers whatever is asked by code that it has."""
    told = run(tmp_path, *arguments)
    assert told['before'] and all(path.endswith('.o') for path in told['before']), 'object files are not seen'
    assert told['loaded'] == []
    if told['imported']:  # everything is compiled now
        told = run(tmp_path, *arguments)
    assert told['imported'] == []


def run(tmp_path, script, *node):
    """Return what a script of test/support tells of a node."""
    support = Path(ros.__file__).parent
    command = [sys.executable, str(support / script), str(tmp_path), *node]
    folders = [str(ros.TREE), str(support.parent), os.environ.get('PYTHONPATH', '')]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(folders)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])
