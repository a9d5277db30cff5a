"""gravity_compensation_node as a process: the torque that holds the arm where the state says it is."""

import math

from support.nodes import graph as ros

import numpy as np
import pytest
from lifecycle_msgs.msg import State, Transition
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros import Robot
from robot_dynamics_ros.messages.command_stamp import answered_stamp
from robot_dynamics_ros.tools.processes import ProcessError

pytestmark = pytest.mark.quick

NODE = 'gravity_compensation_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])
TWO_JOINTS = """
<robot name="two_joints">
  <link name="base"/>
  <link name="slide"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="3"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="slide"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="40" velocity="1"/></joint>
  <joint name="swing" type="revolute"><parent link="slide"/><child link="arm"/><axis xyz="0 -1 0"/>
    <limit lower="-1" upper="1" effort="0" velocity="1"/></joint>
</robot>
"""
"""By hand: lift carries 5 kg, 49.05 N, beyond its limit; swing 3 kg at 0.5 m, 14.715 N m, and its limit is unknown."""


@pytest.fixture(scope='module')
def graph(file_graph):
    file_graph.start(NODE, arguments=('-p', f'age_limit:={ros.DAY}'))
    return file_graph


def answer(graph, position=Q, names=NAMES, velocity=()):
    """Send a state and return its answer."""
    torques = graph.listen(JointState, 'gravity_torque')

    def send(stamp):
        graph.publish('joint_states', ros.joint_state(names, stamp, position, velocity))

    return graph.answer(send, torques, graph.now())


def test_torque_is_the_gravity_torque_of_the_measured_position(graph):
    commands = graph.listen(Float64MultiArray, 'gravity_torque/commands')
    torque = answer(graph)
    assert torque.name == NAMES
    assert torque.header.frame_id == ROBOT.link_names[0]
    np.testing.assert_allclose(torque.effort, ROBOT.gravity_torque(Q), rtol=0, atol=1e-9)
    graph.until(lambda: commands, 'commands')
    assert list(commands[0].data) == list(torque.effort)
    assert answered_stamp(commands[0]) == ros.nanoseconds(torque.header.stamp)


@pytest.mark.parametrize('velocity', [[], [np.nan] * 6, [5.0] * 6])
def test_velocities_do_not_matter(graph, velocity):
    np.testing.assert_allclose(answer(graph, velocity=velocity).effort, ROBOT.gravity_torque(Q), rtol=0, atol=1e-9)


def test_joints_are_matched_by_name(graph):
    torque = answer(graph, [7.0, *Q[::-1], 8.0], ['rail', *NAMES[::-1], 'gripper'])
    assert torque.name == NAMES
    np.testing.assert_allclose(torque.effort, ROBOT.gravity_torque(Q), rtol=0, atol=1e-9)


@pytest.mark.parametrize('gravity', [[0.0, 0.0, 9.81], [0.0, -9.81, 0.0], [0.0, 0.0, 0.0]])
def test_mounted_on_ceiling_wall_and_in_space(graph, gravity):
    with graph.parameters(NODE, gravity=gravity):
        effort = answer(graph).effort
    np.testing.assert_allclose(effort, ROBOT.with_gravity(gravity).gravity_torque(Q), rtol=0, atol=1e-9)


def test_robot_of_a_description_with_a_limit_that_has_to_be_stated(graph):
    robot = {'robot_description': TWO_JOINTS, 'model': 'does_not_count'}
    with pytest.raises(ProcessError), graph.parameters(NODE, **robot):
        pass
    assert "joint 'swing': no effort limit is known" in graph.log(NODE)
    with graph.parameters(NODE, **robot, effort_limit=[0.0, math.inf]):
        torque = answer(graph, [0.3, 0.0], ['lift', 'swing'])
    assert torque.name == ['lift', 'swing']
    np.testing.assert_allclose(torque.effort, [40.0, 3 * 9.81 * 0.5], rtol=0, atol=1e-9)


def test_cleaned_up_node_has_left_its_topics(graph):
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP)
    topics = ('gravity_torque', 'gravity_torque/commands')
    graph.until(lambda: not any(map(graph.node.count_publishers, topics)), 'no publishers')
    graph.until(lambda: not graph.node.count_subscribers('joint_states'), 'no subscriber')
    graph.client.change_state(NODE, Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
    np.testing.assert_allclose(answer(graph).effort, ROBOT.gravity_torque(Q), rtol=0, atol=1e-9)


def test_description_that_the_audit_finds_wrong_is_not_loaded(graph):
    heavy = TWO_JOINTS.replace('<mass value="3"/>', '<mass value="-3"/>')
    assert heavy != TWO_JOINTS
    with pytest.raises(ProcessError), graph.parameters(NODE, robot_description=heavy):
        pass
    assert graph.state_of(NODE) == State.PRIMARY_STATE_ACTIVE
    said = [line for line in graph.log(NODE).splitlines() if 'not configured' in line]
    assert "link 'arm'" in said[-1]
