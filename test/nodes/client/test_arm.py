"""A client leads a simulated arm: to poses and positions, by velocities and wrenches, and is refused by the node."""

import re
import signal
import subprocess
import sys
import threading
import warnings

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.client import MOVES, START, Call, ended, moving, run
from support.nodes.feedforward import NAMES, ROBOT

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.client import (
    Arm,
    ClientError,
    EndedError,
    FrameStiffness,
    Reached,
    RefusedError,
    UnavailableError,
)
from robot_dynamics_ros.client import verdict as client_verdict
from robot_dynamics_ros.client.link import Link
from robot_dynamics_ros.client.node_status import NodeStatus
from robot_dynamics_ros.client.session import Session
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.tasks.torque_pipeline import NO_INPUT

LINK = ROBOT.link_names[-1]
BESIDE = """
import rclpy
rclpy.init()
beside = rclpy.create_node('beside')
"""
MOVE = """
import sys
from robot_dynamics_ros.client import Arm
arm = Arm()
sys.stdin.readline()
try:
    arm.move_joints({'wrist3_joint': -2.5}, duration=10.0)
finally:
    sys.stdin.readline()
"""


@pytest.fixture(scope='module', params=matrix([0.2, 1.0], few=[0.2]))
def graph(tmp_path_factory, request):
    """A graph with the arm, whose statuses come five times as often as those of users' nodes, or as seldom."""
    with ros.Graph(tmp_path_factory.mktemp('arm')) as running:
        yield run(running, request.param)


@pytest.fixture(scope='module')
def arm(graph):
    with Arm() as found:
        yield found


@pytest.fixture
def stops(monkeypatch) -> list:
    """A list that grows by each stop that a client sends."""
    sent, stop = [], Link.stop
    monkeypatch.setattr(Link, 'stop', lambda link: sent.append(stop(link)))
    return sent


def other_end(arm):
    """Return a pose that the arm reaches from wherever the tests leave it, 0.15 m away or more."""
    ends = [ROBOT.link_pose(START, LINK) for _ in range(2)]
    ends[1][2, 3] -= 0.3  # at 0.25 m/s longer than a verdict takes
    return max(ends, key=lambda end: Reached.between(arm.state.pose, end).distance)


def other_turn(arm):
    """Return a position of the last joint, 1.5 rad away or more."""
    return {NAMES[5]: -1.5 if arm.state.positions[5] > 0.0 else 1.5}


def test_the_state_is_the_newest_one(graph, arm):
    states, seen = graph.listen(JointState, 'joint_states'), []

    def both():
        seen.append(arm.state)
        return [(x, it) for x in seen for it in states if ros.nanoseconds(it.header.stamp) == x.stamp]

    graph.until(both, 'a state that both have received')
    state, same = both()[0]
    found = np.array([state.positions, state.velocities, state.efforts])
    assert np.array_equal(found, [same.position, same.velocity, same.effort])
    assert np.array_equal(state.pose, ROBOT.link_pose(state.positions, arm.frame))
    assert arm.robot.digest == ROBOT.digest


def test_the_frame_reaches_a_pose(arm, stops):
    pose = other_end(arm)
    reached = arm.move_to(pose)
    np.testing.assert_allclose(reached, Reached.between(arm.state.pose, pose), atol=1e-3)
    assert reached.distance < 0.01
    assert reached.angle < 0.02
    assert not stops


def test_joints_go_where_they_are_led_and_others_stay(arm):
    before = arm.state.positions
    by = -0.5 if before[5] > 0.0 else 0.5
    left = arm.move_joints({'wrist3_joint': before[5] + by}, duration=1.2)
    moved = arm.state.positions - before
    assert abs(moved[5] - by) < 0.05
    assert np.abs(moved[:5]).max() < 0.05
    np.testing.assert_allclose(left[5], by - moved[5], atol=0.01)


def beyond_reach(arm):
    pose = arm.state.pose
    pose[0, 3] += 3.0
    arm.move_to(pose)


def too_stiff(arm):
    arm.stiffness = FrameStiffness([9e3, 100.0, 100.0], [10.0, 10.0, 10.0])


def pushed(arm):
    arm.press(moment=[0.0, 0.0, 2.0], duration=0.1)


def in_degrees(arm):
    arm.move_joints({'wrist3_joint': 90.0}, duration=1.0)


def too_fast(arm):
    arm.drive(linear=[0.0, 0.0, 5.0], duration=0.1)


