"""Torque nodes of this process, whose arm has a gripper that moves and holds an object: torques of the full model."""

import re
import time

from support.nodes import graph as ros
from support.robots.gripper import FINGER, FOLLOWER, HELD, OPEN, TIP, arm_with_gripper, full_torque

import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController

NAMES = list(Robot.named('aubo_i5').joint_names)
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])
STATED = 0.02
PERIOD = 4_000_000
"""Between two states of the arm, ns."""
BANDWIDTH = 5.0
GAINS = {'stiffness': [20.0] * 6, 'damping': [1.0] * 6, 'state_rate': 250.0, 'bandwidth': BANDWIDTH}
OWN = {
    GravityCompensationNode: {},
    FeedforwardNode: {'start_tolerance': 0.0, 'compensation': ['gravity', 'coriolis', 'inertia']},
    TorqueController: {**GAINS, 'start_tolerance': 0.0},
}
IXX, IYY, IZZ = np.diagonal(HELD.inertia)
CARRIED = PayloadState(mass=HELD.mass, com=HELD.com, inertia=[IXX, IYY, IZZ, 0.0, 0.0, 0.0], frame=TIP)
"""``HELD`` on the finger, as dynamics_server publishes it."""


class Node:
    """A node that gets states without the middleware, on a clock of its own; ``sent`` has its torques."""

    def __init__(
        self, process, kind, locked=f'{FINGER}: measured from {STATED}', carries=True, description='', **parameters
    ):
        given = {'robot_description': arm_with_gripper(), 'locked_joints': [locked], 'effort_limit': [float('inf')]}
        given = {**given, **OWN[kind], 'age_limit': ros.DAY, **parameters}
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        self.node = process.node(kind, parameter_overrides=overrides)
        self.node.start()
        if description:
            self.node.description.on_message(String(data=description))
        assert self.node.active, self.node.silence
        self.sent, self.refused = [], []
        self.stamp = self.node.get_clock().now().nanoseconds
        self.takes_over()
        process.spin_until(lambda: not self.task._payload_gravity.missing, 'payload and gravity')
        if carries:
            self.task._payload_gravity.on_message('payload_state', CARRIED)

    def takes_over(self):
        """Give states to the task of now."""
        self.task = self.node.task
        self.pipeline = self.task.pipeline
        self.task._hot_path.stop()
        self.pipeline._clock.now = lambda: self.stamp
        self.pipeline._publish = lambda stamp, torque, answered: self.sent.append(torque.copy())
        self.pipeline._refuse = self.pipeline.sources._refuse = self.refused.append

    def state(self, q=Q, qd=None, after=PERIOD, finger=None, **others):
        """Give a state of the arm, with positions of the gripper in it; return its torque, None for none."""
        places = {**({} if finger is None else {FINGER: finger}), **others}
        self.stamp += after
        qd = np.zeros(6) if qd is None else qd
        self.sent.clear()
        self._give([*places, *NAMES], [*places.values(), *q], [*(0.0 * len(places) for _ in places), *qd])
        return self.sent[0] if self.sent else None

    def report(self, gid='gripper', late=0, **places):
        """Give a state of the gripper alone, ``late`` ns before the clock."""
        self._give(list(places), list(places.values()), [0.0] * len(places), gid, late)

    def _give(self, names, q, qd, gid='arm', late=0):
        message = ros.joint_state(names, self.stamp - late, q, qd)
        self.pipeline.on_state(serialize_message(message), {'publisher_gid': {'data': gid}})

    def moves(self, end, seconds):
        """Follow a trajectory from the next state on."""
        points = (0.0, Q, np.zeros(6), np.zeros(6)), (seconds, end, np.zeros(6), np.zeros(6))
        message = serialize_message(ros.trajectory(NAMES, self.stamp + PERIOD, *points))
        info = {'source_timestamp': 0, 'received_timestamp': time.time_ns()}
        trajectory = self.task.trajectory
        trajectory._queue.on_message(message, info)
        deadline = time.monotonic() + ros.TIMEOUT
        while not trajectory._follower._plans and time.monotonic() < deadline:
            time.sleep(0.001)
        assert not trajectory.verdicts.refused

    def diagnosed(self):
        """Return the message of the diagnostics, '' where torques are published and nothing is wrong."""
        told = []
        self.node.diagnostics.publisher.publish = told.append
        self.node.diagnostics.publish()
        # the payload of these tests is of no server
        parts = told[0].status[0].message.split('; ')
        return '; '.join(it for it in parts if not it.startswith('no publisher of payload_state any more'))


