"""The load of a server without a graph: a clock that jumps, a file that keeps a ramp, what is published when."""

import numpy as np
import pytest
import rclpy.logging
from geometry_msgs.msg import Vector3, Vector3Stamped

from robot_dynamics_interfaces.srv import SetGravity, SetPayload
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.load import Load
from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.nodes.load_messages import gravity_ramp_of, payload_ramp_of
from robot_dynamics_ros.nodes.load_service import LoadService
from robot_dynamics_ros.nodes.load_topics import KINDS

ROBOT = Robot.named('aubo_i5')
BODY = {'mass': 2.5, 'com': (0.02, -0.03, 0.1), 'inertia': [0.04, 0.05, 0.03, 0.01, 0.002, -0.01]}
SECOND = 1_000_000_000
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])


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

    def publish(self, message):
        self.published.append(message)


def service_of(node, path=''):
    return LoadService(node, dict.fromkeys(KINDS, node), str(path))


def gravity_request(x, y, z, **fields):
    return SetGravity.Request(gravity=Vector3Stamped(vector=Vector3(x=x, y=y, z=z)), **fields)


def test_a_clock_that_jumps_back_brings_no_payload_back():
    node = StandIn()
    service = service_of(node)
    node.clock.nanoseconds = 100 * SECOND
    service.set_payload(SetPayload.Request(**BODY, ramp_time=1.0), None)
    assert service.robot.payloads == {}
    node.clock.nanoseconds = 102 * SECOND
    assert service.robot.payloads['wrist3_Link'].mass == 2.5
    node.clock.nanoseconds = 0
    assert service.robot.payloads['wrist3_Link'].mass == 2.5


def test_a_robot_is_made_anew_only_for_another_payload_or_gravity():
    node = StandIn()
    service = service_of(node)
    assert service.robot is service.robot
    service.set_payload(SetPayload.Request(**BODY), None)
    carrying = service.robot
    assert carrying.payloads and service.robot is carrying
    service.set_gravity(gravity_request(0.0, 0.0, 9.81), None)
    assert service.robot.gravity[2] == 9.81 and service.robot.payloads
    assert service.robot is service.robot is not carrying
    assert carrying._code is service.robot._code is ROBOT._code


@pytest.mark.parametrize('ramp_time', [3601.0, 1.7e308])
def test_a_ramp_that_never_ends_is_refused_and_the_old_payload_stays(ramp_time):
    service = service_of(StandIn())
    service.set_payload(SetPayload.Request(**BODY), None)
    with pytest.raises(ArgumentError, match='ramp_time'):
        service.set_payload(SetPayload.Request(ramp_time=ramp_time), None)
    assert service.load.payload.mass == BODY['mass']


def test_both_are_published_at_activation_whatever_is_known():
    node = StandIn()
    node.clock.nanoseconds = 3 * SECOND
    service = service_of(node)
    service.begin()
    payload, gravity = node.published
    assert (payload.mass, payload.frame, list(payload.before), payload.stamp.sec) == (0.0, 'wrist3_Link', [], 3)
    assert (gravity.gravity, gravity.before) == (Vector3(z=-9.81), Vector3(z=-9.81))
    assert (gravity.header.frame_id, gravity.header.stamp.sec) == (ROBOT.link_names[0], 3)
    service.set_payload(SetPayload.Request(**BODY), None)
    service.set_gravity(gravity_request(1.0, 2.0, 3.0, ramp_time=4.0), None)
    service.publish()
    payload, gravity = node.published[-2:]
    assert (payload.mass, payload.ramp_time) == (2.5, 0.0)
    assert (gravity.gravity, gravity.before) == (Vector3(x=1.0, y=2.0, z=3.0), Vector3(z=-9.81))
    assert gravity.ramp_time == 4.0


def test_a_late_joiner_computes_what_the_server_does_at_any_time_of_a_ramp_that_was_cut_short():
    node = StandIn()
    service = service_of(node)
    service.set_payload(SetPayload.Request(**BODY, frame='ee_link'), None)
    service.set_payload(SetPayload.Request(mass=1.0, com=(0.1, 0.0, 0.0), ramp_time=4.0), None)
    service.set_gravity(gravity_request(0.0, 9.81, 0.0, ramp_time=8.0), None)
    node.clock.nanoseconds = SECOND
    service.set_payload(SetPayload.Request(ramp_time=2.0), None)
    service.publish()
    payload, gravity = node.published[-2:]
    joined = Load(payload_ramp_of(ROBOT, payload), gravity_ramp_of(ROBOT, gravity))
    for time in (0, SECOND, 2 * SECOND, 2 * SECOND + 1, 3 * SECOND, 9 * SECOND):
        node.clock.nanoseconds = time
        np.testing.assert_array_equal(
            joined.robot_at(ROBOT, time).gravity_torque(Q), service.load.robot_at(ROBOT, time).gravity_torque(Q)
        )
    assert {name: body.mass for name, body in joined.payload.before.items()} == {'ee_link': 1.875, 'wrist3_Link': 0.25}


def test_a_server_that_restarts_goes_on_with_the_ramp_that_its_file_holds(tmp_path):
    node, path = StandIn(), tmp_path / 'payload.yaml'
    service = service_of(node, path)
    service.set_payload(SetPayload.Request(**BODY, frame='ee_link'), None)
    node.clock.nanoseconds = 17 * SECOND + 123_456_789
    service.set_payload(SetPayload.Request(mass=1.0, com=(0.1, 0.0, 0.0), ramp_time=4.0), None)
    again = service_of(node, path)
    assert again.load.payload.start == node.clock.nanoseconds
    for time in (0, 18 * SECOND, 20 * SECOND, 99 * SECOND):
        np.testing.assert_array_equal(
            again.load.robot_at(ROBOT, time).gravity_torque(Q), service.load.robot_at(ROBOT, time).gravity_torque(Q)
        )
    service.publish()
    again.begin()
    assert node.published[-2] == node.published[-4]


def test_on_a_clock_that_goes_back_a_ramp_keeps_its_progress():
    node = StandIn()
    node.clock.nanoseconds = 100 * SECOND
    service = service_of(node)
    service.set_payload(SetPayload.Request(**BODY, ramp_time=4.0), None)
    node.clock.nanoseconds = 3 * SECOND
    service.clock_set_back(101 * SECOND, 3 * SECOND)
    assert service.robot.payloads['wrist3_Link'].mass == 2.5 / 4
    node.clock.nanoseconds = 6 * SECOND
    assert service.robot.payloads['wrist3_Link'].mass == 2.5