@pytest.mark.parametrize(
    ('command', 'reason', 'streams', 'times'),
    [
        (beyond_reach, 'target_pose: .* does not reach the pose', False, 2),
        (too_stiff, 'target_stiffness: translational x: 9000.0 is above 800.0', False, 1),
        (pushed, 'target_wrench: moment: 2 N m is above moment_limit, 0 N m', True, 1),
        (in_degrees, "joint 'wrist3_joint': position 90 is beyond its limits", False, 1),
        pytest.param(too_fast, 'target_twist: .* 5 m/s', True, 2, marks=pytest.mark.slow),
    ],
)
def test_a_refusal_has_the_reason_of_the_node_each_time(arm, stops, command, reason, streams, times):
    """One message that is refused begins nothing, and is no reason to stop what goes on; a stream may move the arm."""
    for _ in range(times):
        with pytest.raises(RefusedError, match=reason):
            command(arm)
    assert len(stops) == times * streams


def test_a_velocity_leads_the_frame_and_is_over(arm):
    before = arm.state.pose
    arm.drive(linear=[0.0, 0.0, -0.1], duration=0.5)
    after = arm.state
    np.testing.assert_allclose(after.pose[:3, 3] - before[:3, 3], [0.0, 0.0, -0.05], atol=0.01)
    assert np.abs(after.velocities).max() < 0.02


FORCE = 'force in force, axes of base; of frame, N'


def test_a_force_pushes_the_frame_and_is_over(graph, arm):
    before = arm.state.pose
    with graph.record(JointState, 'joint_states') as states:
        call = ended(graph, lambda: arm.press(force=[0.0, 0.0, -15.0], duration=0.6))
    assert call.result() is None
    status = arm._session.link.status
    heights = [ROBOT.link_pose(np.array(it.position), LINK)[2, 3] - before[2, 3] for it in states]
    assert min(heights) < -0.001  # 15 N over 800 N/m, less what friction takes
    assert not any(map(float, status._fields[FORCE].replace(';', '').split()))


def test_a_stiffness_comes_into_force(graph, arm):
    arm.stiffness = FrameStiffness([750.0, 760.0, 770.0], [55.0, 56.0, 57.0])
    graph.until(lambda: arm.stiffness.translational.tolist() == [750.0, 760.0, 770.0], 'the stiffness')
    graph.until(lambda: arm.stiffness.rotational.tolist() == [55.0, 56.0, 57.0], 'the rotational stiffness')


def test_axes_are_free_in_a_block_and_hold_the_frame_where_it_is_after_it(graph, arm):
    """It goes up or down there by a velocity, as a hand would move it, and leaves the block by an error."""
    whole, before = arm.stiffness, arm.state.pose
    speed = 0.05 if before[2, 3] < ROBOT.link_pose(START, LINK)[2, 3] - 0.15 else -0.05

    def guided():
        with arm.guide(translation='xz'):
            graph.until(lambda: arm.stiffness.translational.tolist() == [0.0, whole.translational[1], 0.0], 'free axes')
            arm.drive(linear=[0.0, 0.0, speed], duration=1.5)
            moved.append(arm.state.pose)
            arm.drive(frame='tool')

    moved = []
    with pytest.raises(ArgumentError, match='frame: expected one of'):
        guided()
    graph.until(lambda: np.allclose(arm.stiffness.translational, whole.translational), 'the stiffness')
    assert arm.stiffness.rotational.tolist() == whole.rotational.tolist()
    assert Reached.between(arm.state.pose, moved[0]).distance < 0.01 < Reached.between(before, moved[0]).distance
    with pytest.raises(
        RefusedError, match=r'target_stiffness: rotational z: expected a stiffness of at least 0\.06, got 0: rotational'
    ):
        arm.guide(rotation='z').__enter__()


def wanted(graph):
    """Return the translational stiffness that the node wants."""
    fields = graph.diagnostics('torque_controller').fields
    return [float(number) for number in fields['translational stiffness wanted, N/m'].split()]


def test_blocks_in_turn_and_within_each_other_leave_the_stiffness_that_was_stated(graph, arm, monkeypatch):
    arm.stiffness = FrameStiffness([700.0, 710.0, 720.0], [50.0] * 3)  # it is in force a second later
    with arm.guide(translation='xy'):
        with arm.guide(translation='z'):
            assert wanted(graph) == [0.0, 0.0, 0.0]
        assert wanted(graph) == [0.0, 0.0, 720.0]
    with monkeypatch.context() as patch:
        # it has not grown again by then
        patch.setattr(NodeStatus, 'stiffness', property(lambda _: FrameStiffness([1.0] * 3, [1.0] * 3)))
        with arm.guide(translation='xy'):
            pass
    assert wanted(graph) == [700.0, 710.0, 720.0]


