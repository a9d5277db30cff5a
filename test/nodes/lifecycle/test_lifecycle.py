"""No torque of a node that was shut down, or whose robot was described again while it was inactive."""

import os
import threading

from support.nodes import graph as ros
from support.robots.small_robots import pendulum

import pytest
import rclpy
from std_msgs.msg import String

from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode

TOPIC = 'gravity_torque'
BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
ROCK = f'<robot name="rock"><link name="base">{BODY}</link></robot>'
SLED = f"""
<robot name="sled">
  <link name="base"/><link name="sled">{BODY}</link>
  <joint name="ice" type="planar"><parent link="base"/><child link="sled"/><axis xyz="0 0 1"/></joint>
</robot>"""


@pytest.fixture
def make():
    """Make a node in this process that waits for its robot, as the parameters say."""
    assert os.environ['ROS_DOMAIN_ID'] == str(ros.DOMAIN)
    rclpy.init(args=ros.AUBO_I5)
    made = []

    def make(autostart: bool) -> GravityCompensationNode:
        values = {'description_topic': 'robot_description', 'autostart': autostart}
        parameters = [part for name, value in values.items() for part in ('-p', f'{name}:={value}')]
        made.append(GravityCompensationNode(namespace='/lifecycle', cli_args=['--ros-args', *parameters]))
        return made[-1]

    yield make
    for node in made:
        node.fall_silent()
        node.destroy_node()
    rclpy.try_shutdown()


def describe(node, mass: float):
    node.description.on_message(String(data=pendulum(mass)))


def takes_states() -> bool:
    """Return whether a thread waits for states in this process."""
    return 'hot path' in {thread.name for thread in threading.enumerate()}


def outputs(node) -> list[str]:
    """Return the topics on which a node says torques."""
    return [publisher.topic for publisher in node.publishers if TOPIC in publisher.topic]


@pytest.mark.parametrize('deactivated', [False, True])
def test_shut_down_from_any_state_it_handles_no_joint_states_and_has_left_its_topics(make, deactivated):
    node = make(autostart=True)
    describe(node, 2.0)
    assert takes_states() and outputs(node)
    if deactivated:
        node.trigger_deactivate()
    node.trigger_shutdown()
    assert not node.active
    assert not takes_states()
    assert outputs(node) == []


def test_another_robot_activates_no_inactive_node(make):
    node = make(autostart=False)
    describe(node, 2.0)
    assert node.robot is None
    node.trigger_configure()
    carried = node.robot.gravity_torque([0.0])
    describe(node, 4.0)
    assert node.robot.gravity_torque([0.0]) == pytest.approx(2.0 * carried)
    assert (node.active, node.silence) == (False, 'not active')
    assert not takes_states()
    node.trigger_activate()
    assert node.active and takes_states()


def test_another_robot_finds_an_active_node_active(make):
    node = make(autostart=True)
    describe(node, 2.0)
    describe(node, 3.0)
    assert node.active and takes_states()
    assert node.robot.gravity_torque([0.0]) == pytest.approx([3.0 * 9.81 * 0.5])


@pytest.mark.parametrize(
    ('urdf', 'reason'),
    [
        (ROCK, 'not configured: rock: no joint moves'),
        (
            SLED,
            "not configured: sled: JointState has no place for joints of several degrees of freedom, and joint 'ice' is"
            ' planar; choose the arm: base_link:=FIRST_LINK tip_link:=LAST_LINK, with the parameter gravity in the'
            ' frame of base_link',
        ),
    ],
    ids=['no joint', 'planar joint'],
)
def test_a_robot_that_joint_states_cannot_describe_is_refused(make, urdf, reason):
    node = make(autostart=True)
    node.description.on_message(String(data=urdf))
    assert (node.robot, node.active, node.silence) == (None, False, reason)
