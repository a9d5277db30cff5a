"""Payload and gravity of a server without a graph: a clock that jumps, a ramp saved to a file, publications."""

import re

import numpy as np
import pytest
import rclpy.logging
from geometry_msgs.msg import Vector3, Vector3Stamped

from robot_dynamics_interfaces.msg import Payload as PayloadMessage
from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_interfaces.srv import SetGravity, SetPayload
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.yaml_files.payload_yaml import Body, KeptPayload, write_payload
from robot_dynamics_ros.jit.cache import TEMPORARY
from robot_dynamics_ros.messages.payload_gravity import gravity_ramp_of, payload_ramp_of
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import KINDS
from robot_dynamics_ros.nodes.tasks.payload_gravity_service import PayloadGravityService

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

    def __init__(self, robot=ROBOT, **parameters):
        self.robot, self.clock, self.published = robot, Clock(), []
        self.parameters = {'payload_limit': 0.0, 'payload_gravity_ramp_time': 0.0, 'gravity_limit': 12.0, **parameters}
        self.value = self.parameters.__getitem__

    def get_clock(self):
        return self.clock

    def get_logger(self):
        return rclpy.logging.get_logger('stand_in')

    def publish(self, message):
        self.published.append(message)


def service_of(node, path='', effort_limit=None):
    return PayloadGravityService(node, dict.fromkeys(KINDS, node), str(path), effort_limit)


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


def test_a_robot_is_rebuilt_only_for_another_payload_or_gravity():
    node = StandIn()
    service = service_of(node)
    assert service.robot is service.robot
    service.set_payload(SetPayload.Request(**BODY), None)
    carrying = service.robot
    assert carrying.payloads and service.robot is carrying
    service.set_gravity(gravity_request(0.0, 0.0, 9.81), None)
    assert service.robot.gravity[2] == 9.81 and service.robot.payloads
    assert service.robot is service.robot is not carrying


@pytest.mark.parametrize('ramp_time', [3601.0, 1.7e308])
def test_a_ramp_that_never_ends_is_refused_and_the_old_payload_stays(ramp_time):
    service = service_of(StandIn())
    service.set_payload(SetPayload.Request(**BODY), None)
    with pytest.raises(ArgumentError, match='ramp_time'):
        service.set_payload(SetPayload.Request(ramp_time=ramp_time), None)
    assert service.current.payload.mass == BODY['mass']


def test_a_payload_has_to_be_held_with_the_effort_limits_that_are_stated():
    request = SetPayload.Request(mass=2.5)
    service_of(StandIn()).set_payload(request, None)
    with pytest.raises(ArgumentError, match=r'its effort limit is 30; .* the parameter payload_limit or effort_limit'):
        service_of(StandIn(), effort_limit=np.full(6, 30.0)).set_payload(request, None)


def test_both_are_published_at_every_activation():
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
    joined = PayloadGravity(payload_ramp_of(ROBOT, payload), gravity_ramp_of(ROBOT, gravity))
    for time in (0, SECOND, 2 * SECOND, 2 * SECOND + 1, 3 * SECOND, 9 * SECOND):
        node.clock.nanoseconds = time
        np.testing.assert_array_equal(
            joined.robot_at(ROBOT, time).gravity_torque(Q), service.current.robot_at(ROBOT, time).gravity_torque(Q)
        )
    assert {name: body.mass for name, body in joined.payload.before.items()} == {'ee_link': 1.875, 'wrist3_Link': 0.25}


@pytest.mark.parametrize('masses', [(1.0, 2.0), (0.0,)])
def test_bodies_before_add_up_on_their_frame_and_one_without_mass_is_none(tmp_path, masses):
    expected = {'ee_link': sum(masses)} if any(masses) else {}
    bodies = [PayloadMessage(mass=mass, frame='ee_link') for mass in masses]
    told = payload_ramp_of(ROBOT, PayloadState(mass=1.0, before=bodies, ramp_time=4.0))
    assert {name: body.mass for name, body in told.before.items()} == expected
    path, kept = tmp_path / 'payload.yaml', [Body('ee_link', mass, np.zeros(3), np.zeros((3, 3))) for mass in masses]
    write_payload(path, KeptPayload(kept[0], 0, 4.0, tuple(kept)))
    found = service_of(StandIn(), path).current.payload
    assert {name: body.mass for name, body in found.before.items()} == expected


