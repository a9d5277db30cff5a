"""Which feedforward torques may be added: whose, along which trajectory, and with which payload and gravity."""

import time
from contextlib import ExitStack
from types import SimpleNamespace

from support.nodes import graph as ros

import numpy as np
import pytest
from geometry_msgs.msg import Vector3
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp
from robot_dynamics_ros.control.terms.compensation_policy import CompensationPolicy
from robot_dynamics_ros.control.trajectories.followed import Followed
from robot_dynamics_ros.control.trajectories.point_stream import Point, StreamPoint
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.messages.payload_gravity import payload_messages
from robot_dynamics_ros.messages.stamps import set_nanoseconds
from robot_dynamics_ros.nodes.inputs.feedforward_input import FeedforwardInput
from robot_dynamics_ros.nodes.inputs.torque_producers import SPREAD

LIMITS = np.full(6, np.inf), np.full(6, np.inf)
ROBOT = Robot.named('aubo_i5')
FIRST, SECOND_ONE = b'process one.', b'process two.'
DOWN, UP = (0.0, 0.0, -9.81), (0.0, 0.0, 9.81)
STAMP = 5 * ros.SECOND
BOX = Payload(1.0, (0.0, 0.0, 0.1), np.diag([0.01, 0.01, 0.01]))


class Consumer:
    """As much of a torque node and of its arm as the input needs; its steady time is set by hand."""

    digest = '0123456789abcdef'
    robot = ROBOT

    def __init__(self, monkeypatch):
        self.policy = CompensationPolicy('', 'node', [''])
        self.payload_gravity = SimpleNamespace(current=payload_and_gravity(), followers=[])
        self.resources = ExitStack()
        self.time, self.receive, self.warnings = 100.0, None, []
        monkeypatch.setattr(time, 'monotonic', lambda: self.time)
        self.publishers, self.is_one_node = [FIRST], False
        self.desired = np.zeros((3, 6))
        self.input = FeedforwardInput(self, self, 0.05, self.desired, LIMITS)
        self.told = 0

    def create_guard_condition(self, callback):
        return SimpleNamespace(trigger=callback)

    def destroy_guard_condition(self, made):
        raise AssertionError('nothing is cleaned up here')

    def guarded(self, callback):
        return callback

    def resolve_topic_name(self, topic):
        return f'/{topic}'

    def get_publishers_info_by_topic(self, topic):
        last = b'i' if topic.endswith('/info') else b't'
        names = ('feedforward_node' if self.is_one_node else f'node_{k}' for k in range(len(self.publishers)))
        return [
            SimpleNamespace(endpoint_gid=list(gid + last), node_namespace='/', node_name=name)
            for gid, name in zip(self.publishers, names, strict=True)
        ]

    def refuse(self, reason):
        self.warnings.append(reason)

    def tell(self, gravity=DOWN, payload=None, of=None, then=True, by=b'i', **changed):
        """Receive an info that fits but for gravity, payload and what is ``changed``, and ``then`` a torque."""
        x, y, z = gravity
        publisher = of or FIRST
        info = TorqueInfo(
            joint_names=list(ROBOT.joint_names),
            terms=['gravity', 'coriolis', 'inertia', 'friction'],
            gravity_owner='node',
            model_digest=self.digest,
            gravity=Vector3(x=x, y=y, z=z),
            payloads=payload_messages({'ee_link': payload} if payload else {}),
            trajectory=PLAN.identity,
        )
        set_nanoseconds(info.trajectory_start, PLAN.start)
        for field, value in changed.items():
            setattr(info, field, value)
        self.input.on_info(serialize_message(info), known(publisher + by))
        if then:
            self.feed(of=publisher)

    def feed(self, stamp=STAMP, effort=1.0, of=None, position=0.0, velocity=0.0):
        """Receive a torque along a motion."""
        numbers = ([value] * 6 for value in (position, velocity, effort))
        message = ros.joint_state(list(ROBOT.joint_names), stamp, *numbers)
        self.input.on_torque(serialize_message(message), known((of or FIRST) + b't'))

    def added(self, stamp=STAMP, plan=None):
        """Return the torque of each joint that is added along a plan, or why there is none."""
        fault = self.input.fault(stamp, plan or PLAN)
        return self.input.effort[0] if fault is None else fault.reason

    def carry(self, gravity=DOWN, payload=None):
        """Know of another payload or gravity."""
        self.payload_gravity.current = payload_and_gravity(gravity, payload)
        for follow in self.payload_gravity.followers:
            follow()

    def fault(self, later=0.0):
        """Return why there is no torque ``later`` s from now, '' where there is one."""
        self.time += later
        fault = self.input.fault(STAMP, PLAN)
        return fault.reason if fault else ''