def openings(count):
    """Return positions of a finger that opens and closes."""
    return 0.5 * OPEN * (1.0 - np.cos(np.linspace(0.0, 2.0 * np.pi, count)))


def equals(torque, *full, **options):
    np.testing.assert_allclose(torque, full_torque(*full, **options), rtol=0, atol=1e-9)


def test_gravity_compensation_holds_arm_gripper_and_object_at_each_opening(process):
    node = Node(process, GravityCompensationNode)
    assert node.node.robot.joint_names == tuple(NAMES)
    for k, opening in enumerate(openings(100)):
        q = Q + 0.3 * np.sin(0.05 * k + np.arange(6.0))
        equals(node.state(q, finger=opening), q, opening)
        assert np.abs(full_torque(q, opening) - full_torque(q, STATED)).max() > 1e-9
    equals(node.state(finger=0.05, **{FOLLOWER: 0.03}), Q, 0.05, follower=0.03)


def test_feedforward_of_a_motion_is_that_of_the_full_model_at_each_opening(process):
    node = Node(process, FeedforwardNode)
    end = Q + 0.4
    node.moves(end, 0.4)
    largest = 0.0
    for opening in openings(95):
        torque = node.state(finger=opening)
        q, qd, qdd = node.pipeline.law._q, node.pipeline.law._qd, node.pipeline.law._qdd
        equals(torque, q, opening, qd, qdd)
        largest = max(largest, np.abs(qdd).max())
    assert largest > 5.0


@pytest.mark.parametrize('law', ['pd_gravity', 'computed_torque'])
def test_torque_controller_holds_and_moves_the_full_model_at_each_opening(process, law):
    node = Node(process, TorqueController, control_law=law)
    for opening in openings(50):
        equals(node.state(finger=opening), Q, opening)  # which holds the arm
    node.moves(Q + 0.4, 0.4)
    largest = 0.0
    for k, opening in enumerate(openings(95)):
        q, qd = Q + 1e-3 * np.sin(0.2 * k + np.arange(6.0)), 1e-3 * np.cos(0.3 * k + np.arange(6.0))
        torque = node.state(q, qd, finger=opening)
        q_desired, qd_desired, qdd_desired = node.pipeline.law._desired
        e, de = q_desired - q, qd_desired - qd
        if law == 'pd_gravity':
            equals(torque - 20.0 * e - 1.0 * de, q, opening)
        else:
            acceleration = qdd_desired + BANDWIDTH**2 * e + 2.0 * BANDWIDTH * de
            equals(torque - node.node.robot.friction_torque(qd_desired), q, opening, qd, acceleration)
            largest = max(largest, np.abs(qdd_desired).max())
    assert largest > 5.0 or law == 'pd_gravity'


def test_a_gripper_that_reports_itself_moves_the_fingers(process):
    node = Node(process, GravityCompensationNode)
    equals(node.state(), Q, STATED)
    counts = node.pipeline.counts
    for opening in openings(30)[1:]:
        for _ in range(260):  # 1.04 s: the first report takes effect within a second
            node.report(**{FINGER: opening})
            equals(node.state(), Q, node.node.robot.positions(Q)[-1])
            if node.node.robot.positions(Q)[-1] == opening:
                break
        equals(node.state(), Q, opening)
        equals(node.state(Q + 0.2), Q + 0.2, opening)
    assert counts.rejected_reasons() == {} and node.refused == []
    assert node.diagnosed() == ''


def test_a_report_makes_no_step_of_the_torque(process):
    node = Node(process, GravityCompensationNode)
    torques = [node.state()]
    node.report(**{FINGER: OPEN})
    torques += [node.state() for _ in range(300)]
    steps = np.abs(np.diff(torques, axis=0)).max()
    whole = np.abs(full_torque(Q, OPEN) - full_torque(Q, STATED)).max()
    assert whole > 0.5 and steps < 1.01 * whole / 250  # over 1 s
    equals(torques[-1], Q, OPEN)


