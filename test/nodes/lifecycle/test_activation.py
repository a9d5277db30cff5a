"""Activation and silence end what torque_controller and feedforward_node followed or held: stamps make the pauses."""

from support.nodes import graph as ros
from support.nodes.feedforward import (
    CONTROLLER,
    DAMPING,
    NAMES,
    RATE_A,
    REST,
    ROBOT,
    STIFFNESS,
    assert_command,
    assert_torque,
    at,
    between,
    command,
    controlled,
    send,
    turned,
)
from support.nodes.feedforward import NODE as FEEDFORWARD

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState

from robot_dynamics_ros.tools.processes import ProcessError

AGE = 60.0
"""age_limit, s: states of 3 s ago and of 2 s ahead are answered, on a busy machine, too, and are a silence apart."""
FIRST = np.array([0.0, -0.403, 0.0, 0.0, 0.0, 0.0])
LAST = turned(FIRST, 0, 1.5)
"""Where the first joint, about the vertical, moves within 10 s."""
MOTION = (FIRST, REST, REST), (LAST, REST, REST)


@pytest.fixture
def graph(reactivated):
    return reactivated


@pytest.fixture
def start(graph):
    """A stamp that is old, yet not too old: 7 s from here on are far within the age limit."""
    return graph.now() - 3 * ros.SECOND


def follow_motion(graph, start, duration=10.0):
    motion = ros.trajectory(NAMES, start, (0.0, *MOTION[0]), (duration, *MOTION[1]))
    graph.follow('bringup', motion, receivers=2)


def silent(graph, stamp, position, reason, known=0):
    """See that feedforward_node answers a state with no torque, and that it or its log, from ``known``, says why."""
    torques, seen = graph.listen(JointState, 'feedforward_torque'), []

    def says(status):
        send(graph, stamp, position)
        seen.append(status.message)
        return reason in graph.log('bringup')[known:] + status.message

    try:
        graph.diagnostics(FEEDFORWARD, says)
    except ProcessError as error:
        raise AssertionError(f'{FEEDFORWARD}: expected the reason {reason!r}, got {sorted(set(seen))}') from error
    found = [np.round(torque.effort, 3) for torque in torques if ros.nanoseconds(torque.header.stamp) >= stamp]
    assert found == [], f'feedforward_torque: expected none ({reason}), got {found[0]}'


def test_activated_where_a_joint_has_moved_meanwhile_the_arm_is_held_there(graph, start):
    graph.follow('bringup', ros.trajectory(NAMES, start, (0.0, FIRST), (4.0, FIRST)), receivers=2)
    assert_command(command(graph, at(start, 1.0), FIRST), controlled(FIRST, FIRST), 'on the trajectory')
    assert_command(command(graph, at(start, 4.5), FIRST), controlled(FIRST, FIRST), 'at its last point')
    graph.reactivate(CONTROLLER)
    moved = turned(FIRST, 1, 1.0)
    expected = ROBOT.gravity_torque(moved)
    assert abs(expected[1] + 38.8) < 0.05
    found = command(graph, at(start, 5.5), moved)
    assert_command(found, expected, 'activation ends the trajectory: joint 2, moved by 1 rad, is held where it is')


def test_deactivated_for_six_seconds_of_a_motion_the_arm_is_held(graph, start):
    follow_motion(graph, start)
    command(graph, at(start, 0.2), FIRST)
    graph.reactivate(CONTROLLER)
    found = command(graph, at(start, 6.2), FIRST)
    assert_command(found, ROBOT.gravity_torque(FIRST), 'activation ends the motion: the arm, still, is held')


def test_deactivated_in_a_motion_feedforward_node_ends_it(graph, start):
    follow_motion(graph, start)
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.answer(lambda stamp: send(graph, stamp, FIRST), torques, at(start, 0.2))
    graph.reactivate(FEEDFORWARD)
    silent(graph, at(start, 6.2), FIRST, 'no trajectory')


def test_after_a_silence_the_arm_is_held_where_it_is(graph, start):
    assert_command(command(graph, start, FIRST), ROBOT.gravity_torque(FIRST), 'held from the first state on')
    moved = turned(FIRST, 0, 0.4)
    found = command(graph, at(start, 5.0), moved)
    assert_command(found, ROBOT.gravity_torque(moved), 'states stopped for 5 s: the arm, 0.4 rad away, is held there')


def test_without_a_silence_the_arm_is_pulled_back_to_where_it_is_held(graph, start):
    command(graph, start, FIRST)
    moved = turned(FIRST, 0, 0.4)
    found = command(graph, at(start, 0.9), moved)
    assert_command(found, controlled(FIRST, moved), '0.9 s are no interruption: it is held where it was')


def test_a_raised_age_limit_hides_no_silence(graph, start):
    command(graph, start, FIRST)
    moved = turned(FIRST, 0, 0.4)
    found = command(graph, at(start, 3.5), moved)
    assert_command(
        found, ROBOT.gravity_torque(moved), '3.5 s are within the age limit, and an interruption all the same'
    )


