"""What trajectory_effort_node refuses: wrong plans, plans that come too early, and what it then publishes."""

from support.nodes import graph as ros
from support.nodes.payload_gravity_followers import Process, set_payload
from support.nodes.planned_motions import END, NAMES, REST, ROBOT, START, plan, starter

import numpy as np
import pytest
from rclpy.serialization import serialize_message

from robot_dynamics_ros import Payload
from robot_dynamics_ros.control.trajectories.trajectory_check import check
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.tasks import trajectory_efforts

WRONG = {
    'missing joint': (ros.trajectory(NAMES[:5], 0, (0.0, REST[:5])), f'joint {NAMES[5]!r} is missing'),
    'unknown joint': (ros.trajectory(['nose', *NAMES[1:]], 0, (0.0, REST)), "unknown joint 'nose'"),
    'joint twice': (ros.trajectory([*NAMES, NAMES[2]], 0, (0.0, np.zeros(7))), f'joint {NAMES[2]!r} is given twice'),
    'NaN position': (ros.trajectory(NAMES, 0, (0.0, REST * np.nan)), 'point 0: position is not finite'),
    'NaN velocity': (ros.trajectory(NAMES, 0, (0.0, REST, [np.nan, *REST[1:]])), 'point 0: velocity is not finite'),
    'infinite acceleration': (
        ros.trajectory(NAMES, 0, (0.0, REST, REST, REST + np.inf)),
        'point 0: acceleration is not finite',
    ),
    'times that stand': (ros.trajectory(NAMES, 0, (0.0, REST), (0.0, REST)), 'point 1: time 0.0 s'),
    'times that go back': (ros.trajectory(NAMES, 0, (0.0, REST), (1.0, REST), (0.5, REST)), 'point 2: time 0.5 s'),
    'short point': (ros.trajectory(NAMES, 0, (0.0, REST[:4])), 'point 0: expected 6 positions, got 4'),
    'no velocities': (plan(rates=0), 'points 0 and 1 do not both have velocities'),
    'a late first point': (ros.trajectory(NAMES, 0, (1.0, REST)), 'its first point is at 1 s'),
    'degrees': (
        ros.trajectory(NAMES, 0, (0.0, START, REST, REST), (1.0, np.full(6, 90.0), REST, REST)),
        f'trajectory point 1: joint {NAMES[0]!r}: position 90 is beyond its limits',
    ),
    'too long': (
        ros.trajectory(NAMES, 0, (0.0, START, REST), (2e6, END, REST)),
        'sample_period: 0.01 s makes',
    ),
    'overflow': (ros.trajectory(NAMES, 0, (0.0, START, REST + 1e200), (1.0, END, REST)), ''),
}


@pytest.fixture(scope='module')
def any_node():
    """One node for many wrong messages."""
    running = Process()
    yield starter(running)()
    running.end()


@pytest.mark.parametrize('case', WRONG)
def test_a_wrong_plan_is_refused_by_name_and_nothing_is_published(any_node, case):
    message, culprit = WRONG[case]
    before = int(any_node.node.task.report()['plans refused'])
    assert any_node.send(message) is None
    assert culprit in any_node.refusal
    assert int(any_node.node.task.report()['plans refused']) == before + 1
    assert any_node.node.task.report()['plan refused last'] in any_node.refusal
    assert any_node.send(plan()) is not None


def test_jumps_of_a_turn_are_looked_for(any_node, monkeypatch):
    def refuse(trajectory, robot):
        assert len(trajectory.positions) > 1 and robot.joint_names == ROBOT.joint_names
        raise ArgumentError('a jump')

    with monkeypatch.context() as patch:
        patch.setattr(trajectory_efforts, 'check_jumps', refuse)
        assert any_node.send(plan()) is None and 'a jump' in any_node.refusal
    assert any_node.send(plan()) is not None


def test_bytes_that_are_no_trajectory_are_refused(any_node):
    assert any_node.send(serialize_message(plan())[:-30]) is None
    assert 'not a JointTrajectory' in any_node.refusal


@pytest.mark.parametrize('seed', range(4))
def test_whatever_bytes_come_the_node_goes_on_and_efforts_are_finite_and_limited(any_node, seed):
    random = np.random.default_rng(seed)
    data = serialize_message(ros.trajectory(NAMES, 0, *((t, START, REST, REST) for t in (0.0, 1.0, 2.0))))
    for _ in range(100):
        spoilt = bytearray(data)
        for place in random.integers(4, len(data), random.integers(1, 4)):
            spoilt[place] = random.integers(256)
        found = any_node.send(bytes(spoilt[: random.choice([len(data), random.integers(4, len(data))])]))
        for point in found.points if found else ():
            for values in (point.positions, point.velocities, point.accelerations, point.effort):
                assert np.isfinite(values).all()
            assert (np.abs(point.effort) <= ROBOT.limits.effort).all()
    assert any_node.send(plan()) is not None


@pytest.fixture
def make(process):
    """A function that starts a node with parameters, and returns it with its ``Outputs``; there is no server."""
    return starter(process)


def test_nothing_is_published_before_payload_and_gravity_are_known_and_then_with_both(process, make):
    server = process.node(DynamicsServer)
    node = make(await_payload_gravity=True)
    assert node.send(plan()) is None
    assert 'waiting for payload_state: activate dynamics_server; send the plan again' in node.refusal
    assert node.node.silence == 'waiting for payload_state: activate dynamics_server'
    server.start()
    set_payload(server, 2.0, com=[0.0, 0.0, 0.1])
    process.spin_until(lambda: not node.node.silence.startswith('waiting'), 'it still waits')  # for gravity
    found = node.send(plan())
    robot = ROBOT.with_payload(Payload(2.0, (0.0, 0.0, 0.1)), 'ee_link')
    assert found.points[1].effort == pytest.approx(robot.gravity_torque(END) + ROBOT.friction_torque(REST), rel=1e-6)
    (report,) = node.reports
    assert np.abs(report.peak_effort) == pytest.approx(np.abs(check(robot, trajectory_of(NAMES, plan())).peak_effort))
    assert [(body.frame, body.mass) for body in report.payloads] == [('ee_link', 2.0)]


def test_an_inactive_node_publishes_nothing_and_says_so(make):
    node = make()
    node.node.trigger_deactivate()
    assert node.send(plan()) is None
    assert 'trajectory_effort_node is not active' in node.refusal


def test_cleaning_up_destroys_inputs_and_outputs(make):
    node = make().node
    before = sorted(it.topic_name for it in (*node.subscriptions, *node.publishers))
    for transition in ('deactivate', 'cleanup'):
        getattr(node, f'trigger_{transition}')()
    left = {it.topic_name for it in (*node.subscriptions, *node.publishers)}
    assert not left & {'/planned_trajectory', '/trajectory_with_effort', '/trajectory_torques'}
    node.start()
    assert sorted(it.topic_name for it in (*node.subscriptions, *node.publishers)) == before