def test_a_server_that_restarts_continues_the_ramp_in_its_file(tmp_path):
    node, path = StandIn(), tmp_path / 'payload.yaml'
    service = service_of(node, path)
    service.set_payload(SetPayload.Request(**BODY, frame='ee_link'), None)
    node.clock.nanoseconds = 17 * SECOND + 123_456_789
    service.set_payload(SetPayload.Request(mass=1.0, com=(0.1, 0.0, 0.0), ramp_time=4.0), None)
    again = service_of(node, path)
    assert again.current.payload.start == node.clock.nanoseconds
    for time in (0, 18 * SECOND, 20 * SECOND, 99 * SECOND):
        np.testing.assert_array_equal(
            again.current.robot_at(ROBOT, time).gravity_torque(Q),
            service.current.robot_at(ROBOT, time).gravity_torque(Q),
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


def test_a_ramp_of_another_clock_is_finished_once_the_clock_runs(tmp_path):
    node, path = StandIn(), tmp_path / 'payload.yaml'
    node.clock.nanoseconds = 1000 * SECOND
    service_of(node, path).set_payload(SetPayload.Request(**BODY, ramp_time=4.0), None)
    node.clock.nanoseconds = 0  # a simulated clock that does not run yet
    again = service_of(node, path)
    again.begin()
    assert node.published[-2].stamp.sec == 1000 and node.published[-2].ramp_time == 4.0
    node.clock.nanoseconds = 5 * SECOND
    again.compare_clocks()
    payload, _ = node.published[-2:]
    assert (payload.stamp.sec, payload.ramp_time, payload.mass) == (5, 0.0, 2.5)
    assert again.robot.payloads['wrist3_Link'].mass == 2.5
    published = len(node.published)
    again.compare_clocks()
    assert len(node.published) == published


def test_a_ramp_that_was_set_here_is_not_of_another_clock():
    node = StandIn()
    node.clock.nanoseconds = 1000 * SECOND
    service = service_of(node)
    service.set_payload(SetPayload.Request(**BODY, ramp_time=4.0), None)
    node.clock.nanoseconds = 999 * SECOND
    service.compare_clocks()
    assert service.current.payload.duration == 4 * SECOND


@pytest.mark.parametrize('before_or_in_it', [-1, 1])
def test_a_ramp_of_the_same_clock_continues_after_a_restart(tmp_path, before_or_in_it):
    node, path = StandIn(), tmp_path / 'payload.yaml'
    node.clock.nanoseconds = 1000 * SECOND
    service_of(node, path).set_payload(SetPayload.Request(**BODY, ramp_time=4.0), None)
    node.clock.nanoseconds += before_or_in_it * SECOND
    again = service_of(node, path)
    again.begin()
    assert node.published[-2].ramp_time == (4.0 if before_or_in_it == 1 else 0.0)


def test_requests_without_a_ramp_time_use_that_of_the_parameter():
    node = StandIn(payload_gravity_ramp_time=2.0)
    service = service_of(node)
    service.set_payload(SetPayload.Request(**BODY), None)
    service.set_gravity(gravity_request(0.0, 0.0, 9.81), None)
    assert (service.current.payload.duration, service.current.gravity.duration) == (2 * SECOND, 2 * SECOND)
    assert [message.ramp_time for message in node.published] == [2.0, 2.0]
    service.set_payload(SetPayload.Request(ramp_time=1.0), None)
    assert service.current.payload.duration == SECOND


RATED = {'mass': 5.0, 'frame': 'ee_link'}


def test_the_rated_payload_is_carried_and_a_car_is_not():
    node = StandIn()
    service = service_of(node)
    service.set_payload(SetPayload.Request(**RATED), None)
    with pytest.raises(ArgumentError) as error:
        service.set_payload(SetPayload.Request(mass=200.0, frame='ee_link'), None)
    found = re.match(
        r"mass: 200 kg on 'ee_link': joint '(\w+)' would need (\S+) N m .*, (\S+) of it without the payload; "
        r'its effort limit is (\S+); choose a smaller payload, or set the parameter payload_limit or effort_limit$',
        str(error.value),
    )
    joint = ROBOT.joint_names.index(found[1])
    needed, alone, available = map(float, found.groups()[1:])
    assert available == ROBOT.limits.effort[joint] < needed
    assert alone < ROBOT.limits.effort[joint]
    assert (service.current.payload.mass, len(node.published)) == (5.0, 1)


def test_a_payload_must_be_held_under_the_gravity_in_force_and_under_that_of_the_parameter():
    heavy = SetPayload.Request(mass=10.0, frame='ee_link')
    service = service_of(StandIn())
    service.set_gravity(gravity_request(0.0, 0.0, 0.0), None)  # nothing weighs anything for a while
    with pytest.raises(ArgumentError, match='would need'):
        service.set_payload(heavy, None)
    service = service_of(StandIn(ROBOT.with_gravity((0.0, 0.0, -1.62))))
    service.set_gravity(gravity_request(0.0, 0.0, -9.81), None)  # more than that of the parameter
    with pytest.raises(ArgumentError, match='would need'):
        service.set_payload(heavy, None)
    service = service_of(StandIn(ROBOT.with_gravity((0.0, 0.0, -1.62))))
    service.set_payload(heavy, None)
    assert service.current.payload.mass == 10.0
    # and what is carried must be held under a new gravity
    with pytest.raises(ArgumentError, match=r"^mass: 10 kg on 'ee_link': joint .* would need"):
        service.set_gravity(gravity_request(0.0, 0.0, -9.81), None)
    assert service.robot.gravity.tolist() == [0.0, 0.0, -1.62]
    service.set_gravity(gravity_request(0.0, 0.0, -2.0), None)
    service.set_payload(SetPayload.Request(), None)
    service.set_gravity(gravity_request(0.0, 0.0, -9.81), None)
    assert service.robot.gravity.tolist() == [0.0, 0.0, -9.81]


def test_a_payload_limit_replaces_the_effort_limits():
    service = service_of(StandIn(payload_limit=20.0))
    service.set_payload(SetPayload.Request(mass=20.0, frame='ee_link'), None)
    with pytest.raises(ArgumentError, match=r'^mass: 20.1 kg is above the parameter payload_limit, 20 kg$'):
        service.set_payload(SetPayload.Request(mass=20.1, frame='ee_link'), None)
    assert service.current.payload.mass == 20.0


def test_a_payload_can_always_be_removed():
    service = service_of(StandIn(payload_limit=20.0))
    service.set_payload(SetPayload.Request(mass=20.0, frame='ee_link'), None)
    service._node.parameters['payload_limit'] = 0.0
    service.set_payload(SetPayload.Request(), None)
    assert service.current.payload.mass == 0.0


def test_a_file_without_a_payload_is_read_whatever_the_last_link_is_called(tmp_path):
    nothing = Body('a_link_of_another_description', 0.0, np.zeros(3), np.zeros((3, 3)))
    write_payload(tmp_path / 'payload.yaml', KeptPayload(nothing, 0, 4.0, (nothing,)))
    found = service_of(StandIn(), tmp_path / 'payload.yaml').current.payload
    assert found.mass == 0.0 and not found.before
    write_payload(tmp_path / 'payload.yaml', KeptPayload(nothing._replace(mass=1.0)))
    with pytest.raises(ModelError, match="frame: no link 'a_link_of_another_description'"):
        service_of(StandIn(), tmp_path / 'payload.yaml')


def test_what_was_before_a_ramp_that_is_over_needs_no_frame_of_this_description(tmp_path):
    gone, node = Body('wrist3_of_another_description', 3.0, np.zeros(3), np.zeros((3, 3))), StandIn()
    node.clock.nanoseconds = 100 * SECOND
    for ends, refused in ((99, False), (101, True)):
        nothing = gone._replace(mass=0.0)
        kept = KeptPayload(nothing, (ends - 4) * SECOND, 4.0, (gone,))
        write_payload(tmp_path / 'payload.yaml', kept)
        if refused:
            with pytest.raises(ModelError, match="frame: no link 'wrist3_of_another_description'"):
                service_of(node, tmp_path / 'payload.yaml')
        else:
            assert service_of(node, tmp_path / 'payload.yaml').current.payload.mass == 0.0


def test_a_file_with_more_than_the_arm_holds_is_refused_by_name(tmp_path):
    path = tmp_path / 'payload.yaml'
    service_of(StandIn(payload_limit=300.0), path).set_payload(SetPayload.Request(mass=200.0), None)
    with pytest.raises(ModelError, match=rf'^payload_file {path}: mass: 200 kg on .* would need'):
        service_of(StandIn(), path)


@pytest.mark.parametrize('vector', [(0.0, 0.0, -981.0), (7.0, 7.0, 7.0), (1e300, 1e300, 0.0), (0.0, 12.1, 0.0)])
def test_gravity_beyond_its_limit_is_refused(vector):
    node = StandIn()
    service = service_of(node)
    with pytest.raises(ArgumentError, match=r'^gravity: its magnitude of .* above the parameter gravity_limit, 12 m/s'):
        service.set_gravity(gravity_request(*vector), None)
    assert node.published == [] and service.robot.gravity.tolist() == [0.0, 0.0, -9.81]
    node.parameters['gravity_limit'] = 1000.0
    if np.abs(vector).max() < 1000.0:
        service.set_gravity(gravity_request(*vector), None)
        assert tuple(service.robot.gravity) == vector


def test_a_server_that_was_killed_while_it_wrote_leaves_nothing_after_the_next_start(tmp_path):
    path = tmp_path / 'payload.yaml'
    left = tmp_path / f'.payload.yaml.999999999.abc{TEMPORARY}'
    left.write_text('half')
    service_of(StandIn(), path)
    assert not left.exists()