class Interrupt(BaseException):
    """As Ctrl-C."""


def test_a_call_that_is_interrupted_before_its_block_begins_frees_no_axes(graph, arm, monkeypatch):
    arm.stiffness = FrameStiffness([700.0] * 3, [50.0] * 3)
    said = Session.said

    def interrupted(session, verdict, after=0.0):
        said(session, verdict, after)
        raise Interrupt

    monkeypatch.setattr(Session, 'said', interrupted)
    with pytest.raises(Interrupt):
        arm.guide(translation='xy').__enter__()
    monkeypatch.undo()
    graph.until(lambda: wanted(graph) == [700.0] * 3, 'the stiffness')


def test_a_node_that_does_not_answer_at_the_end_of_the_block_gets_the_stiffness(graph, arm, monkeypatch):
    arm.stiffness = FrameStiffness([700.0] * 3, [50.0] * 3)

    def guided():
        with arm.guide(translation='xy'):
            monkeypatch.setattr(Session, 'ready', unanswered)

    def unanswered(*_):
        raise UnavailableError('it does not answer')

    with pytest.raises(UnavailableError, match='it does not answer'):
        guided()
    monkeypatch.undo()
    graph.until(lambda: wanted(graph) == [700.0] * 3, 'the stiffness')


def test_the_stiffness_is_sent_although_the_context_was_shut_down(graph):
    def guided():
        with Arm() as mine, mine.guide(translation='xy'):
            mine._session.link.node.context.shutdown()

    before = wanted(graph)
    assert 0.0 not in before
    with pytest.raises(ClientError):
        guided()
    graph.until(lambda: wanted(graph) == before, 'the stiffness')


def test_a_stop_of_another_node_ends_the_motion(graph, arm, stops):
    pose = other_end(arm)
    with moving(graph, lambda: arm.move_to(pose)) as call:
        graph.publish('joint_trajectory', JointTrajectory())
    with pytest.raises(EndedError, match='another node has sent a stop'):
        call.result()
    assert Reached.between(arm.state.pose, pose).distance > 0.1
    assert len(stops) == 1


def test_a_motion_of_a_node_that_is_deactivated_ends_with_its_words(graph, arm):
    with moving(graph, lambda: arm.move_joints(other_turn(arm), duration=10.0)) as call:
        graph.client.change_state('torque_controller', Transition.TRANSITION_DEACTIVATE)
    with pytest.raises(EndedError, match='/torque_controller says: not active'):
        call.result()
    try:
        with pytest.raises(UnavailableError, match='/torque_controller publishes no torques: not active'):
            arm.move_to(arm.state.pose)
    finally:
        graph.client.change_state('torque_controller', Transition.TRANSITION_ACTIVATE)
        graph.diagnostics('torque_controller', lambda status: NO_INPUT not in status.message)


def test_a_motion_of_a_node_that_is_activated_again_has_ended(graph, arm):
    with moving(graph, lambda: arm.move_joints(other_turn(arm), duration=10.0)) as call:
        graph.reactivate('torque_controller')
    # whichever the client sees first; the states of a busy machine pause meanwhile
    with pytest.raises(EndedError, match=r'was deactivated and activated again|says: not active|no joint state for'):
        call.result()


@pytest.mark.slow
def test_a_motion_ends_where_the_states_stop(graph, arm):
    with moving(graph, lambda: arm.move_joints(other_turn(arm), duration=10.0)) as call:
        graph.client.change_state('simulated_arm', Transition.TRANSITION_DEACTIVATE)
    try:
        # whichever the client sees first
        with pytest.raises(EndedError, match=r'no joint state for|no torque published'):
            call.result()

        def is_without_state():
            try:
                _ = arm.state
            except UnavailableError as error:
                return 'no joint state' in str(error)
            return False

        graph.until(is_without_state, 'states that are too old')
    finally:
        graph.client.change_state('simulated_arm', Transition.TRANSITION_ACTIVATE)
        graph.diagnostics('torque_controller', lambda status: 'no joint state' not in status.message)


def test_hold_ends_a_motion_at_once(graph, arm):
    pose = other_end(arm)
    with moving(graph, lambda: arm.move_to(pose)) as call:
        arm.hold()
    with pytest.raises(EndedError, match='it was stopped by hold'):
        call.result()
    assert Reached.between(arm.state.pose, pose).distance > 0.1


