"""feedforward_node as a process follows a trajectory: its motion at each stamp, or silence with a reason."""

from support.nodes import graph as ros
from support.nodes.feedforward import (
    ARGUMENTS,
    NAMES,
    NODE,
    RATE_A,
    RATE_B,
    REST,
    ROBOT,
    A,
    B,
    answer,
    assert_torque,
    at,
    between,
    quintic,
    rest_at,
    send,
)

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory


@pytest.fixture(scope='module')
def graph(file_graph):
    file_graph.start(NODE, arguments=ARGUMENTS)
    return file_graph


def test_silent_without_trajectory(graph, start):
    graph.follow(NODE, JointTrajectory())
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.silence(NODE, 'no trajectory', lambda: send(graph, start))
    assert torques == []


@pytest.mark.parametrize('t', [0.0, 0.3, 1.0, 1.731, 2.0])
def test_torque_is_that_of_the_desired_motion_at_the_stamp(graph, start, t):
    message, motion = quintic(start)
    graph.follow(NODE, message)
    for before in np.arange(0.0, t, 0.9):  # without an interruption
        answer(graph, at(start, before), motion(before)[0])
    torque = answer(graph, at(start, t), motion(t)[0])
    assert torque.name == NAMES
    assert torque.header.frame_id == ROBOT.link_names[0]
    assert_torque(torque, *motion(t))


def test_after_the_last_point_the_arm_is_held_there(graph, start):
    message, motion = quintic(start)
    graph.follow(NODE, message)
    for before in np.arange(0.0, 7.5, 0.9):  # without an interruption
        answer(graph, at(start, before), motion(min(before, 2.0))[0])
    assert_torque(answer(graph, at(start, 7.5), B), B, REST, REST)


def test_trajectory_joints_are_matched_by_name(graph, start):
    order = [3, 0, 5, 1, 4, 2]
    names = [NAMES[k] for k in order]
    graph.follow(NODE, ros.trajectory(names, start, (0.0, A[order], RATE_A[order], REST), (2.0, B[order], REST, REST)))
    expected = between(0.7, 2.0, (A, RATE_A, REST), (B, REST, REST))
    assert_torque(answer(graph, at(start, 0.7), expected[0]), *expected)


def test_silent_before_the_start(graph, start):
    graph.follow(NODE, JointTrajectory())  # the one before would go on until then
    graph.follow(NODE, rest_at(start))
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.silence(NODE, 'not begun', lambda: send(graph, at(start, -0.001)))
    assert torques == []
    answer(graph, start)


FAST = np.full(6, 2.0)
BAD_TRAJECTORIES = {
    'unknown joint': (['elbow_of_nobody', *NAMES[1:]], [(0.0, B)], 'elbow_of_nobody'),
    'missing joint': (NAMES[1:], [(0.0, B[1:])], NAMES[0]),
    'doubled joint': ([*NAMES, NAMES[4]], [(0.0, [*B, 0.0])], NAMES[4]),
    'time does not go on': (NAMES, [(0.0, A), (1.0, B), (1.0, A)], 'point 2'),
    'time goes back': (NAMES, [(2.0, A), (1.0, B)], 'point 1'),
    'time negative': (NAMES, [(-1.0, A), (1.0, B)], 'point 0'),
    'NaN position': (NAMES, [(0.0, A), (1.0, [*B[:5], np.nan])], 'point 1'),
    'NaN velocity': (NAMES, [(0.0, A, REST), (1.0, B, [*REST[:5], np.nan])], 'point 1'),
    'infinite acceleration': (NAMES, [(0.0, A, REST, [*REST[:5], np.inf]), (1.0, B, REST, REST)], 'point 0'),
    'beyond a limit between points': (NAMES, [(0.0, B, FAST), (9.0, B, -FAST)], 'between points 0 and 1: joint'),
    'short positions': (NAMES, [(0.0, A), (1.0, B[:5])], 'point 1'),
    'short velocities': (NAMES, [(0.0, A, REST), (1.0, B, REST[:2])], 'point 1'),
    'no positions': (NAMES, [(0.0, [])], 'point 0'),
    'over long ago': (NAMES, [(0.0, A), (1.0, B)], 'it ended', -1e7),
    'accelerations without velocities': (NAMES, [(0.0, A, [], REST), (1.0, B, [], REST)], 'point 0'),
}


def test_a_bad_trajectory_is_refused_by_name_and_the_old_one_continues(graph, start):
    message, motion = quintic(start)
    graph.follow(NODE, message)
    for k, (kind, (names, points, culprit, *ahead)) in enumerate(BAD_TRAJECTORIES.items()):
        known = len(graph.log(NODE))
        graph.follow(NODE, ros.trajectory(names, at(start, sum(ahead)), *points))
        said = graph.log(NODE)[known:]
        refused = [line for line in said.splitlines() if 'trajectory refused' in line and 'barrier' not in line]
        assert len(refused) == 1, (kind, said)
        assert culprit in refused[0], kind
        t = 0.1 * (k + 1)
        assert_torque(answer(graph, at(start, t)), *motion(t))


def test_a_trajectory_that_begins_far_from_the_arm_is_dropped_naming_the_joint(graph, start):
    near, far = A + np.array([0.0, 0.0, 0.09, 0.0, 0.0, 0.0]), A + np.array([0.0, 0.0, 0.11, 0.0, 0.0, 0.0])
    with graph.parameters(NODE, start_tolerance=0.1):
        graph.follow(NODE, rest_at(start, near))
        assert_torque(answer(graph, start), near, REST, REST)
        # the tolerance is of the beginning only
        assert_torque(answer(graph, at(start, 0.1), far), near, REST, REST)
        graph.follow(NODE, JointTrajectory())
        graph.follow(NODE, rest_at(start, far))
        torques = graph.listen(JointState, 'feedforward_torque')
        send(graph, at(start, 0.2))
        dropped = f'trajectory dropped: joint {NAMES[2]!r} is 0.110 rad or m from the desired position'
        graph.until(lambda: dropped in graph.log(NODE), 'the reason in the log')
        graph.silence(NODE, dropped, lambda: send(graph, at(start, 0.3)))
        assert torques == []


