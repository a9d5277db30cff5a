"""No way around start_tolerance: trajectories that begin away from the arm, without numbers, late, or beyond a turn."""

from support.nodes import graph as ros
from support.nodes.feedforward import (
    CONTROLLER,
    NAMES,
    REST,
    ROBOT,
    A,
    assert_command,
    at,
    command,
    controlled,
    send,
    turned,
)
from support.nodes.feedforward import NODE as FEEDFORWARD
from support.robots.small_robots import joint, link

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

AGE = 10.0
"""age_limit, s."""
TURNING = link('base') + link('arm', 2.0, '0 0 0.1', (0.3, 0, 0, 0.3, 0, 0.3))
"""An arm about the vertical, which gravity does not turn."""
LIMIT = 100.0


@pytest.fixture
def graph(reactivated):
    return reactivated


@pytest.fixture
def start(graph):
    """When a trajectory starts: states of the next seconds are within the age limit."""
    return graph.now() - 4 * ros.SECOND


def assert_dropped(graph, stamp, position, joint_name, case):
    """See the arm held, no feedforward torque, and the joint named in both diagnostics and in the log."""
    reason = f'trajectory dropped: joint {joint_name!r}'
    torques = graph.listen(JointState, 'feedforward_torque')
    known = len(graph.log('bringup'))
    found = command(graph, stamp, position)
    assert_command(found, ROBOT.gravity_torque(position), f'{case}: dropped, and the arm is held')
    for node in (CONTROLLER, FEEDFORWARD):
        graph.diagnostics(node, lambda status: send(graph, stamp, position) or reason in status.message)
    late = [torque.effort for torque in torques if ros.nanoseconds(torque.header.stamp) >= stamp]
    assert late == [], f'feedforward_torque: expected none, got {np.round(late[0], 3)}: {case}'
    said = graph.log('bringup')[known:]
    assert said.count(reason) >= 2, f'expected {reason!r} of both nodes in the log, got {said!r}: {case}'


def test_a_first_point_that_the_arm_cannot_reach_in_time_is_too_far_away(graph, start):
    far = turned(A, 0, 2.0)
    graph.follow('bringup', ros.trajectory(NAMES, start, (0.01, far), (20.0, far)), receivers=2)
    case = 'a first point at 0.01 s and 2 rad away'
    assert_dropped(graph, at(start, 0.002), A, 'shoulder_joint', case)


def test_a_first_point_that_the_arm_reaches_in_time_is_approached(graph, start):
    far = turned(A, 0, 1.0)
    graph.follow('bringup', ros.trajectory(NAMES, start, (2.0, far, REST, REST), (20.0, far, REST, REST)), receivers=2)
    found = command(graph, start, A)
    assert_command(found, controlled(A, A), 'the way of 1 rad in 2 s, below 2.6 rad/s, begins where the arm is')
    for elapsed in (0.9, 1.8):  # without an interruption
        command(graph, at(start, elapsed), turned(A, 0, elapsed / 2.0))
    near = turned(A, 0, 0.5)
    found = command(graph, at(start, 2.0), near)
    assert_command(found, controlled(far, near), 'and ends at the first point')


def test_after_the_first_point_the_tolerance_applies_to_the_desired_position_of_that_time(graph, start):
    far = turned(A, 0, 1.0)
    graph.follow('bringup', ros.trajectory(NAMES, start, (0.0, A), (0.4, far), (20.0, far)), receivers=2)
    assert_dropped(graph, at(start, 0.5), A, 'shoulder_joint', 'it begins at the arm and has left it by 1 rad since')


def test_a_segment_without_numbers_is_not_followed(graph, start):
    """Positions within the range of a double, of which the coefficients are not."""
    points = [(0.0, A, REST, REST), (20.0, A + 1.7e308, REST, REST)]
    known = len(graph.log('bringup'))
    graph.follow('bringup', ros.trajectory(NAMES, start, *points), receivers=2)
    commands = graph.listen(Float64MultiArray, 'effort_commands')
    graph.client.spin_while_waiting(lambda: send(graph, start, A) or commands, 5.0)
    said = graph.diagnostics(CONTROLLER).message
    assert commands, f'effort_commands: expected the hold of the arm, got none ({said}): the first segment is NaN'
    assert_command(commands[0].data, ROBOT.gravity_torque(A), 'the first segment is NaN: the arm is held')
    told = graph.log('bringup')[known:]
    assert 'trajectory dropped: joint' in told or 'trajectory refused' in told.split('barrier')[0], told


