"""torque_controller leads its frame to poses and by velocities: where it goes, and what it refuses."""

import time

from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER as NODE
from support.nodes.feedforward import DAMPING, REST, ROBOT, STIFFNESS, at, command
from support.nodes.impedance import BASE, BENT, LINK, hold, run

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import PoseStamped, TwistStamped
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianImpedance, Impedance

IMPEDANCE = Impedance([20.0, 30.0, 40.0, 300.0, 400.0, 500.0], STIFFNESS, DAMPING)


@pytest.fixture(scope='module')
def graph(file_graph):
    return run(file_graph, IMPEDANCE.stiffness, translational_error_limit=0.0, rotational_error_limit=0.0)


@pytest.fixture
def start(graph):
    """Hold the arm; the time of its first state."""
    return hold(graph)


def pose_at(q, stamp=0, frame=BASE) -> PoseStamped:
    T = ROBOT.link_pose(q, LINK)
    message = ros.stamped(PoseStamped(), stamp)
    message.header.frame_id = frame
    place, attitude = message.pose.position, message.pose.orientation
    place.x, place.y, place.z = T[:3, 3].tolist()
    attitude.x, attitude.y, attitude.z, attitude.w = Rotation.from_matrix(T[:3, :3]).as_quat().tolist()
    return message


def offer(graph, topic, message, q=BENT):
    """Publish a message while states come at ``q``; the torques before it and until it has been read."""
    torques = [command(graph, graph.now(), q)]
    graph.publish(topic, message)
    for _ in range(20):
        time.sleep(0.02)
        torques.append(command(graph, graph.now(), q))
    return torques


def test_the_frame_is_led_to_a_pose(graph, start):
    there = BENT + np.array([0.1, -0.05, 0.1, 0.05, -0.1, 0.2])
    law, expected = CartesianImpedance(ROBOT, IMPEDANCE), np.zeros(6)
    law.torque(BENT, REST, (there, REST, REST), None, expected)
    way = 'way to the last target pose, s'
    graph.diagnostics(NODE, lambda status: status.fields[way] or offer(graph, 'target_pose', pose_at(there)))
    later = graph.now()
    for t in np.arange(0.1, 9.0, 0.1):
        torque = command(graph, at(later, t), BENT)
    np.testing.assert_allclose(torque, expected, rtol=0.0, atol=1e-6)


def test_an_arm_whose_joints_have_left_their_place_begins_where_it_is(graph, start):
    """As where momentum has carried an elbow through its straight position, and the frame is held by its springs."""
    away = BENT + np.array([0.0, 0.0, 0.6, 0.0, 0.0, 0.0])
    there = away + np.array([0.1, -0.05, 0.1, 0.05, -0.1, 0.2])
    law, expected = CartesianImpedance(ROBOT, IMPEDANCE), np.zeros(6)
    law.torque(away, REST, (there, REST, REST), None, expected)
    held, torques = command(graph, graph.now(), away), []
    while not torques or np.array_equal(torques[-1], held):  # until it was read
        torques += offer(graph, 'target_pose', pose_at(there), away)
    first = next(torque for torque in torques if not np.array_equal(torque, held))
    later = graph.now()
    for t in np.arange(0.0, 9.0, 0.05):
        torque = command(graph, at(later, t), away)
    np.testing.assert_allclose(torque, expected, rtol=0.0, atol=1e-6)
    law.torque(away, REST, (away, REST, REST), None, expected)
    assert np.abs(first - expected).max() < 0.5 * np.abs(held - expected).max()  # no spring is stretched at first


def beyond_reach():
    message = pose_at(BENT)
    message.pose.position.x = 3.0
    return message


@pytest.mark.parametrize(
    ('message', 'reason'),
    [
        (
            pose_at(BENT, frame='camera'),
            f"target_pose: pose: expected it in the base link '{BASE}', got frame 'camera'",
        ),
        (beyond_reach(), f"target_pose: '{LINK}' does not reach the pose: the nearest position"),
    ],
    ids=['another frame', 'beyond reach'],
)
def test_a_pose_that_is_wrong_is_refused_by_name_and_the_arm_is_held(graph, start, message, reason):
    held = command(graph, graph.now(), BENT)
    graph.tells(NODE, reason, lambda: offer(graph, 'target_pose', message))
    np.testing.assert_allclose(command(graph, graph.now(), BENT), held, rtol=0.0, atol=1e-9)


def test_without_joint_states_for_longer_than_a_stream_pauses_poses_and_velocities_are_refused(graph, start):
    for topic, message in (('target_pose', pose_at(BENT + 0.05)), ('target_twist', twist(0.1))):
        reason = f'{topic}: no joint state has come for '
        graph.tells(NODE, reason, lambda topic=topic, message=message: graph.publish(topic, message))


