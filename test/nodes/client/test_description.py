"""A client loads the robot of its node, also of one in a namespace, and again where it is described anew."""

from support.nodes.feedforward import CONTROLLER, ROBOT

import pytest
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from std_msgs.msg import String

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.client import Arm, UnavailableError
from robot_dynamics_ros.client import described_node as client_node

DESCRIBED = Robot.from_urdf(ROBOT.to_urdf())
HEAVY = Robot.from_urdf(ROBOT.with_payload(Payload(2.0, (0.0, 0.0, 0.1))).to_urdf())


def test_another_description_is_noticed_and_loaded(graph, monkeypatch):
    graph.processes.start(
        CONTROLLER, '-r', '__ns:=/left', '-p', 'description_topic:=described', '-p', 'state_rate:=0.0'
    )
    graph.say_latched('left/described', String(data=DESCRIBED.to_urdf()))
    graph.client.wait_until_active(f'left/{CONTROLLER}')
    with Arm('left') as arm:
        assert arm.robot.digest == DESCRIBED.digest
        assert arm.frame == ROBOT.link_names[-1]
        graph.say_latched('left/described', String(data=HEAVY.to_urdf()))
        graph.until(lambda: arm.robot.digest == HEAVY.digest, 'the other robot')
        with pytest.raises(UnavailableError, match='no joint state'):
            _ = arm.state
    monkeypatch.setattr(client_node, 'PATIENCE', 0.5)
    changed = SetParameters.Request(parameters=[Parameter('tip_link', value='foreArm_Link').to_parameter_msg()])
    graph.client.call(SetParameters, f'left/{CONTROLLER}/set_parameters', changed)
    with pytest.raises(UnavailableError, match='/left/torque_controller has another robot'):
        Arm('left')
