"""A controlled arm as four processes: whichever is killed, the others continue, and it joins again when restarted."""

from support.matrices import matrix
from support.nodes import graph as ros

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.srv import GetMassMatrix
from robot_dynamics_ros import Robot

ROBOT = Robot.named('aubo_i5')
START = [0.0, -0.7, 0.4, 0.2, 0.5, -0.1]
PARAMETERS = {
    'simulated_arm': {'rate': 50.0, 'start': START, 'command_timeout': 1.0, 'longest_delay': 1.0},
    'feedforward_node': {'age_limit': 10.0},
    'torque_controller': {'age_limit': 10.0, 'feedforward_age_limit': 10.0},
    'dynamics_server': {},
}


def start(graph, *nodes):
    for node in nodes:
        arguments = [part for name, value in PARAMETERS[node].items() for part in ('-p', f'{name}:={value}')]
        graph.start(node, arguments=arguments)


@pytest.fixture(scope='module')
def graph(file_graph):
    start(file_graph, *PARAMETERS)
    return file_graph


def follow(graph):
    """Have the arm stay where it starts, by a trajectory."""
    rest = [0.0] * ROBOT.nv
    message = ros.trajectory(ROBOT.joint_names, 0, (0.0, START, rest, rest), (1000.0, START, rest, rest))
    graph.publish('joint_trajectory', message)


def assert_all_take_part(graph):
    """See the loop closed, each message answered by the next node, and the arm where it shall be."""
    states = graph.listen(JointState, 'joint_states')
    torques = graph.listen(JointState, 'feedforward_torque')
    commands = graph.listen(Float64MultiArray, 'effort_commands')
    since = graph.now()

    def going_on():
        stamps = {ros.nanoseconds(state.header.stamp) for state in states}
        answered = [ros.nanoseconds(torque.header.stamp) for torque in torques]
        return len(commands) > 20 and sum(stamp in stamps and stamp > since for stamp in answered) > 20

    graph.repeat_until(lambda: follow(graph), going_on, 'the loop', 3.0)
    graph.diagnostics('simulated_arm', lambda status: status.fields['brakes'] == 'open')
    np.testing.assert_allclose(states[-1].position, START, rtol=0, atol=0.05)
    request = GetMassMatrix.Request(positions=START)
    assert graph.client.call(GetMassMatrix, 'dynamics_server/get_mass_matrix', request).success


@pytest.mark.parametrize('node', matrix(PARAMETERS, ['torque_controller']))
def test_a_killed_node_joins_again(graph, node):
    assert_all_take_part(graph)
    process = graph.forget(node)
    process.kill()
    process.wait()
    for other in PARAMETERS.keys() - {node}:
        assert graph.diagnostics(other).message
    start(graph, node)
    assert_all_take_part(graph)