def test_with_a_late_first_state_a_trajectory_begins_at_the_measured_state(graph, start):
    first = turned(A, 0, 0.4)
    points = (1.0, first, REST, REST), (20.0, first, REST, REST)
    graph.follow('bringup', ros.trajectory(NAMES, start, *points), receivers=2)
    found = command(graph, at(start, 0.9), A)
    reason = 'the first point is at 1 s, the arm is met at 0.9 s: the way to it begins there and then, without a step'
    assert_command(found, ROBOT.gravity_torque(A), reason)
    found = command(graph, at(start, 1.8), first)
    assert_command(found, ROBOT.gravity_torque(first), 'joined as soon as the limits of the joint allow')


# continuous joints


@pytest.fixture(scope='module')
def turning(started):
    """A controller of one continuous joint about the vertical, in a namespace of its own."""
    turn = joint('turn', 'base', 'arm', inside=f'<limit effort="{LIMIT}" velocity="3"/>')
    path = started.folder / 'turning.urdf'
    path.write_text(f'<robot name="turning">{TURNING}{turn}</robot>')
    parameters = ('control_law:=pd', f'age_limit:={AGE}', f'model:={path}', 'stiffness:=[300.0]', 'damping:=[30.0]')
    arguments = [part for parameter in parameters for part in ('-p', parameter)]
    started.processes.start(CONTROLLER, *arguments, '-r', '__ns:=/turning')
    started.client.wait_until_active(f'turning/{CONTROLLER}')
    return started


def turning_torque(graph, stamp, position):
    """Return the first command at a position of the continuous joint."""
    commands = graph.listen(Float64MultiArray, 'turning/effort_commands')

    def state():
        graph.publish('turning/joint_states', ros.joint_state(['turn'], stamp, [position], [0.0]))

    graph.repeat_until(state, lambda: commands, 'a command')
    return np.array(commands[0].data)


def test_a_continuous_joint_is_held_modulo_a_turn(turning):
    turning.reactivate(f'turning/{CONTROLLER}')
    start = turning.now() - 4 * ros.SECOND
    turning_torque(turning, start, 3.141)
    found = turning_torque(turning, at(start, 0.1), -3.141)
    expected = [300.0 * (2.0 * 3.141 - 2.0 * np.pi)]
    assert_command(found, expected, 'held at 3.141, a continuous joint at -3.141 is 0.001 rad away')


@pytest.mark.parametrize('first', [0.0, 1.0], ids=['first point', 'way to the first point'])
def test_a_continuous_joint_follows_modulo_a_turn(turning, first):
    turning.reactivate(f'turning/{CONTROLLER}')
    start = turning.now() - 4 * ros.SECOND
    points = [(time, [3.141], [0.0], [0.0]) for time in (first, 20.0)]
    message = ros.trajectory(['turn'], start, *points)
    publisher = turning.node.create_publisher(type(message), 'turning/joint_trajectory', 10)
    turning.until(publisher.get_subscription_count, 'a subscriber')
    publisher.publish(message)
    assert publisher.wait_for_all_acked()
    for _ in range(3):
        turning.state_of(f'turning/{CONTROLLER}')
    for elapsed in (0.0, 0.8):  # without an interruption
        turning_torque(turning, at(start, elapsed), -3.141)
    found = turning_torque(turning, at(start, 1.5), -3.14)
    turning.node.destroy_publisher(publisher)
    expected = [300.0 * (3.141 + 3.14 - 2.0 * np.pi)]
    assert_command(found, expected, 'at -3.14, a continuous joint is 0.002 rad away from 3.141')


# a clock that does not run yet


def test_a_zero_stamp_before_the_clock_runs_is_refused(started):
    """With simulated time; no later time was its start."""
    arguments = ('-p', 'use_sim_time:=true', '-p', 'control_law:=pd_gravity', '-r', '__ns:=/early')
    started.processes.start(FEEDFORWARD, *arguments)
    started.client.wait_until_active(f'early/{FEEDFORWARD}')
    message = ros.trajectory(NAMES, 0, (0.0, A), (ros.DAY, A + 0.4))
    publisher = started.node.create_publisher(type(message), 'early/joint_trajectory', 10)
    started.until(publisher.get_subscription_count, 'a subscriber')
    publisher.publish(message)
    assert publisher.wait_for_all_acked()
    for _ in range(3):
        started.state_of(f'early/{FEEDFORWARD}')
    with started.record(DiagnosticArray, '/diagnostics') as arrays:
        statuses: list = []

        def told():
            statuses[:] = [ros.Status(a.status[0]) for a in arrays if a.status[0].name == f'/early/{FEEDFORWARD}']
            return statuses

        started.until(told, 'diagnostics')
    refused = statuses[0].fields['trajectory refused last']
    started.node.destroy_publisher(publisher)
    started.end(FEEDFORWARD)
    assert refused, "trajectory refused last: expected a reason, for a zero stamp is no time before /clock runs, got ''"