def test_trajectory_without_points_ends_the_old_one(graph, start):
    graph.follow(NODE, rest_at(start))
    answer(graph, start)
    graph.follow(NODE, JointTrajectory(joint_names=NAMES))
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.silence(NODE, 'no trajectory', lambda: send(graph, at(start, 0.1)))
    assert torques == []


def test_a_new_trajectory_replaces_the_old_one_in_mid_motion(graph, start):
    message, motion = quintic(start)
    graph.follow(NODE, message)
    assert_torque(answer(graph, at(start, 0.5), motion(0.5)[0]), *motion(0.5))
    ends = (B, RATE_B, REST), (A, REST, REST)
    graph.follow(NODE, ros.trajectory(NAMES, at(start, 0.6), (0.0, *ends[0]), (1.0, *ends[1])))
    assert_torque(answer(graph, at(start, 0.7)), *motion(0.7))  # the lead begins there
    assert_torque(answer(graph, at(start, 1.55)), *between(0.95, 1.0, *ends))


def test_without_a_stamp_a_trajectory_starts_at_its_arrival(graph, start):
    with graph.parameters(NODE, age_limit=10.0):
        before = graph.now()
        graph.follow(NODE, ros.trajectory(NAMES, 0, (0.0, A, REST, REST), (1000.0, B, REST, REST)))
        after = graph.now()
        torque = answer(graph, after)
    earliest, latest = (
        ROBOT.inverse_dynamics(q, qd, qdd)[0] + ROBOT.friction_torque(qd)[0]
        for q, qd, qdd in (
            between((after - since) * 1e-9, 1000.0, (A, REST, REST), (B, REST, REST)) for since in (before, after)
        )
    )
    assert min(earliest, latest) <= torque.effort[0] <= max(earliest, latest)


def test_without_accelerations_cubic_without_velocities_linear_and_logged_once(graph, start):
    graph.follow(NODE, ros.trajectory(NAMES, start, (0.0, A, RATE_A), (2.0, B, RATE_B)))
    for t in (0.4, 1.3):
        expected = between(t, 2.0, (A, RATE_A), (B, RATE_B))
        assert_torque(answer(graph, at(start, t), expected[0]), *expected)
    start = at(start, 10.0)
    graph.follow(NODE, ros.trajectory(NAMES, start, (0.0, A), (2.0, B)))
    for t in (0.4, 1.3):
        expected = between(t, 2.0, (A,), (B,))[:2]
        assert_torque(answer(graph, at(start, t), expected[0]), *expected, REST)
    start = at(start, 10.0)
    # a mixed one: as smooth as both ends of a segment allow
    graph.follow(
        NODE, ros.trajectory(NAMES, start, (0.0, A, RATE_A, REST), (2.0, B, RATE_B), (3.0, A), (4.0, B, REST, REST))
    )
    for t in (0.4, 1.4):
        expected = between(t, 2.0, (A, RATE_A), (B, RATE_B))
        assert_torque(answer(graph, at(start, t), expected[0]), *expected)
    assert_torque(answer(graph, at(start, 2.3)), *between(0.3, 1.0, (B,), (A,))[:2], REST)
    said = [line for line in graph.log(NODE).splitlines() if 'interpolation' in line]
    assert len(said) == 1
    assert 'cubic' in said[0] or 'linear' in said[0]


def test_with_a_first_point_later_than_the_start_it_begins_at_the_measured_state(graph, start):
    met, rate = A + 0.2, np.full(6, 0.3)
    graph.follow(NODE, ros.trajectory(NAMES, start, (1.0, A, RATE_A), (2.0, B, RATE_B)))
    ends = (met, rate, REST), between(0.0, 1.0, (A, RATE_A), (B, RATE_B))
    assert_torque(answer(graph, start, met, rate), *between(0.0, 1.0, *ends))
    # the way stays as it was begun, wherever the arm is later
    assert_torque(answer(graph, at(start, 0.5), B, REST), *between(0.5, 1.0, *ends))
    assert_torque(answer(graph, at(start, 1.5), B, REST), *between(0.5, 1.0, (A, RATE_A), (B, RATE_B)))


@pytest.mark.parametrize('velocity', [[], [0.0, np.nan, 0.0, 0.0, 0.0, 0.0]], ids=['none', 'one NaN'])
def test_the_measured_state_may_lack_velocities(graph, start, velocity):
    graph.follow(NODE, rest_at(start))
    answer(graph, start, A, np.full(6, 0.5))  # a velocity of long ago, which must not count
    graph.follow(NODE, ros.trajectory(NAMES, start, (1.0, A, RATE_A), (2.0, B, RATE_B)))
    effort = np.array(answer(graph, at(start, 0.1), A, velocity).effort)
    # at the met position: from rest, or on a straight line to the first point (no motion); never with the old velocity
    q, qd, qdd = between(0.1, 1.0, (A, REST), (A, RATE_A))
    cubic = ROBOT.inverse_dynamics(q, qd, qdd) + ROBOT.friction_torque(qd)
    linear = ROBOT.inverse_dynamics(A, REST, REST) + ROBOT.friction_torque(REST)
    assert min(np.abs(effort - cubic).max(), np.abs(effort - linear).max()) < 1e-9
