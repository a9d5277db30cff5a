"""A node at its start: what is missing is reported and not needed.

It can be interrupted at any moment of it.
"""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from support.matrices import matrix
from support.nodes import graph as ros

import numpy as np
import pytest
from lifecycle_msgs.msg import State, Transition
from sensor_msgs.msg import JointState

from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.process import server_process
from robot_dynamics_ros.nodes.process.server_process import BESIDE, WORD

NODE = 'gravity_compensation_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])


def assert_answers(graph):
    torques = graph.listen(JointState, 'gravity_torque')

    def send():
        graph.publish('joint_states', ros.joint_state(NAMES, graph.now(), Q))

    graph.repeat_until(send, lambda: torques, 'an answer')
    np.testing.assert_allclose(torques[0].effort, ROBOT.gravity_torque(Q), rtol=0, atol=1e-9)


def test_a_home_that_cannot_be_written_is_not_needed(graph, tmp_path, monkeypatch):
    home = tmp_path / 'home'
    home.touch()  # a file where a folder should be: refused to root too
    for name in ('HOME', 'XDG_CACHE_HOME'):
        monkeypatch.setenv(name, str(home))
    graph.start(NODE)
    assert_answers(graph)
    assert '[WARN]' not in graph.log(NODE)


def test_where_a_manager_is_to_start_it_it_waits(graph):
    graph.start(NODE, arguments=('-p', 'autostart:=false'), active=False)
    assert graph.state_of(NODE) == State.PRIMARY_STATE_UNCONFIGURED
    graph.client.change_state(NODE, Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
    assert_answers(graph)


def test_missing_cores_are_reported_and_not_needed_and_memory_is_locked_or_that_is_refused(graph):
    graph.start(NODE, arguments=('-p', 'cores:=[4000]', '-p', 'lock_memory:=true'))
    graph.until(lambda: 'cores [4000]: ' in graph.log(NODE), 'the warning')
    assert_answers(graph)
    with open(f'/proc/{graph.pid(NODE)}/status') as status:
        (locked,) = [int(line.split()[1]) for line in status if line.startswith('VmLck')]
    assert locked > 0 or 'lock_memory: ' in graph.log(NODE)


def test_the_participant_is_created_before_the_rest_is_imported_and_kept_until_a_node_keeps_it():
    script = (
        'import gc, sys\n'
        'sys.argv[0] = "lib/robot_dynamics_ros/dynamics_server"\n'
        'from robot_dynamics_ros.nodes import executables\n'
        'from robot_dynamics_ros.nodes.process import discovery, participant\n'
        'def told():\n'
        '    imported = [name for name in ("rclpy.node", "lark") if name in sys.modules]\n'
        f'    participants = discovery.participant_numbers({ros.DOMAIN})\n'
        '    print(imported, len(participants), len(participant._keepers), gc.isenabled())\n'
        'told()\n'
        'import rclpy\n'
        'from robot_dynamics_ros.nodes.process import node_process as process\n'
        'process.lost_ports = lambda: told() or ["port"]\n'
        'process.run(lambda: told() or rclpy.create_node("node"))\n'
    )
    command = [sys.executable, '-c', script]
    printed = subprocess.run(command, cwd=ros.TREE, capture_output=True, text=True, check=False).stdout.splitlines()
    # at first, when a node is made, and when all nodes are
    assert printed[0] == '[] 1 1 False'
    assert printed[1] == "['rclpy.node'] 1 1 True"
    assert printed[2] == "['rclpy.node'] 1 0 True"


def started(arguments=(), node=NODE, output=subprocess.PIPE, **variables):
    """Start a node's module as a process that nothing looks after; return it."""
    command = [sys.executable, '-m', f'robot_dynamics_ros.nodes.executables.{node}', *arguments, *ros.AUBO_I5]
    return subprocess.Popen(
        command,
        cwd=ros.TREE,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        text=True,
    )


def assert_ends_well(process, number, log=None):
    process.send_signal(number)
    try:
        printed, _ = process.communicate(timeout=ros.START_TIMEOUT)
    finally:
        process.kill()
    printed = log.read_text() if log else printed
    assert 'Traceback' not in printed
    assert '[ERROR]' not in printed
    assert process.returncode in (0, -number), printed


STAGES = {
    'package': lambda maps, said: 'numpy' in maps,  # before that nobody's code can do anything
    'libraries': lambda maps, said: 'native/call' in maps,
    'middleware': lambda maps, said: 'rmw_fastrtps' in maps,
    'node': lambda maps, said: '[' in said,
}
"""How far a process has come, by what it has loaded and said."""
NUMBERS = [signal.SIGINT, signal.SIGTERM]
STARTS = itertools.product(STAGES, (NODE, 'bringup'), NUMBERS)
ALTERNATING = zip(STAGES, itertools.cycle([(NODE, signal.SIGTERM), ('bringup', signal.SIGINT)]), strict=False)


@pytest.mark.parametrize(
    ('stage', 'node', 'number'), matrix(STARTS, few=[(stage, *others) for stage, others in ALTERNATING])
)
def test_a_signal_during_start_up_ends_the_process_without_a_word_about_it(stage, node, number, tmp_path):
    log = tmp_path / 'log'
    with log.open('wb') as output:
        process = started(node=node, output=output)

    def reached():
        maps = Path(f'/proc/{process.pid}/maps').read_text()
        return STAGES[stage](maps, log.read_text()) or process.poll() is not None

    deadline = time.monotonic() + ros.START_TIMEOUT
    while not reached() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None, f'it ended by itself: {log.read_text()}'
    assert_ends_well(process, number, log)


@pytest.mark.parametrize('word', [WORD, b''])
def test_the_server_beside_a_bringup_ends_with_it_though_that_ended_before_it_listened(word):
    command = [sys.executable, '-m', 'robot_dynamics_ros.nodes.executables.bringup', BESIDE, *ros.AUBO_I5]
    process = subprocess.Popen(command, cwd=ros.TREE, stdin=subprocess.PIPE)
    try:
        process.stdin.write(word)
        process.stdin.close()
        assert process.wait(ros.START_TIMEOUT) in (0, -signal.SIGTERM)
    finally:
        process.kill()


def test_a_server_that_ended_before_its_bringup_began_is_reported(monkeypatch):
    said, logged = [], threading.Event()

    def log(text):
        said.append(text)
        logged.set()

    monkeypatch.setattr(server_process, '_started', [])
    with subprocess.Popen([sys.executable, '-c', ''], stdin=subprocess.PIPE, bufsize=0) as ended:
        ended.wait(ros.START_TIMEOUT)
        server_process._started.append(ended)
        with server_process.running(log):
            assert logged.wait(ros.START_TIMEOUT)
    assert 'has ended with status 0' in said[0]


def printed_until_the_end(script, word, number, *arguments):
    """Run Python until it prints ``word``, end it by a signal; return all that it printed."""
    command = [sys.executable, '-c', script, *arguments, *ros.AUBO_I5]
    process = subprocess.Popen(command, cwd=ros.TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if word in line:
            break
    process.send_signal(number)
    try:
        rest, _ = process.communicate(timeout=ros.START_TIMEOUT)
    finally:
        process.kill()
    assert process.returncode == 0
    return ''.join(lines) + rest


@pytest.mark.parametrize('number', matrix(NUMBERS, few=[signal.SIGINT]))
def test_a_signal_while_a_second_node_is_configured_silences_the_first_and_ends_the_process(number):
    script = (
        'import time\n'
        'from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode\n'
        'from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer\n'
        'from robot_dynamics_ros.nodes.process.node_process import run\n'
        'class First(GravityCompensationNode):\n'
        '    def fall_silent(self):\n'
        '        super().fall_silent()\n'
        '        print("silent", self.context.ok(), flush=True)\n'
        'class Second(DynamicsServer):\n'
        '    def make_task(self):\n'
        '        super().make_task()\n'
        '        print("second", flush=True)\n'
        '        while True: pass\n'
        'run(First, Second)\n'
    )
    assert printed_until_the_end(script, 'second', number).splitlines()[-1] == 'silent True'


@pytest.mark.parametrize('number', matrix(NUMBERS, few=[signal.SIGINT]))
def test_a_node_that_is_configured_while_another_one_sends_its_last_torques_does_not_begin(number):
    """The first node's ramp lasts until the second one has tried to begin."""
    script = (
        'import threading\n'
        'from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode\n'
        'from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer\n'
        'from robot_dynamics_ros.nodes.process.node_process import run\n'
        'ending, tried = threading.Event(), threading.Event()\n'
        'class First(GravityCompensationNode):\n'
        '    def fall_silent(self):\n'
        '        tried.wait()\n'
        '        super().fall_silent()\n'
        'class Second(DynamicsServer):\n'
        '    def make_task(self):\n'
        '        task = super().make_task()\n'
        '        print("second", flush=True)\n'
        '        ending.wait()\n'
        '        return task\n'
        '    def fall_silent(self):\n'
        '        super().fall_silent()\n'
        '        ending.set()\n'
        '    def start(self):\n'
        '        super().start()\n'
        '        print("active:", self.active, self.silence, flush=True)\n'
        '        tried.set()\n'
        'run(First, Second)\n'
    )
    last = printed_until_the_end(script, 'second', number).splitlines()[-1]
    assert last == 'active: False not activated: the process ends'


@pytest.mark.parametrize('number', matrix(NUMBERS, few=[signal.SIGINT]))
def test_at_the_end_nodes_fall_silent_while_they_can_still_publish(number):
    script = (
        'from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode\n'
        'from robot_dynamics_ros.nodes.process.node_process import run\n'
        'class Node(GravityCompensationNode):\n'
        '    def start(self):\n'
        '        super().start()\n'
        '        self.create_timer(0.0, lambda: print("spins", flush=True))\n'
        '    def fall_silent(self):\n'
        '        super().fall_silent()\n'
        '        print(f"silent {self.context.ok()}\\n", end="", flush=True)  # in one piece: two threads print\n'
        'run(Node)\n'
    )
    printed = printed_until_the_end(script, 'spins', number)
    assert 'silent True' in printed and 'silent False' not in printed


@pytest.mark.parametrize('number', matrix(NUMBERS, few=[signal.SIGTERM]))
def test_a_signal_while_the_executor_is_busy_silences_the_nodes_and_ends_the_process(number):
    script = (
        'from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode\n'
        'from robot_dynamics_ros.nodes.process.node_process import run\n'
        'class Node(GravityCompensationNode):\n'
        '    def start(self):\n'
        '        super().start()\n'
        '        self.create_timer(0.0, self.be_busy)\n'
        '    def be_busy(self):\n'
        '        print("busy", flush=True)\n'
        '        while True: pass\n'
        '    def fall_silent(self):\n'
        '        super().fall_silent()\n'
        '        print("silent", self.context.ok(), flush=True)\n'
        'run(Node)\n'
    )
    assert printed_until_the_end(script, 'busy', number).splitlines()[-2:] == ['busy', 'silent True']


@pytest.mark.parametrize('node', [NODE, 'bringup'])
def test_a_parameter_file_that_does_not_exist_ends_the_process_with_one_line(node):
    process = started(['--ros-args', '--params-file', 'nowhere.yaml'], node)
    printed, _ = process.communicate(timeout=60.0)
    assert process.returncode == 1
    (line,) = [line for line in printed.splitlines() if '[rcl]' not in line]
    assert line.startswith('not started: ')
    assert 'nowhere.yaml' in line


def test_simulated_arm_without_mujoco_names_what_to_install_and_the_library_needs_none():
    script = (
        'import sys\n'
        'sys.modules["mujoco"] = None  # what an import finds where it is not installed\n'
        'from robot_dynamics_ros.nodes.executables.bringup import main\n'
        'main()\n'
    )
    nodes = ('--nodes', 'gravity_compensation_node simulated_arm')
    printed = printed_until_the_end(script, '[simulated_arm]: not configured', signal.SIGINT, *nodes)
    assert '[gravity_compensation_node]: aubo_i5: 6 joints' in printed
    (error,) = [line for line in printed.splitlines() if 'ERROR' in line]
    assert "[simulated_arm]: not configured: simulated_arm needs MuJoCo (pip install 'mujoco" in error
    assert 'Traceback' not in printed


def test_aubo_node_without_cbor2_names_what_to_install():
    script = (
        'import sys\n'
        'sys.modules["cbor2"] = None\n'
        'from robot_dynamics_ros.nodes.executables.aubo_node import main\n'
        'main()\n'
    )
    arguments = ('--ros-args', '-p', 'robot_ip:=127.0.0.1')
    printed = printed_until_the_end(script, '[aubo_node]: not configured', signal.SIGINT, *arguments)
    (error,) = [line for line in printed.splitlines() if 'ERROR' in line]
    assert 'the stream of a controller needs cbor2 (apt install python3-cbor2, or pip install' in error
    assert 'Traceback' not in printed