def plan(position=0.5, start=STAMP - ros.SECOND, is_exact=True):
    """Return a trajectory as a follower has it."""
    points = Trajectory([0.0, 9.0], np.full((2, 6), position))
    return Followed(start, start, points, np.zeros((3, 6)), LIMITS, is_exact)


PLAN = plan()


def known(gid):
    """Return what rclpy knows of a message of a publisher."""
    return {'publisher_gid': {'implementation_identifier': 'rmw_fastrtps_cpp', 'data': gid}}


def payload_and_gravity(gravity=DOWN, payload=None):
    return PayloadGravity(PayloadRamp({'ee_link': payload} if payload else {}), GravityRamp(gravity, gravity))


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
    assert consumer.warnings == [consumer.fault()]  # logged once
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


def test_a_disagreement_is_not_newer_because_no_torque_was_needed_meanwhile(consumer):
    consumer.tell()
    consumer.carry(gravity=UP)
    consumer.time += 0.9 * SPREAD
    consumer.tell()
    assert 'it was computed for gravity' in consumer.fault(later=0.2 * SPREAD)


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


# Whose torque it is


def test_torques_of_another_publisher_are_ignored(consumer):
    """One from an earlier start, without the preset: its info says nothing about the torques of the right one."""
    consumer.tell()
    consumer.publishers.append(SECOND_ONE)
    consumer.tell(of=SECOND_ONE, gravity_owner='robot', terms=['inertia'], then=False)
    consumer.feed(effort=9.0, of=SECOND_ONE)
    assert consumer.added() == 1.0
    consumer.tell(effort_limits=[1.0] * 6, then=False)  # whichever info is the newest
    consumer.feed(effort=9.0, of=SECOND_ONE)
    consumer.feed(STAMP + 1, effort=2.0)
    assert consumer.added() == 2.0
    assert consumer.input.report()['feedforward torques ignored'] == '2'
    assert consumer.input.report()['publishers of feedforward_torque'] == '2'
    (warning,) = consumer.input.warnings()
    assert warning.startswith('2 publishers of feedforward_torque')


def test_the_publisher_that_fits_takes_the_place_of_one_that_does_not(consumer):
    consumer.tell(model_digest='0' * 16)
    assert 'another model' in consumer.added()
    consumer.tell(of=SECOND_ONE)
    assert consumer.added() == 1.0


def test_one_that_was_started_again_takes_the_place_of_one_that_is_silent(consumer):
    """The middleware still counts a process that was killed as a publisher."""
    consumer.tell()
    consumer.publishers.append(SECOND_ONE)
    consumer.tell(of=SECOND_ONE, then=False)
    consumer.feed(STAMP + 40_000_000, effort=2.0, of=SECOND_ONE)
    assert consumer.added(STAMP + 40_000_000) == 1.0  # of the first one, which may still be there
    consumer.feed(STAMP + 60_000_000, effort=2.0, of=SECOND_ONE)
    assert consumer.added(STAMP + 60_000_000) == 2.0
    consumer.feed(STAMP + 62_000_000, effort=3.0)
    assert consumer.added(STAMP + 62_000_000) == 2.0


def test_a_torque_without_an_info_of_its_publisher_is_not_added(consumer):
    consumer.feed(of=SECOND_ONE)
    assert 'nothing came on feedforward_torque/info' in consumer.added()
    consumer.tell(then=False)
    consumer.feed(of=SECOND_ONE)
    assert consumer.added() == 'no feedforward torque for this state'


def test_two_publishers_of_one_process_cannot_be_told_apart(consumer):
    consumer.tell()
    consumer.publishers.append(FIRST)
    info = known(FIRST + b'j')
    consumer.input.on_info(serialize_message(TorqueInfo()), info)
    assert 'cannot be distinguished' in consumer.added() and 'cannot be distinguished' in consumer.input.warnings()[0]
    consumer.publishers.pop()
    consumer.tell()
    consumer.input.warnings()
    assert consumer.added() == 1.0


