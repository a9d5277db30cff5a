"""The manufacturer's client is satisfied by the emulated controller, and reads from it what this package reads."""

import json
import subprocess
import sys

from support.aubo.aubo_controller import AuboController

import pytest

from robot_dynamics_ros.aubo.sample import POSITION, ROBOT_MODE, SAFETY_MODE, TIME
from robot_dynamics_ros.aubo.stream import RtdeStream

pytest.importorskip(
    'pyaubo_sdk', reason="the manufacturer's client is not installed: it has wheels for CPython 3.6 to 3.11 on x86-64"
)
NAMES = [TIME, POSITION, ROBOT_MODE, SAFETY_MODE]
COUNT = 60
# In a process of its own: its calls hold the interpreter lock while they wait for the controller.
CLIENT = """
import json, os, sys, time
import pyaubo_sdk
rtde_port, rpc_port, names, count, result = json.loads(sys.argv[1])
rpc = pyaubo_sdk.RpcClient()
rpc.setRequestTimeout(60_000)  # ms; the controller answers from a process that is busy
assert rpc.connect('127.0.0.1', rpc_port) == 0
assert rpc.login('aubo', '123456') == 0
(robot,) = rpc.getRobotNames()
config = rpc.getRobotInterface(robot).getRobotConfig()
answers = [config.getPayload(), config.getGravity(), config.getMountingPose()]
stream = pyaubo_sdk.RtdeClient()
assert stream.connect('127.0.0.1', rtde_port) == 0
assert stream.login('aubo', '123456') == 0
rows = []
def on_sample(parser):
    rows.append([
        parser.popDouble(), parser.popVectorDouble(),
        parser.popRobotModeType().name, parser.popSafetyModeType().name,
    ])
deadline = time.monotonic() + 60.0
# 'send TIMEOUT' until its thread runs
while (topic := stream.setTopic(False, names, 200.0, 0)) < 0:
    assert time.monotonic() < deadline
assert stream.subscribe(topic, on_sample) == 0
while len(rows) < count and time.monotonic() < deadline:
    time.sleep(0.01)
with open(result, 'w') as file:  # the client logs on both outputs
    json.dump([sorted(stream.getOutputMaps()), answers, rows], file)
os._exit(0)
"""


def test_both_clients_read_the_same(arm, tmp_path):
    with AuboController(arm) as controller:
        stream = RtdeStream('127.0.0.1', 5.0, controller.rtde_port)
        arguments = json.dumps([controller.rtde_port, controller.rpc_port, NAMES, COUNT, str(tmp_path / 'result')])
        command = [sys.executable, '-c', CLIENT, arguments]
        stream.subscribe(NAMES, 200.0)
        ours = {}
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None:
                ours.update((values[0], values) for values in stream.read(0.1))
        for values in stream.read(0.1):
            ours[values[0]] = values
        stream.close()
        assert process.returncode == 0
        outputs, answers, theirs = json.loads((tmp_path / 'result').read_text())
    assert outputs == sorted(controller.outputs) == sorted(stream.outputs)
    payload, gravity, mounting = answers
    assert payload[:2] == [controller.payload.mass, list(controller.payload.com)]
    assert (gravity, mounting) == (controller.gravity, controller.mounting)
    assert len(theirs) >= COUNT
    assert [row for row in theirs if row[0] in ours] == [ours[row[0]] for row in theirs if row[0] in ours]
    assert sum(row[0] in ours for row in theirs) > COUNT // 2
