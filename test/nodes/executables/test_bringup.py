"""bringup: several nodes in one process, dynamics_server beside it, all active; an unknown name ends it at once."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.started_processes import marked_processes

import numpy as np
import pytest
import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.srv import GetMassMatrix
from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.nodes.process.server_process import DEFAULT
from robot_dynamics_ros.tools.processes import Processes

ROBOT = Robot.named('aubo_i5')
START = [0.0, -0.7, 0.4, 0.2, 0.5, -0.1]


@pytest.mark.parametrize(('names', 'culprit'), [('dynamics_server node_of_nobody', 'node_of_nobody'), (' ', 'none')])
def test_unknown_node_name_ends_it_naming_the_name(names, culprit):
    command = [
        sys.executable,
        '-m',
        'robot_dynamics_ros.nodes.executables.bringup',
        '--nodes',
        names,
        '--ros-args',
        '-p',
        'a:=1',
    ]
    done = subprocess.run(command, cwd=ros.TREE, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert culprit in done.stderr.splitlines()[-1]
    assert 'Traceback' not in done.stderr


def until_said(arguments, *texts):
    """Run bringup until it has printed all of ``texts``; return what it printed until it ended."""
    command = [sys.executable, '-m', 'robot_dynamics_ros.nodes.executables.bringup', *arguments, *ros.AUBO_I5]
    process = subprocess.Popen(command, cwd=ros.TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    try:
        for line in process.stdout:
            lines.append(line)
            if all(text in ''.join(lines) for text in texts):
                break
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=20.0)
    assert process.returncode == 0
    return ''.join(lines) + rest


CONFIGURED = ('[feedforward_node]: aubo_i5', '[dynamics_server]: aubo_i5')
FRANKA = ['--preset', 'franka', '--ros-args', '--params-file', 'config/nodes.yaml'], 'preset franka'


@pytest.mark.parametrize(
    ('arguments', 'said'),
    # sections of single nodes come before a parameter of all: the option must win all the same
    matrix([FRANKA, (['--ros-args', '-p', 'gravity_owner:=robot'], 'gravity_owner robot')], [FRANKA]),
)
def test_gravity_is_left_to_the_robot_that_compensates_it(arguments, said):
    left_out = f'[gravity_compensation_node]: left out: with {said} the robot compensates gravity itself'
    printed = until_said(arguments, left_out, *(f'{text}: 6 joints' for text in CONFIGURED))
    assert 'ERROR' not in printed
    assert '[gravity_compensation_node]: aubo_i5' not in printed


@pytest.mark.parametrize('arguments', [['--preset', 'effort_controller'], ['--preset', 'frank']])
def test_gravity_is_not_left_out_otherwise(arguments):
    text = 'preset: expected one of sim, ' if 'frank' in arguments else '[gravity_compensation_node]: aubo_i5: 6 joints'
    printed = until_said(arguments, text, '[dynamics_server]: aubo_i5: 6 joints')
    assert 'left out' not in printed


def test_the_source_of_the_command_line_comes_before_the_section_of_its_node():
    """A parameter that only one node has: config/nodes.yaml has it in that node's section."""
    context = rclpy.Context()
    file = str(ros.TREE / 'config' / 'nodes.yaml')
    context.init(args=['--ros-args', '--params-file', file, '-p', 'model:=aubo_i5'])
    overrides = [Parameter('source', value='controller_state')]
    made = {name: NODES[name](context=context, parameter_overrides=overrides) for name in DEFAULT}
    try:
        assert made['feedforward_node'].value('source') == 'controller_state'
        assert not made['dynamics_server'].has_parameter('source')
        for name in ('dynamics_server', 'gravity_compensation_node'):
            assert made[name].trigger_configure() == TransitionCallbackReturn.SUCCESS
    finally:
        for node in made.values():
            node.destroy_node()
        context.try_shutdown()


def test_gravity_that_is_asked_for_by_name_is_refused():
    printed = until_said(['--nodes', 'gravity_compensation_node', '--preset', 'franka'], 'not configured')
    assert 'would be compensated twice' in printed
    assert 'left out' not in printed


def test_what_the_command_line_sets_comes_before_parameter_files():
    arguments = ['--nodes', 'dynamics_server', '--model', 'aubo_i5_lecture']
    printed = until_said([*arguments, '--ros-args', '--params-file', 'config/nodes.yaml'], '6 joints')
    assert '[dynamics_server]: aubo_i5_lecture: 6 joints' in printed