def begin_in_mid_motion(graph, start):
    """Have both nodes follow the motion up to its fifth second, with the arm on it, and learn the period of states."""
    # both have a state: a motion that has begun before is not late
    position = between(4.4, 10.0, *MOTION)[0]
    command(graph, at(start, -0.6), position)
    silent(graph, at(start, -0.6), position, 'no trajectory', len(graph.log('bringup')))
    follow_motion(graph, at(start, -5.0))
    torques = graph.listen(JointState, 'feedforward_torque')
    for t in np.linspace(4.5, 5.0, 6):
        stamp, position = at(start, t - 5.0), between(t, 10.0, *MOTION)[0]
        command(graph, stamp, position)
        # that is the answer of one node: on a busy machine the other one is late, or has lost the state

        def is_answered(stamp=stamp):
            return any(ros.nanoseconds(torque.header.stamp) == stamp for torque in torques)

        if not graph.client.spin_while_waiting(is_answered, 5.0):
            graph.answer(lambda stamp, q=position: send(graph, stamp, q), torques, stamp)
    return len(graph.log('bringup'))


def test_a_motion_that_the_arm_left_in_a_pause_is_dropped(graph, start):
    known = begin_in_mid_motion(graph, start)
    found = command(graph, at(start, 0.9), FIRST)
    assert_command(found, ROBOT.gravity_torque(FIRST), 'states paused for 0.9 s of a motion: the arm, away, is held')
    silent(graph, at(start, 0.9), FIRST, "trajectory dropped: joint 'shoulder_joint'", known)


def test_a_motion_ends_in_a_silence_wherever_the_arm_is(graph, start):
    known = begin_in_mid_motion(graph, start)
    on_it = between(6.1, 10.0, *MOTION)[0]
    found = command(graph, at(start, 1.1), on_it)
    assert_command(found, ROBOT.gravity_torque(on_it), 'states stopped for 1.1 s of a motion: the arm is held')
    silent(graph, at(start, 1.1), on_it, 'trajectory dropped: 1.100 s without a joint state', known)


def test_a_motion_that_the_arm_is_still_on_after_a_pause_continues(graph, start):
    begin_in_mid_motion(graph, start)
    desired, rate, acceleration = between(5.9, 10.0, *MOTION)
    near = turned(turned(desired, 0, 0.1), 2, 0.05)
    torques = graph.listen(JointState, 'feedforward_torque')
    found = command(graph, at(start, 0.9), near, RATE_A)
    expected = controlled(desired, near, RATE_A, rate)
    assert np.abs(STIFFNESS * (desired - near) + DAMPING * (rate - RATE_A)).max() > 1.0
    assert_command(found, expected, 'the arm is within start_tolerance of where it should be: the motion goes on')
    torque = graph.answer(lambda stamp: send(graph, stamp, near, RATE_A), torques, at(start, 0.9))
    assert_torque(torque, desired, rate, acceleration)


def receive_while_inactive(graph, node, start):
    """Have a motion received while ``node`` is not active; active it is again when this returns."""
    graph.client.change_state(node, Transition.TRANSITION_DEACTIVATE)
    graph.publish('joint_trajectory', ros.trajectory(NAMES, start, (0.0, *MOTION[0]), (10.0, *MOTION[1])))
    assert graph._publishers['joint_trajectory'].wait_for_all_acked()
    for _ in range(3):  # answered by the executor that has the trajectory, too
        graph.state_of(node)


def test_a_trajectory_received_while_the_controller_is_inactive_moves_nothing(graph, start):
    receive_while_inactive(graph, CONTROLLER, start)
    graph.client.change_state(CONTROLLER, Transition.TRANSITION_ACTIVATE)
    found = command(graph, at(start, 4.0), FIRST)
    assert_command(found, ROBOT.gravity_torque(FIRST), 'the trajectory came while not active: the arm is held')


def test_a_trajectory_received_while_feedforward_node_is_inactive_moves_nothing(graph, start):
    receive_while_inactive(graph, FEEDFORWARD, start)
    graph.client.change_state(FEEDFORWARD, Transition.TRANSITION_ACTIVATE)
    silent(graph, at(start, 4.0), FIRST, 'no trajectory')


def test_a_stream_to_an_inactive_node_is_one_line_in_its_log(graph, start):
    known = len(graph.log('bringup'))
    graph.client.change_state(CONTROLLER, Transition.TRANSITION_DEACTIVATE)
    try:
        for k in range(50):
            graph.publish('joint_trajectory', ros.trajectory(NAMES, at(start, 0.02 * k), (0.1, FIRST + 1e-3 * k, REST)))
        assert graph._publishers['joint_trajectory'].wait_for_all_acked()
        for _ in range(3):  # answered by the executor that has the last point, too
            graph.state_of(CONTROLLER)
        graph.diagnostics(CONTROLLER, lambda status: 'not active' in status.fields['trajectory refused last'])
    finally:
        graph.client.change_state(CONTROLLER, Transition.TRANSITION_ACTIVATE)
    said = [line for line in graph.log('bringup')[known:].splitlines() if f'[{CONTROLLER}]: trajectory refused' in line]
    assert len(said) <= 1, said  # none where it was logged just before


@pytest.mark.parametrize('node', [CONTROLLER, FEEDFORWARD])
def test_a_trajectory_received_while_inactive_is_refused_with_the_reason(graph, start, node):
    receive_while_inactive(graph, node, start)
    try:
        refused = graph.diagnostics(node).fields['trajectory refused last']
    finally:
        graph.client.change_state(node, Transition.TRANSITION_ACTIVATE)
    assert 'not active' in refused, f"{node}: expected 'not active' in 'trajectory refused last', got {refused!r}"
