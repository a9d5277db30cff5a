"""A client loads the robot of its node, also of one in a namespace, and again where it is described anew."""

import re

from support.nodes.feedforward import CONTROLLER, ROBOT

import pytest
from lifecycle_msgs.msg import State
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from std_msgs.msg import String

from robot_dynamics_ros import Robot
from robot_dynamics_ros.client import Arm, UnavailableError
from robot_dynamics_ros.client import described_node as client_node

TEXT = ROBOT.to_urdf()
OTHER = re.sub(r'<mass value="([^"]+)"', lambda found: f'<mass value="{1.1 * float(found[1])!r}"', TEXT)
DESCRIBED, HEAVIER = map(Robot.from_urdf, (TEXT, OTHER))


def test_another_description_is_noticed_and_loaded(graph, monkeypatch):
    graph.processes.start(
        CONTROLLER, '-r', '__ns:=/left', '-p', 'description_topic:=described', '-p', 'state_rate:=0.0'
    )
    graph.say_latched('left/described', String(data=TEXT))
    graph.until(lambda: graph.state_of(f'left/{CONTROLLER}') == State.PRIMARY_STATE_ACTIVE, 'an active node')
    with Arm('left', arguments=('-r', 'joint_states:=/elsewhere')) as arm:
        assert arm._session.link.node.resolve_topic_name('joint_states') == '/elsewhere'
        assert arm.robot.digest == DESCRIBED.digest != HEAVIER.digest
        assert arm.frame == ROBOT.link_names[-1]
        graph.say_latched('left/described', String(data=OTHER))
        graph.until(lambda: arm.robot.digest == HEAVIER.digest, 'the other robot')
        with pytest.raises(UnavailableError, match='no joint state'):
            _ = arm.state
    monkeypatch.setattr(client_node, 'PATIENCE', 0.5)
    changed = SetParameters.Request(parameters=[Parameter('tip_link', value='foreArm_Link').to_parameter_msg()])
    graph.client.call(SetParameters, f'left/{CONTROLLER}/set_parameters', changed)
    with pytest.raises(UnavailableError, match='/left/torque_controller has another robot'):
        Arm('left')
