"""When a trajectory starts: by its stamp, or when its source sent it, whatever the node was doing meanwhile."""

import time
from contextlib import ExitStack
from types import SimpleNamespace

from support.nodes import graph as ros
from support.robots.small_robots import mixed

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints
from robot_dynamics_ros.nodes.inputs.trajectory_input import TOPIC, TrajectoryInput
from robot_dynamics_ros.nodes.inputs.trajectory_queue import MOST_WAITING, TrajectoryQueue

ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
SECOND, MS = ros.SECOND, 1_000_000
NOW = 1_800_000_000 * SECOND
SIMULATED = 77 * SECOND


class Receiver:
    """As much of a node and of a follower as the input needs."""

    active, activated, locked_joint_names, robot, context = True, 0, (), ROBOT, None
    publishers, unreached, stream_lag = 1, '', None

    def __init__(self, monkeypatch, simulated=None):
        self.simulated = simulated
        self.clock_followers, self.resources, self.said = [], ExitStack(), []
        self.received, self.stopped, self.ended, self.is_streaming = [], 0, 0, False
        monkeypatch.setattr(time, 'time_ns', lambda: NOW)
        self.input = TrajectoryInput(self, self, self.end)

    def follow_clock(self, follow):
        self.clock_followers.append(follow)

    def value(self, name):
        return {'position_limit_tolerance': 0.2}[name]

    def create_subscription(self, kind, topic, callback, qos, **options):
        self.callback, self.options = callback, options

    def create_guard_condition(self, callback, group):
        """Nobody waits for it: threads do not run."""

    def guarded(self, callback):
        return callback

    def crashed(self, error):
        raise error

    def destroy_subscription(self, subscription):
        raise AssertionError('nothing is cleaned up here')

    def get_clock(self):
        now = NOW if self.simulated is None else self.simulated
        is_simulated = self.simulated is not None
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=now), ros_time_is_active=is_simulated)

    def get_logger(self):
        return SimpleNamespace(info=lambda *_, **__: None, warning=self.said.append)

    def resolve_topic_name(self, topic):
        return f'/arm/{topic}'

    def get_publishers_info_by_topic(self, topic):
        assert topic == '/arm/joint_trajectory'
        return [
            SimpleNamespace(endpoint_gid=[k] * 16, node_namespace='/arm', node_name='planner')
            for k in range(self.publishers)
        ]

    def joined_late(self):
        return ''

    def get_name(self):
        return 'receiver'

    def streams(self, trajectory, start):
        return self.is_streaming

    def receive(self, trajectory, start, now, is_exact=True, sent=None, as_sent=False, **more):
        self.received.append((start, now, is_exact))
        self.sent, self.as_sent, self.keeps_speed = sent, as_sent, more['keeps_speed']
        self.tolerance = more.get('tolerance')
        return 'plan'

    def stop(self):
        self.stopped += 1

    def end(self):
        self.ended += 1

    def give(self, stamp=0, sent=0.0, received=0.0, first=0.0):
        """Handle a trajectory that was sent and received so many s ago; return start and time, None if refused."""
        message = ros.trajectory(NAMES, stamp, (first, np.zeros(6)), (first + 9.0, np.ones(6)))
        info = {'source_timestamp': NOW - round(sent * SECOND), 'received_timestamp': NOW - round(received * SECOND)}
        self.received.clear()
        self.callback(serialize_message(message), info)
        return self.received[0] if self.received else None


@pytest.mark.parametrize('stamp', [0, NOW + SECOND])
def test_the_follower_is_told_when_the_source_sent_it_and_not_that_this_is_still_to_come(monkeypatch, stamp):
    one = Receiver(monkeypatch)
    for sent in (0.3, -0.9):
        assert one.give(stamp, sent=sent)
        assert one.sent == NOW - round(max(sent, 0.0) * SECOND)
    one.simulated = 5 * SECOND
    assert one.give(stamp and 6 * SECOND, sent=0.3) and one.sent == one.simulated


def test_without_a_stamp_it_starts_when_its_source_sent_it(monkeypatch):
    """Whether the process was paused before it received it, or its executor was busy afterwards."""
    one = Receiver(monkeypatch)
    for sent, received in ((0.7, 0.0), (0.7, 0.3), (0.7, 0.7), (0.0, 0.0)):
        start, now, is_exact = one.give(sent=sent, received=received)
        assert start == NOW - round(sent * SECOND) and is_exact
        assert now == NOW - round(received * SECOND)