def test_hold_ends_a_call_that_has_sent_nothing_yet(graph, arm, monkeypatch):
    prepares, ready = threading.Event(), Session.ready

    def slow(session, *arguments):
        prepares.set()
        return ready(session, *arguments)

    monkeypatch.setattr(Session, 'ready', slow)
    before = arm.state.positions
    arm.hold()  # for whose count the next call waits
    call = Call(lambda: arm.move_joints(other_turn(arm), duration=2.0))
    call.start()
    assert prepares.wait(ros.TIMEOUT)
    arm.hold()
    graph.until(lambda: not call.is_alive(), 'the end of the call')
    with pytest.raises(EndedError, match='has not begun: it was stopped by hold'):
        call.result()
    assert abs(arm.state.positions[5] - before[5]) < 0.1


def test_a_wrench_does_not_let_a_motion_be_forgotten(stops, graph):
    with Arm() as arm:
        arm.move_joints(other_turn(arm), duration=20.0, wait=False)
        arm.press(force=[0.0, 0.0, -1.0], duration=0.1)
        assert not stops
    assert len(stops) == 1


def test_where_another_node_sends_too_a_refusal_is_followed_by_a_stop(graph, arm, stops):
    wrong = ros.trajectory(['nobody'], 0, (0.0, [0.0]))
    with graph.repeating(lambda: graph.send('joint_trajectory', wrong), 0.1):
        graph.until(lambda: not arm._session.link.is_alone('joint_trajectory'), 'the other publisher')
        call = ended(graph, lambda: arm.move_joints(other_turn(arm), duration=10.0))
    with pytest.raises(RefusedError, match='nobody'):
        call.result()
    assert len(stops) == 1


def test_leaving_the_block_stops_a_motion_that_may_still_run(graph, stops):
    with graph.record(JointTrajectory, 'joint_trajectory') as sent:
        with Arm() as arm:
            arm.move_joints(other_turn(arm), duration=20.0, wait=False)
            assert not stops
        graph.until(lambda: sent and not sent[-1].points, 'the stop')
    assert len(stops) == 1
    with pytest.raises(ClientError, match='the client has left the graph'):
        arm.move_joints({'wrist3_joint': 1.0}, duration=1.0)


@pytest.mark.parametrize('before', [pytest.param('', marks=pytest.mark.slow), BESIDE], ids=['alone', 'beside a node'])
def test_an_interrupted_client_sends_a_stop_first(graph, before):
    pipe = subprocess.PIPE
    client = subprocess.Popen([sys.executable, '-c', before + MOVE], stdin=pipe, stderr=pipe, text=True)
    try:
        interrupt(graph, client)
        _, errors = client.communicate('\n', timeout=ros.TIMEOUT)
        assert errors.splitlines()[-1].startswith('KeyboardInterrupt'), errors
    finally:
        client.kill()
        client.communicate()


def interrupt(graph, client):
    """Have a client move the arm; interrupt it, and wait until the arm rests, long before the goal."""
    with graph.record(JointState, 'joint_states', 10) as states:
        client.stdin.write('\n')
        client.stdin.flush()
        graph.until(lambda: states and np.abs(states[-1].velocity).max() > MOVES, 'a motion')
        client.send_signal(signal.SIGINT)
        graph.until(lambda: np.abs(states[-1].velocity).max() < MOVES / 3.0, 'rest')
        assert abs(states[-1].position[5] + 2.5) > 0.5


def test_a_stop_is_sent_although_the_context_was_shut_down(graph):
    """As by rclpy's handler of SIGINT, which shuts down all contexts of a process."""
    with Arm() as arm, graph.record(JointState, 'joint_states', 10) as states:
        goal = other_turn(arm)
        arm.move_joints(goal, duration=10.0, wait=False)
        graph.until(lambda: states and np.abs(states[-1].velocity).max() > MOVES, 'a motion')
        arm._session.link.node.context.try_shutdown()
        arm.hold()
        graph.until(lambda: np.abs(states[-1].velocity).max() < MOVES / 3.0, 'rest')
        assert abs(states[-1].position[5] - goal[NAMES[5]]) > 0.5