def test_a_node_that_runs_in_bringup_has_its_log(tmp_path):
    processes = Processes(tmp_path)
    processes._running['bringup'] = None
    (tmp_path / 'bringup.log').write_text('not configured: no robot')
    assert processes.last_lines('feedforward_node').endswith('bringup.log:\nnot configured: no robot')


def test_without_a_server_there_is_no_second_process(alone):
    alone.bring_up('gravity_compensation_node', 'feedforward_node')
    assert marked_processes() == [alone.pid('bringup')]


@pytest.fixture(scope='module')
def graph(file_graph):
    # the tests above do without: five nodes with an arm in motion use the processor as long as they run
    # a low rate, and states that are never old: one process on a busy machine does the work of five
    values = {'rate': 40.0, 'start': START, 'age_limit': 10.0, 'control_law': 'pd_gravity', 'command_timeout': 2.0}
    parameters = [part for name, value in values.items() for part in ('-p', f'{name}:={value}')]
    file_graph.bring_up(*NODES, arguments=parameters)
    return file_graph


def server_of(graph) -> int:
    """Return the process of the server beside the others'."""
    (server,) = {*marked_processes()} - {graph.pid('bringup')}
    assert b'--beside' in Path(f'/proc/{server}/cmdline').read_bytes()
    return server


def test_all_nodes_are_in_the_graph_and_the_server_in_a_process_of_its_own(graph):
    names = [space.rstrip('/') + '/' + name for name, space in graph.node.get_node_names_and_namespaces()]
    assert {f'/{node}' for node in NODES} <= set(names)
    assert server_of(graph)


def test_the_controller_holds_the_arm_and_the_others_publish_torques(graph):
    states = graph.listen(JointState, 'joint_states')
    commands = graph.listen(Float64MultiArray, 'effort_commands')
    torques = graph.listen(JointState, 'gravity_torque')
    graph.until(lambda: len(commands) > 20 and len(torques) > 20 and len(states) > 20, 'torques')
    assert graph.diagnostics('simulated_arm').fields['brakes'] == 'open'
    np.testing.assert_allclose(states[-1].position, START, rtol=0, atol=0.05)
    position = {ros.nanoseconds(state.header.stamp): state.position for state in states}
    answered = [torque for torque in torques if ros.nanoseconds(torque.header.stamp) in position]
    assert answered
    for torque in answered:
        expected = ROBOT.gravity_torque(np.array(position[ros.nanoseconds(torque.header.stamp)]))
        np.testing.assert_allclose(torque.effort, expected, rtol=0, atol=1e-9)


def test_feedforward_node_follows_a_trajectory(graph):
    position = np.array(START)
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.follow(
        'bringup', ros.trajectory(ROBOT.joint_names, 0, (0.0, position, 0 * position, 0 * position)), receivers=2
    )
    graph.until(lambda: torques, 'feedforward torque')
    expected = ROBOT.gravity_torque(position) + ROBOT.friction_torque(0 * position)
    np.testing.assert_allclose(torques[-1].effort, expected, rtol=0, atol=1e-9)


def test_services_respond_beside_the_torques(graph):
    response = graph.client.call(
        GetMassMatrix, 'dynamics_server/get_mass_matrix', GetMassMatrix.Request(positions=START)
    )
    assert response.success
    np.testing.assert_allclose(response.mass_matrix, ROBOT.mass_matrix(np.array(START)).ravel(), rtol=0, atol=1e-12)


def test_where_the_process_of_the_server_ends_the_others_go_on_and_the_log_says_so(graph):
    """It may run out of memory, for instance; the last test of these nodes."""
    os.kill(server_of(graph), signal.SIGKILL)
    graph.until(lambda: 'dynamics_server has ended with status -9' in graph.log('bringup'), 'the error')
    torques = graph.listen(JointState, 'gravity_torque')
    graph.until(lambda: len(torques) > 20, 'torques')


def test_the_process_of_the_server_ends_with_the_one_of_the_others_however_that_ends(alone):
    alone.bring_up('gravity_compensation_node', 'dynamics_server')
    server = server_of(alone)
    alone.end('bringup', signal.SIGKILL)
    alone.until(lambda: server not in marked_processes(), 'the end of the server')