@pytest.mark.parametrize(('ahead', 'word'), [(-0.5, 'old'), (0.5, 'ahead')])
def test_a_pose_of_another_time_is_refused(graph, start, ahead, word):
    graph.tells(
        NODE,
        f' s {word}; send it when it counts',
        lambda: graph.publish('target_pose', pose_at(BENT + 0.1, graph.now() + round(ahead * ros.SECOND))),
    )


def test_before_a_state_has_come_a_pose_is_refused(graph):
    graph.reactivate(NODE)
    graph.tells(NODE, 'target_pose: the arm is not held yet', lambda: graph.publish('target_pose', pose_at(BENT)))


def test_operational_space_control_leads_the_frame_to_poses_too(graph, start):
    with graph.parameters(NODE, control_law='operational_space', translational_speed_limit=10.0):
        command(graph, start, BENT)
        before = pull(graph)
        offer(graph, 'target_pose', pose_at(BENT + 0.02))
        graph.until(lambda: np.abs(pull(graph) - before).max() > 1.0, 'springs that lead')


def test_other_laws_take_no_poses(graph):
    with graph.parameters(NODE, control_law='pd_gravity'):
        graph.tells(
            NODE,
            'target_pose: expected a trajectory: only control_law cartesian_impedance and operational_space lead a',
            lambda: graph.publish('target_pose', pose_at(BENT)),
        )


def twist(up=0.0, about_x=0.0, frame=BASE, stamp=0) -> TwistStamped:
    message = ros.stamped(TwistStamped(), stamp)
    message.header.frame_id = frame
    message.twist.linear.z, message.twist.angular.x = up, about_x
    return message


def pull(graph):
    """Let a state come; the force of the springs on the frame (6; rotation first)."""
    spring = command(graph, graph.now(), BENT) - ROBOT.gravity_torque(BENT) - ROBOT.friction_torque(REST)
    return np.linalg.solve(ROBOT.jacobian(BENT, LINK).T, spring)


def test_velocities_lead_the_frame_until_they_end(graph, start):
    """The arm is held at its place: at rest its springs show how far the frame was led."""
    while (found := led_by_velocities(graph)) is None:
        time.sleep(1.2)  # the hold position is measured again after 1 s
    led, rest = found
    # later velocities than 0.25 s on a loaded machine begin anew
    assert 0.1 * 500.0 * 0.1 * led < rest[5] < 1.03 * 500.0 * 0.1 * led
    assert np.abs(rest[3:5]).max() < 0.05 * rest[5]


def led_by_velocities(graph):
    """Lead the frame; how long (s), and its springs at rest (6); None where a busy machine sent no state for long."""
    begun, led, before, undisturbed = graph.now(), 0.0, graph.now(), True
    found = []
    while led < 0.5 or len(found) < 10 or np.ptp(found[-10:], axis=0).any():  # an answer may come twice
        if led < 0.5:
            graph.send('target_twist', twist(0.1, stamp=graph.now()))
            led = (graph.now() - begun) / ros.SECOND
            pull(graph)
            time.sleep(0.005)
        else:
            found.append(pull(graph))
            time.sleep(0.05)
        now = graph.now()
        undisturbed, before = undisturbed and now - before < 0.5 * ros.SECOND, now
    return (led, found[-1]) if undisturbed else None


@pytest.mark.parametrize(
    ('message', 'reason'),
    [
        (twist(0.3), 'linear: 0.3 m/s is above the speed limit, 0.25 m/s'),
        (twist(0.1, 1.1), 'angular: 1.1 rad/s is above the speed limit, 1 rad/s'),
        (twist(0.1, frame='camera'), f"twist: expected it in the axes of {BASE!r} or {LINK!r}, got frame 'camera'"),
        (twist(0.1, stamp=ros.SECOND), ' s old; send it when it counts'),
    ],
    ids=['too fast', 'turns too fast', 'another frame', 'old'],
)
def test_a_velocity_that_is_wrong_is_refused_by_name(graph, start, message, reason):
    graph.tells(NODE, reason, lambda: offer(graph, 'target_twist', message))


def test_two_publishers_are_a_warning(graph, start):
    graph.publish('target_pose', pose_at(BENT))
    second = rclpy.create_node('second_client', context=graph.node.context)
    try:
        second.create_publisher(PoseStamped, 'target_pose', 1)
        graph.tells(
            NODE, '2 publishers of target_pose (/second_client, /test_client): the newest trajectory is followed'
        )
    finally:
        second.destroy_node()
