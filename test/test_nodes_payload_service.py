"""The payload of a node's robot without a graph: a clock that jumps, what is made anew, what is told when."""

import pytest
import rclpy.logging

from robot_dynamics_interfaces.srv import SetPayload
from robot_dynamics_ros import Robot
from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.nodes.payload_service import PayloadService

ROBOT = Robot.named('aubo_i5')
BODY = {'mass': 2.5, 'com': (0.02, -0.03, 0.1), 'inertia': [0.04, 0.05, 0.03, 0.01, 0.002, -0.01]}
SECOND = 1_000_000_000


class Clock:
    """A node's clock that is set by hand."""

    nanoseconds = 0

    def now(self):
        return self


class StandIn:
    """As much of a node as the payload needs."""

    def __init__(self):
        self.robot, self.clock, self.published = ROBOT, Clock(), []

    def get_clock(self):
        return self.clock

    def get_logger(self):
        return rclpy.logging.get_logger('stand_in')

    def create_lifecycle_publisher(self, *_):
        return self

    def publish(self, message):
        self.published.append(message)


def test_a_clock_that_jumps_back_brings_no_payload_back():
    node = StandIn()
    service = PayloadService(node, '')
    node.clock.nanoseconds = 100 * SECOND
    service.set(SetPayload.Request(**BODY, ramp_time=1.0), None)
    assert service.robot.payloads == {}
    node.clock.nanoseconds = 102 * SECOND
    assert service.robot.payloads['wrist3_Link'].mass == 2.5
    node.clock.nanoseconds = 0
    assert service.robot.payloads['wrist3_Link'].mass == 2.5


def test_a_robot_is_made_anew_only_for_another_payload_or_gravity():
    node = StandIn()
    service = PayloadService(node, '')
    assert service.robot is service.robot
    service.set(SetPayload.Request(**BODY), None)
    carrying = service.robot
    assert carrying.payloads and service.robot is carrying
    node.robot = ROBOT.with_gravity((0.0, 0.0, 9.81))
    assert service.robot.gravity[2] == 9.81 and service.robot.payloads
    assert service.robot is service.robot is not carrying
    assert carrying._code is service.robot._code is ROBOT._code


@pytest.mark.parametrize('ramp_time', [3601.0, 1.7e308])
def test_a_ramp_that_never_ends_is_refused_and_the_old_payload_stays(ramp_time):
    service = PayloadService(StandIn(), '')
    service.set(SetPayload.Request(**BODY), None)
    with pytest.raises(ArgumentError, match='ramp_time'):
        service.set(SetPayload.Request(ramp_time=ramp_time), None)
    assert service.mass == BODY['mass']


def test_nothing_is_told_before_a_payload_is_known():
    node = StandIn()
    service = PayloadService(node, '')
    service.publish()
    assert node.published == []
    service.set(SetPayload.Request(**BODY), None)
    service.publish()
    assert [message.mass for message in node.published] == [2.5, 2.5]