def test_messages_of_the_gripper_are_no_states_of_the_arm(process):
    node = Node(process, GravityCompensationNode)
    for _ in range(20):
        node.state()
    gate, pipeline = node.task._gate, node.pipeline
    before = gate.period, gate.jitter, gate.age, gate.used, gate._newest, pipeline._stamp, pipeline._own, pipeline._seen
    published, result = pipeline.counts.published, pipeline.result
    for k in range(20):
        node.report(late=1000 - k, **{FINGER: 0.03, FOLLOWER: 0.03})
    after = gate.period, gate.jitter, gate.age, gate.used, gate._newest, pipeline._stamp, pipeline._own, pipeline._seen
    assert after == before and pipeline.result is result
    assert (pipeline.counts.published, pipeline.silence) == (published, '')
    assert len(pipeline.sources.arm.known) == 1


def test_a_gripper_alone_is_no_arm(process):
    node = Node(process, GravityCompensationNode)
    node.report(**{FINGER: 0.05})
    assert node.diagnosed().startswith('no joint state of the arm yet, only those of other joints')
    assert not node.task._payload_gravity.in_use
    equals(node.state(), Q, 0.05)  # no torque depended on the finger before


def test_a_report_that_stops_leaves_the_finger_where_it_was_and_is_a_warning(process):
    node = Node(process, GravityCompensationNode)
    equals(node.state(finger=0.05), Q, 0.05)
    for _ in range(3):
        equals(node.state(after=ros.SECOND // 3), Q, 0.05)
    assert node.diagnosed() == ''
    equals(node.state(), Q, 0.05)
    assert node.diagnosed().startswith(
        f'joint {FINGER!r} is not in joint_states any more: it counts as where it was last, at 0.0'
    )
    first = node.state(finger=0.01)
    assert np.abs(first - full_torque(Q, 0.05)).max() < 0.01 * np.abs(full_torque(Q, 0.01) - full_torque(Q, 0.05)).max()
    for _ in range(250):
        last = node.state(finger=0.01)
    equals(last, Q, 0.01)
    assert node.diagnosed() == ''


def test_a_finger_that_is_never_reported_counts_as_stated_and_is_a_warning(process):
    node = Node(process, GravityCompensationNode)
    for _ in range(5):
        equals(node.state(after=ros.SECOND // 3), Q, STATED)
    told = (
        f'joint {FINGER!r} is not in joint_states: it counts as where locked_joints states it, at 0.02 rad or m; have'
    )
    assert node.diagnosed().startswith(told)


@pytest.mark.parametrize(
    ('place', 'reason'),
    [
        (np.nan, f'joint {FINGER!r}: position is missing or not finite'),
        (np.inf, f'joint {FINGER!r}: position is missing or not finite'),
        (50.0, f'joint {FINGER!r}: position 50 is beyond its limits, 0 to 0.08 rad or m, .* are they millimetres?'),
    ],
)
def test_a_wrong_position_of_a_finger_is_rejected_by_name(process, place, reason):
    node = Node(process, GravityCompensationNode)
    equals(node.state(finger=0.05), Q, 0.05)
    assert node.state(finger=place) is None
    assert node.pipeline.silence.startswith('joint state rejected: ')
    (why,) = node.pipeline.counts.rejected_reasons()
    assert re.match(reason, why)
    node.pipeline.counts.reset()
    equals(node.state(), Q, 0.05)  # in a message of its own it changes no torque
    node.report(**{FINGER: place})
    assert node.pipeline.silence == '' and re.match(f'report refused: {reason}', node.refused[-1])
    equals(node.state(), Q, 0.05)
    assert node.diagnosed().startswith(f'report refused: joint {FINGER!r}')
    assert node.pipeline.counts.rejected_reasons() == {why: 1}
    node.report(**{FINGER: 0.05})
    assert node.diagnosed() == ''


@pytest.mark.parametrize(
    ('late', 'verdict'),
    [(2 * ros.SECOND, 'too old'), (-2 * ros.SECOND, 'from the future'), (None, 'without a stamp')],
)
def test_a_report_of_another_time_is_rejected(process, late, verdict):
    node = Node(process, GravityCompensationNode)
    equals(node.state(finger=0.05), Q, 0.05)
    node.report(late=node.stamp if late is None else late, **{FINGER: 0.01})
    assert node.refused == [f'report refused: joint {FINGER!r}: its report is {verdict}']
    for _ in range(3):
        equals(node.state(after=ros.SECOND), Q, 0.05)


def test_reports_after_the_last_state_of_the_arm_do_not_hide_that_none_comes(process, monkeypatch):
    node = Node(process, GravityCompensationNode)
    node.state()
    later = time.monotonic() + 5.0
    monkeypatch.setattr(time, 'monotonic', lambda: later)
    node.report(**{FINGER: 0.05})
    assert node.pipeline.counts.rejected_reasons() == {} and node.pipeline.silence == ''
    assert node.pipeline.age == pytest.approx(5.0, abs=1.0)


def test_an_activation_begins_where_the_finger_is(process):
    node = Node(process, GravityCompensationNode)
    equals(node.state(finger=0.05), Q, 0.05)
    equals(node.state(after=2 * ros.SECOND), Q, 0.05)
    node.pipeline.begin()
    equals(node.state(finger=0.01), Q, 0.01)


def test_reports_count_after_the_clock_was_set_back(process):
    node = Node(process, GravityCompensationNode)
    equals(node.state(finger=0.05), Q, 0.05)
    node.stamp -= 100 * ros.SECOND
    equals(node.state(), Q, 0.05)
    node.report(**{FINGER: 0.01})
    node.state()
    equals(node.state(after=ros.SECOND), Q, 0.01)


def test_two_publishers_of_a_finger_are_a_warning_and_the_newer_stamp_counts(process):
    node = Node(process, GravityCompensationNode)
    node.state(finger=0.05)
    node.report(gid='gripper', late=-PERIOD // 2, **{FINGER: 0.01})
    node.stamp -= PERIOD // 2 + 1
    node.state(finger=0.05)
    assert len(node.pipeline.sources.measured.known) == 2
    found = node.task._measured_warnings([(b'1', '/arm'), (b'2', '/gripper')])
    assert found == [
        f'2 publishers of joint_states (/arm, /gripper), 2 of them with {FINGER}: the newer stamp counts, of either '
        'one; let one alone report them'
    ]


def test_another_description_continues_where_the_finger_was_reported(process):
    text, topic = arm_with_gripper(), {'robot_description': '', 'model': '', 'description_topic': 'robot_description'}
    node = Node(process, GravityCompensationNode, description=text, **topic)
    equals(node.state(finger=0.05), Q, 0.05)
    task = node.task
    node.node.description.on_message(String(data=text.replace('</robot>', '<!-- again --></robot>')))
    assert node.node.task is task
    node.node.description.on_message(String(data=re.sub('effort="20(.0)?"', 'effort="21"', text)))
    assert node.node.task is not task
    node.takes_over()
    for _ in range(3):
        equals(node.state(), Q, 0.05)  # and not where it is stated
    assert node.state(finger=OPEN) is not None
    assert node.node.robot.positions(Q)[-1] == OPEN  # which goes on from report to report


def test_a_finger_that_was_locked_makes_no_step_with_another_description(process):
    text, topic = arm_with_gripper(), {'robot_description': '', 'model': '', 'description_topic': 'robot_description'}
    node = Node(process, GravityCompensationNode, f'{FINGER}: {STATED}', description=text, **topic)
    equals(node.state(), Q, STATED)
    node.node.set_parameters([Parameter('locked_joints', value=[f'{FINGER}: measured from {STATED}'])])
    node.node.description.on_message(String(data=text.replace('</robot>', '<!-- again --></robot>')))
    node.takes_over()
    first = node.state(finger=OPEN)
    whole = np.abs(full_torque(Q, OPEN) - full_torque(Q, STATED)).max()
    assert 0.0 < np.abs(first - full_torque(Q, STATED)).max() < 0.01 * whole
    for _ in range(250):
        last = node.state(finger=OPEN)
    equals(last, Q, OPEN)


def test_required_positions_are_as_they_were(process):
    node = Node(process, GravityCompensationNode, f'{FINGER}: measured')
    equals(node.state(finger=0.05), Q, 0.05)
    assert node.state() is None
    assert f"joint {FINGER!r} is missing or not finite; locked_joints says 'measured' for it" in node.pipeline.silence
    node.report(**{FINGER: 0.01})
    assert node.state() is None
