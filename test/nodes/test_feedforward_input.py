"""Which feedforward torques may be added, and for how long payload and gravity of two nodes may differ."""

import time
from contextlib import ExitStack
from types import SimpleNamespace

from support import graph as ros

import numpy as np
import pytest
from geometry_msgs.msg import Vector3
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.load import GravityRamp, Load
from robot_dynamics_ros.control.ownership import Ownership
from robot_dynamics_ros.control.payload_ramp import PayloadRamp
from robot_dynamics_ros.messages.load import payload_messages
from robot_dynamics_ros.nodes.feedforward_input import SPREAD, FeedforwardInput

ROBOT = Robot.named('aubo_i5')
DOWN, UP = (0.0, 0.0, -9.81), (0.0, 0.0, 9.81)
STAMP = 5 * ros.SECOND
BOX = Payload(1.0, (0.0, 0.0, 0.1), np.diag([0.01, 0.01, 0.01]))


class Consumer:
    """As much of a torque node and of its loaded robot as the input needs; its steady time is set by hand."""

    digest = '0123456789abcdef'
    robot = ROBOT

    def __init__(self, monkeypatch):
        self.ownership = Ownership('', 'node', [''])
        self.load = SimpleNamespace(load=load())
        self.followers, self.resources = [], ExitStack()
        self.time, self.receive, self.warnings = 100.0, None, []
        monkeypatch.setattr(time, 'monotonic', lambda: self.time)
        self.input = FeedforwardInput(self, self, 0.05)
        self.input.on_torque(
            serialize_message(ros.stamped(JointState(name=list(ROBOT.joint_names), effort=[1.0] * 6), STAMP))
        )

    def create_subscription(self, kind, topic, callback, qos):
        self.receive = callback

    def destroy_subscription(self, subscription):
        raise AssertionError('nothing is cleaned up here')

    def get_logger(self):
        return SimpleNamespace(warning=self.warnings.append)

    def tell(self, gravity=DOWN, payload=None):
        """Receive an info that fits but for gravity and payload."""
        x, y, z = gravity
        self.receive(
            TorqueInfo(
                joint_names=list(ROBOT.joint_names),
                terms=['gravity', 'coriolis', 'inertia', 'friction'],
                gravity_owner='node',
                model_digest=self.digest,
                gravity=Vector3(x=x, y=y, z=z),
                payloads=payload_messages({'ee_link': payload} if payload else {}),
            )
        )

    def carry(self, gravity=DOWN, payload=None):
        """Know of another load."""
        self.load.load = load(gravity, payload)
        for follow in self.followers:
            follow()

    def fault(self, later=0.0):
        """Return why there is no torque ``later`` s from now, '' where there is one."""
        self.time += later
        fault = self.input.fault(STAMP)
        return fault.reason if fault else ''


def load(gravity=DOWN, payload=None):
    return Load(PayloadRamp({'ee_link': payload} if payload else {}), GravityRamp(gravity, gravity))


@pytest.fixture
def consumer(monkeypatch):
    return Consumer(monkeypatch)


def test_without_info_and_with_one_that_fits(consumer):
    assert 'nothing came on feedforward_torque/info' in consumer.fault()
    consumer.tell()
    assert consumer.fault() == consumer.fault(later=100.0) == ''


def test_a_load_that_never_fitted_is_a_fault_at_once(consumer):
    consumer.tell(gravity=UP)
    assert 'it was computed for gravity (0.0, 0.0, 9.81) m/s^2' in consumer.fault()
    for _ in range(5):
        consumer.time += 0.5 * SPREAD
        consumer.tell(gravity=UP)  # again and again
        assert 'it was computed for gravity' in consumer.fault()
    assert consumer.warnings == [consumer.fault()]
    consumer.tell()
    assert consumer.fault() == ''


@pytest.mark.parametrize('first', ['producer', 'consumer'])
def test_a_change_may_need_a_second_to_reach_both(consumer, first):
    consumer.tell()
    change, follow = (consumer.tell, consumer.carry) if first == 'producer' else (consumer.carry, consumer.tell)
    change(payload=BOX)
    assert consumer.fault() == consumer.fault(later=0.99 * SPREAD) == ''
    follow(payload=BOX)
    assert consumer.fault(later=10.0) == ''


def test_a_lasting_disagreement_is_a_fault_whichever_node_repeats_it(consumer):
    consumer.tell()
    consumer.carry(gravity=UP)
    for _ in range(3):
        assert consumer.fault() == ''
        consumer.time += 0.33 * SPREAD
        consumer.tell()
        consumer.carry(gravity=UP)
    assert 'it was computed for gravity' in consumer.fault(later=0.02 * SPREAD)


@pytest.mark.parametrize(
    'other',
    [
        Payload(1.1, BOX.com, BOX.inertia),
        Payload(1.0, (0.0, 0.01, 0.1), BOX.inertia),
        Payload(1.0, BOX.com, np.diag([50.0, 50.0, 50.0])),
    ],
    ids=['mass', 'centre', 'inertia'],
)
def test_each_figure_of_a_payload_counts(consumer, other):
    consumer.carry(payload=BOX)
    consumer.tell(payload=other)
    assert 'it was computed for the payload' in consumer.fault()
    consumer.tell(payload=BOX)
    assert consumer.fault() == ''