def test_two_arms_of_one_process_are_warned_of_each_other_once(arm, stops):
    with warnings.catch_warnings(record=True) as caught, Arm() as other:
        warnings.simplefilter('always')
        for _ in range(2):
            before = arm.state.positions
            assert np.abs(other.move_joints({'wrist3_joint': before[5] + 0.1}, duration=0.3)).max() < 0.05
            assert abs(arm.state.positions[5] - before[5] - 0.1) < 0.05
    assert not stops  # the motions have ended
    texts = [str(it.message) for it in caught]
    assert len(texts) == 1
    assert 'publishers of joint_trajectory' in texts[0]
    assert sum(it.name == 'client of an arm' for it in threading.enumerate()) == 1


def test_a_node_that_is_missing_or_says_nothing_is_named(graph, monkeypatch):
    with pytest.raises(UnavailableError, match='/simulated_arm counts no trajectories'):
        Arm(name='simulated_arm')
    monkeypatch.setattr(client_verdict, 'PATIENCE', 0.6)
    for name, words in (('nobody', 'no node /nobody'), ('test_client', '/test_client is there, but')):
        with pytest.raises(UnavailableError, match=words):
            Arm(name=name)


@pytest.mark.parametrize(
    ('command', 'words'),
    [
        (lambda arm: arm.move_to(np.eye(3)), r'pose: expected shape \(4, 4\)'),
        (lambda arm: arm.move_to(2.0 * np.eye(4)), 'pose: expected a rotation'),
        (lambda arm: arm.move_joints([0.0] * 5, duration=1.0), r'positions: expected shape \(6,\)'),
        (
            lambda arm: arm.move_joints({'wrist_joint': 0.0}, duration=1.0),
            "positions: unknown joint 'wrist_joint'; did you mean",
        ),
        (lambda arm: arm.move_joints({NAMES[0]: np.inf}, duration=1.0), "positions.'shoulder_joint'.: inf is not"),
        (lambda arm: arm.move_joints([0.0] * 6, duration=0.0), 'duration: expected a finite number > 0'),
        (lambda arm: arm.move_joints([0.0] * 6, duration=1e6), 'duration: expected at most 86400 s, got 1e.06'),
        (lambda arm: arm.drive(linear=[0.0, 0.0]), r'linear: expected shape \(3,\)'),
        (lambda arm: arm.drive(angular='x'), 'angular: expected real numbers'),
        (lambda arm: arm.drive(duration=-1.0), 'duration: expected'),
        (lambda arm: arm.drive(frame='tool'), 'frame: expected one of'),
        (lambda arm: arm.press(force=[np.nan, 0.0, 0.0]), r'force\[0\]: nan is not finite'),
        (lambda arm: arm.press(moment=1.0), r'moment: expected shape \(3,\)'),
        (lambda arm: setattr(arm, 'stiffness', [1.0] * 6), 'stiffness: expected a FrameStiffness'),
        (lambda arm: arm.guide(translation='xw').__enter__(), 'translation: expected some of the letters x, y and z'),
        (lambda arm: arm.guide(rotation=[2]).__enter__(), 'rotation: expected some of the letters x, y and z'),
        (lambda arm: arm.guide(rotation='zz').__enter__(), 'rotation: expected some of the letters x, y and z, each'),
        (lambda arm: arm.guide().__enter__(), 'translation, rotation: expected at least one axis'),
        (lambda arm: FrameStiffness([1.0, 1.0, -1.0], [0.0] * 3), 'translational: expected at least 0 N/m'),
        (lambda arm: FrameStiffness([1.0] * 3, [1.0] * 2), r'rotational: expected shape \(3,\)'),
    ],
)
def test_an_argument_is_refused_by_name_and_nothing_is_sent(arm, command, words):
    sent = dict(arm._session.link.sent)
    with pytest.raises(DynamicsError, match=words):
        command(arm)
    assert arm._session.link.sent == sent


def test_what_ros_does_not_allow_is_refused():
    with pytest.raises(ArgumentError, match='name'):
        Arm(name='not a name')
    with pytest.raises(ArgumentError, match='namespace'):
        Arm(namespace='no namespace')
    with pytest.raises(ArgumentError, match='arguments'):
        Arm(arguments=('-r', 'joint_states'))


@pytest.mark.slow
def test_the_function_of_the_page_runs(graph, capsys):
    page = (ros.TREE / 'doc' / 'how_to' / 'python_client.md').read_text(encoding='utf-8')
    names: dict = {}
    exec(re.search(r'```python\n(.*?)```', page, re.DOTALL)[1], names)
    names['press_down']()
    assert 'm and ' in capsys.readouterr().out