def test_a_node_that_is_configured_again_has_two_publishers_for_a_while(consumer):
    consumer.tell()
    consumer.publishers.append(FIRST)
    consumer.is_one_node = True
    consumer.tell(by=b'j', then=False)
    assert consumer.added() == 1.0
    assert consumer.input.warnings() == consumer.warnings == []
    assert consumer.input.report()['publishers of feedforward_torque'] == '1'


def test_without_gids_two_publishers_are_refused(consumer):
    """Of a middleware or a release of rclpy that has none."""
    consumer.tell(then=False)
    consumer.input.on_info(serialize_message(TorqueInfo()), {})
    consumer.publishers.append(SECOND_ONE)
    consumer.input.reset()
    other = FeedforwardInput(consumer, consumer, 0.05, consumer.desired, LIMITS)
    other.on_info(serialize_message(TorqueInfo()), {})
    other.producers.look()
    assert 'cannot be distinguished' in other.fault(STAMP, PLAN).reason


# Along which trajectory


@pytest.mark.parametrize(
    'other', [plan(position=0.6), plan(start=PLAN.start + 200_000_000)], ids=['other points', 'a later start']
)
def test_a_torque_along_another_trajectory_is_not_added(consumer, other):
    consumer.tell()
    assert consumer.added() == 1.0
    assert 'it follows another trajectory' in consumer.added(plan=other)
    consumer.tell(trajectory=other.identity, then=False)
    assert consumer.added() == 1.0  # until the first torque of the other one, it is of the one before


def test_a_torque_that_follows_no_trajectory_is_not_added(consumer):
    """source: controller_state has a reference, and nobody knows which trajectory it is on."""
    consumer.tell(trajectory=0, source='controller_state')
    assert 'it follows another trajectory' in consumer.added()


def test_while_a_trajectory_is_replaced_torques_of_both_are_known(consumer):
    """Whichever node gets the new one first."""
    new = plan(position=0.6)
    consumer.tell()
    assert consumer.added() == 1.0
    consumer.tell(trajectory=new.identity, then=False)
    assert 'it follows another trajectory' in consumer.added(plan=new)
    consumer.feed(STAMP + 2_000_000, effort=2.0)
    assert consumer.added(STAMP + 2_000_000) == 1.0
    assert consumer.added(STAMP + 2_000_000, plan=new) == 2.0
    assert 'it follows another trajectory' in consumer.added(STAMP + 51_000_000)  # too old, the new one is not


def test_the_torque_of_the_trajectory_in_force_outlives_two_newer_ones(consumer):
    """The executor of this node may be busy while the other node receives them."""
    consumer.tell()
    assert consumer.added() == 1.0
    for k, position in enumerate((0.6, 0.7), 1):
        consumer.tell(trajectory=plan(position=position).identity, then=False)
        consumer.feed(STAMP + k * 2_000_000, effort=2.0)
    assert consumer.added(STAMP + 4_000_000) == 1.0


def test_a_torque_along_a_neighbouring_point_of_a_stream_is_added(consumer):
    """Either node may have received a point earlier than the other one; a point of another stream is none of it."""
    turn, points, before = np.zeros(6), [], None
    for k in range(3):
        point = Trajectory([0.02], np.full((1, 6), 0.01 * k))
        start = PLAN.start + k * 20_000_000
        before = StreamPoint(Point(start + 20_000_000, *point.last_point), before, turn, LIMITS)
        points.append(Followed(start, start, point, np.zeros((3, 6)), LIMITS, True, before))
        before.enter(points[-1].identity)
    consumer.tell(trajectory=points[1].identity)
    for mine in points[1:]:
        assert consumer.added(plan=mine) == 1.0
    other = StreamPoint(points[2].point.point, None, turn, LIMITS)
    alone = Followed(points[2].start, points[2].start, point, np.zeros((3, 6)), LIMITS, True, other)
    assert 'it follows another trajectory' in consumer.added(plan=alone)


def test_a_torque_that_leads_from_elsewhere_is_not_added_and_is_a_warning(consumer):
    consumer.tell(then=False)
    consumer.feed(position=0.3)
    reason = consumer.added(plan=plan())
    assert 'it leads to the trajectory from elsewhere' in reason and "'shoulder_joint' 0.300 rad or m" in reason
    assert consumer.input.apart is not None and consumer.input.warnings() == [consumer.input.apart.reason]
    consumer.time += 2.0
    assert consumer.input.warnings() == []  # of a motion that is over
    consumer.desired[0] = 0.3
    assert consumer.added(plan=plan()) == 1.0 and consumer.input.apart is None