def test_each_process_computes_the_same_start(monkeypatch):
    """Whatever time passes between two readings of the clock."""
    starts = set()
    for passing in (0, 2_200, 22_000, 40 * MS):
        one = Receiver(monkeypatch)
        readings = iter(range(NOW, NOW + 10**12, passing or 1))
        monkeypatch.setattr(time, 'time_ns', lambda: next(readings))  # noqa: B023
        starts.add(one.give(sent=0.2)[0])
    assert starts == {NOW - SECOND // 5}


def test_a_lone_point_without_a_time_is_not_over_on_its_way(monkeypatch):
    one = Receiver(monkeypatch)
    info = {'source_timestamp': NOW - 80 * MS, 'received_timestamp': NOW}
    one.callback(serialize_message(ros.trajectory(NAMES, 0, (0.0, np.zeros(6)))), info)
    start = NOW - 80 * MS
    assert one.received == [(start, start, True)]


def test_with_a_stamp_it_starts_then(monkeypatch):
    one = Receiver(monkeypatch)
    assert one.give(stamp=NOW + 5 * SECOND, sent=0.7) == (NOW + 5 * SECOND, NOW, True)
    assert Receiver(monkeypatch, SIMULATED).give(stamp=SIMULATED, sent=0.7) == (SIMULATED, SIMULATED, True)


def test_in_simulated_time_no_node_knows_the_start_exactly(monkeypatch):
    assert Receiver(monkeypatch, SIMULATED).give(sent=0.004) == (SIMULATED - 4 * MS, SIMULATED, False)


def test_a_middleware_without_the_time_of_the_source_gives_no_exact_start(monkeypatch):
    one = Receiver(monkeypatch)
    one.give(sent=NOW / SECOND, received=0.3)
    assert one.received == [(NOW - 300 * MS, NOW - 300 * MS, False)]


def test_a_clock_of_the_source_that_is_ahead_is_refused(monkeypatch):
    one = Receiver(monkeypatch)
    assert one.give(sent=-0.9)[0] == NOW + 900 * MS
    assert one.give(sent=-1.1) is None
    assert (
        'the clock of its source is 1.1 s ahead' in one.said[0]
        and one.input.report()['trajectory refused last'] in one.said[0]
    )
    assert one.give(stamp=NOW, sent=-1.1) is not None


@pytest.mark.parametrize(
    ('first', 'sent', 'accepted'),
    [(2.0, 0.9, True), (2.0, 1.1, False), (2.0, 1.9, False), (2.0, 2.1, True), (0.06, 0.04, True), (0.0, 5.0, True)],
)
def test_one_that_comes_late_has_time_for_the_way_to_its_first_point(monkeypatch, first, sent, accepted):
    one = Receiver(monkeypatch)
    assert (one.give(sent=sent, first=first) is not None) is accepted and (not accepted or one.as_sent)
    assert accepted or 'send it again' in one.said[0]
    # a stamp says no more about when it came
    assert (one.give(stamp=NOW - round(sent * SECOND), sent=sent, first=first) is not None) is accepted
    assert not accepted or not one.as_sent


@pytest.mark.parametrize(('ahead', 'sent', 'accepted'), [(0.4, 0.0, True), (0.4, 1.0, False), (0.4, 0.3, True)])
def test_the_time_that_a_stamped_one_had_when_it_was_sent_counts(monkeypatch, ahead, sent, accepted):
    """0.4 s are left to its first point: of 0.4, 1.4 and 0.7 s."""
    one = Receiver(monkeypatch)
    assert (one.give(stamp=NOW + round(0.3 * SECOND), sent=sent, first=ahead - 0.3) is not None) is accepted


def test_a_point_of_a_stream_may_come_late(monkeypatch):
    """Its lag makes up for it."""
    one = Receiver(monkeypatch)
    one.is_streaming = True
    assert one.give(sent=0.09, first=0.1) is not None


def test_one_without_points_ends_the_motion(monkeypatch):
    one = Receiver(monkeypatch)
    one.callback(serialize_message(ros.trajectory(NAMES, 0)), {'source_timestamp': NOW, 'received_timestamp': NOW})
    assert (one.stopped, one.ended, one.received) == (1, 1, [])


def test_a_long_one_is_not_deserialised_in_one_piece(monkeypatch):
    """rclpy would keep the interpreter from the hot path for 0.1 s: it hands over bytes, which are read in steps."""
    one = Receiver(monkeypatch)
    assert one.options['raw']
    monkeypatch.setattr('rclpy.serialization.deserialize_message', lambda *_: pytest.fail('deserialised in one piece'))
    assert one.give() is not None


def test_what_is_no_trajectory_is_refused_by_name(monkeypatch):
    one = Receiver(monkeypatch)
    one.callback(b'\0\1\0\0' + bytes(7), {'source_timestamp': NOW, 'received_timestamp': NOW})
    assert one.received == [] and one.said[0].startswith('trajectory refused: not a JointTrajectory: ')


def test_two_publishers_are_a_warning_with_their_number(monkeypatch):
    receiver = Receiver(monkeypatch)
    assert receiver.input.warnings() == []
    receiver.publishers = 2
    (warning,) = receiver.input.warnings()
    assert warning.startswith('2 publishers of joint_trajectory (/arm/planner, /arm/planner): the newest')


def test_a_stop_drops_poses_that_wait_and_the_one_that_is_read(monkeypatch):
    one = Receiver(monkeypatch)
    others = {'target_pose': PoseStamped}
    queue = TrajectoryQueue(one, 'joint_trajectory', lambda data, info: None, lambda: None, one.said.append, others)
    for _ in range(3):
        one.callback(b'', {})
    being_read = queue.next()
    queue.on_message(serialize_message(JointTrajectory()), {})
    assert being_read.topic == 'target_pose' and queue.next() is None
    assert not queue.unless_stopped(being_read, one.end) and not one.ended


class Sender:
    """Keeps what it is told."""

    tolerance = 'of the path'

    def __init__(self):
        self.told = []

    follows = is_refused = lambda self, it: self.told.append(it)


def test_who_sends_a_trajectory_in_this_process_is_told_what_becomes_of_it(monkeypatch):
    one = Receiver(monkeypatch)
    followed, refused, stopped, late = (Sender() for _ in range(4))
    right = serialize_message(ros.trajectory(NAMES, 0, (1.0, np.full(6, 0.2))))
    one.input.send(right, followed)
    assert followed.told == ['plan'] and one.tolerance == 'of the path'
    one.input.send(serialize_message(ros.trajectory(NAMES, 0, (1.0, np.full(6, 99.0)))), refused)
    assert len(refused.told) == 1 and 'is beyond its limits' in refused.told[0]
    # others wait for the thread that reads them
    monkeypatch.setattr(one.input, '_announce', lambda: None)
    one.input._queue._announce = lambda: None
    one.input.send(right, late)
    for _ in range(MOST_WAITING):
        one.input.send(right, stopped)
    assert late.told == [f'trajectory: {MOST_WAITING} newer ones wait, for the machine is busy']
    report = one.input.report()
    assert (report['trajectories taken'], report['trajectories refused']) == ('1', '2')
    assert report['trajectory refused last'] == late.told[0]
    one.input.stop()
    assert one.stopped == 1 and stopped.told == ['trajectory dropped: a stop has come'] * MOST_WAITING


def test_a_stream_at_500_hz_waits_for_a_machine_that_is_busy_for_a_quarter_of_a_second(monkeypatch):
    one, first, others = Receiver(monkeypatch), Sender(), Sender()
    queue = one.input._queue
    queue._announce = lambda: None
    for _ in range(MOST_WAITING):
        queue.let_wait(b'', {}, TOPIC, others)
    for k in range(125):
        queue.let_wait(b'', {}, 'target_twist', others if k else first)
    assert not first.told and not others.told
    queue.let_wait(b'', {}, 'target_twist', others)
    assert first.told == ['target_twist: 125 newer ones wait, for the machine is busy'] and not others.told


def test_a_pose_is_followed_as_a_point_and_stops_and_trajectories_lead_the_arm_otherwise(monkeypatch):
    one, anew = Receiver(monkeypatch), []
    q = np.full(6, 0.2)
    point = TrajectoryPoints(0, NAMES, [0.5], [[q], [np.empty(0)], [np.empty(0)]])
    way = TrajectoryPoints(0, NAMES, [0.0, 2.0], [[q, 0.1 + q], [0.0 * q] * 2, [0.0 * q] * 2])
    points = {('target_twist', b'near'): point, ('target_twist', b'far away'): way}
    poses = SimpleNamespace(points=lambda *message: points[message], begin_anew=lambda: anew.append(None))
    one.input = TrajectoryInput(one, one, one.end, poses)
    info = {'source_timestamp': NOW, 'received_timestamp': NOW}
    one.callback(b'near', info)
    assert one.received == [(NOW, NOW, True)] and one.as_sent and not (anew or one.keeps_speed)
    one.callback(b'far away', info)
    assert one.keeps_speed and len(one.received) == 2
    one.input._queue.on_message(serialize_message(ros.trajectory(NAMES, 0, (1.0, q))), info)
    assert len(one.received) == 3 and len(anew) == 1 and not one.keeps_speed
    one.input._queue.on_message(serialize_message(JointTrajectory()), info)
    assert one.stopped == 1 and len(anew) == 2


def test_a_continuous_joint_that_jumps_by_a_turn_is_refused(monkeypatch):
    one, info = Receiver(monkeypatch), {'source_timestamp': NOW, 'received_timestamp': NOW}
    one.robot = mixed()
    one.input = TrajectoryInput(one, one, one.end)
    ends = (0.0, [3.1, 0.0, 0.0]), (0.1, [-3.1, 0.0, 0.0])
    one.callback(serialize_message(ros.trajectory(one.robot.joint_names, 0, *ends)), info)
    assert not one.received and "joint 'turn' moves by -6.2 rad between points 0 and 1" in one.said[-1]


def test_a_stream_that_is_refused_is_logged_once_for_each_kind_of_reason(monkeypatch):
    one, now = Receiver(monkeypatch), [100.0]
    monkeypatch.setattr(time, 'monotonic', lambda: now[0])
    reasons = [
        'it is 0.31 m away',
        'it is 0.29 m away',
        'it is -3e-05 m away',
        "joint 'j_1' is far",
        "joint 'j_2' is far",
    ]
    for reason in reasons:
        one.input._refuse(ArgumentError(reason))
        assert one.input.report()['trajectory refused last'] == reason
    assert one.said == [f'trajectory refused: {reasons[k]}' for k in (0, 3, 4)]
    now[0] += 11.0
    one.input._refuse(ArgumentError(reasons[-1]))
    assert len(one.said) == 4