def test_it_says_whether_the_torque_is_that_of_a_motion(consumer):
    assert not consumer.input.moves(STAMP)
    consumer.tell(then=False)
    consumer.feed()
    assert not consumer.input.moves(STAMP)
    consumer.feed(STAMP + 1, velocity=-1e-3)
    assert consumer.input.moves(STAMP) and consumer.input.moves(STAMP + 50_000_000)
    assert not consumer.input.moves(STAMP + 51_000_000)  # it is over
    consumer.input.reset()
    assert not consumer.input.moves(STAMP)


@pytest.mark.parametrize('field', ['position', 'velocity'])
def test_a_torque_without_its_motion_is_refused(consumer, field):
    consumer.tell(then=False)
    numbers = {'position': [0.0] * 6, 'velocity': [0.0] * 6, 'effort': [1.0] * 6, field: []}
    message = ros.stamped(JointState(name=list(ROBOT.joint_names), **numbers), STAMP)
    consumer.input.on_torque(serialize_message(message), known(FIRST + b't'))
    assert consumer.added() == 'no feedforward torque for this state'
    assert '6 joints have 0' in consumer.warnings[-1]


def test_where_the_start_is_not_exact_that_of_the_torque_counts(consumer):
    """A trajectory without a stamp in simulated time: each node receives it at another one."""
    mine = plan(start=PLAN.start + 3_000_000, is_exact=False)
    consumer.tell()
    assert 'it follows another trajectory' in consumer.added(plan=mine)
    assert mine.start == PLAN.start and mine.is_exact
    assert consumer.added(plan=mine) == 1.0
    assert consumer.added(plan=plan(is_exact=False)) == 1.0  # the same by chance
    other = plan(position=0.6, is_exact=False)
    assert 'it follows another trajectory' in consumer.added(plan=other) and not other.is_exact
    again = plan(start=PLAN.start + ros.SECOND, is_exact=False)
    again.later_than = PLAN.start  # the torque is still that of the copy before
    assert 'from another start' in consumer.added(plan=again) and not again.is_exact


def test_a_fallback_torque_is_not_added(consumer):
    """It has the stamp of the last torque along the trajectory, and its own value."""
    consumer.tell()
    consumer.feed(effort=9.0)
    assert consumer.added() == 1.0
    consumer.feed(STAMP + 1, effort=2.0)
    assert consumer.added() == 2.0


def test_a_wrong_torque_drops_those_before(consumer):
    consumer.tell()
    consumer.feed(STAMP + 1, effort=np.nan)
    assert consumer.added() == 'no feedforward torque for this state'
    assert 'effort is not finite' in consumer.warnings[-1]


def test_after_a_reset_there_is_no_torque(consumer):
    consumer.tell()
    consumer.input.reset()
    assert consumer.added() == 'no feedforward torque for this state'


# Which terms it needs


def test_a_torque_without_gravity_is_refused_where_nothing_else_adds_it(consumer):
    consumer.tell(terms=['inertia'])
    assert 'inertia but not gravity, which nothing else would compensate' in consumer.added()
    (warning,) = consumer.input.warnings()
    assert warning == consumer.added()


def test_other_terms_may_be_missing_and_are_reported(consumer):
    consumer.tell(terms=['gravity', 'inertia'])
    assert consumer.added() == 1.0 and consumer.input.warnings() == []
    assert consumer.input.report()['feedforward terms'] == 'gravity inertia'
    assert consumer.input.report()['feedforward terms missing'] == 'coriolis friction'


# What is known before a motion


def test_what_could_not_be_added_is_a_warning_without_a_motion(consumer):
    assert 'nothing came on feedforward_torque/info' in consumer.input.warnings()[0]
    consumer.tell(then=False)
    assert consumer.input.warnings() == []
    consumer.tell(model_digest='0' * 16, then=False)
    assert 'another model' in consumer.input.warnings()[0]
    consumer.tell(then=False)
    consumer.publishers.clear()
    assert consumer.input.warnings() == ['nothing publishes feedforward_torque any more: activate feedforward_node']
