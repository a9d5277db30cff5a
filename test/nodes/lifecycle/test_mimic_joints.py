"""Mimic joints in the nodes: their positions follow from their leaders', their mass counts, they get no command."""

from support.nodes import graph as ros
from support.nodes.loader_stand_in import StandIn
from support.robots.facade_robots import TREE

import numpy as np
import pytest
import rclpy
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.srv import CheckTrajectory, GetMassMatrix
from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.messages.joint_state import StateInput
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot

MIMICKING = TREE.replace(
    '<limit lower="-2" upper="2" velocity="2" effort="0"/>',
    '<limit lower="-2" upper="2" velocity="2" effort="0"/><mimic joint="z_turn" multiplier="-2" offset="0.3"/>',
)


def test_mimic_joints_follow_their_leaders():
    node, whole = StandIn(), Robot.from_urdf(MIMICKING)
    robot = load_robot(node, MIMICKING)
    assert robot.joint_names == ('z_turn', 'm_slide') and node.locked_joint_names == ('a_wag',)
    assert node.lines['info'] == [
        "tree: joint 'a_wag' follows 'z_turn' (multiplier -2, offset 0.3): its torque counts at that joint, "
        'and it gets no command'
    ]
    y = np.array([0.4, -0.1])
    torque = whole.gravity_torque([*y, 0.3 - 2.0 * 0.4])
    np.testing.assert_allclose(robot.gravity_torque(y), [torque[0] - 2.0 * torque[2], torque[1]], rtol=1e-12)
    # so it is with mimic='couple' in a YAML file, which the page on other robots recommends
    assert robot.digest == Robot.from_urdf(MIMICKING, mimic='couple').digest != whole.digest
    assert load_robot(StandIn(), MIMICKING.replace('multiplier="-2"', 'multiplier="2"')).digest != robot.digest


def test_springs_of_joints_count_in_the_torques_of_nodes(tmp_path):
    path, yaml, node = tmp_path / 'arm.yaml', Robot.from_urdf(TREE).to_yaml(), StandIn()
    path.write_text(yaml.replace('  kind: revolute\n', '  kind: revolute\n  spring: {stiffness: 40.0, rest: 0.2}\n', 1))
    robot, unsprung = load_robot(node, str(path)), load_robot(StandIn(), TREE)
    assert robot.joint_names == unsprung.joint_names
    assert node.lines['info'] == ['tree: springs of joints count in the gravity term: z_turn']
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 3))
    held = [40.0 * (q[0] - 0.2), 0.0, 0.0]
    np.testing.assert_allclose(robot.gravity_torque(q), unsprung.gravity_torque(q) + held, rtol=1e-12, atol=1e-12)
    moved = unsprung.inverse_dynamics(q, qd, qdd) + held
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), moved, rtol=1e-12, atol=1e-12)


def test_mimic_joints_in_a_yaml_file_follow_too(tmp_path):
    path = tmp_path / 'mimic.yaml'
    path.write_text(Robot.from_urdf(MIMICKING, mimic='couple').to_yaml())
    assert load_robot(StandIn(), str(path)).joint_names == ('z_turn', 'm_slide')
    server = StandIn()
    server.serves_loops = True
    assert load_robot(server, str(path)).loops.couplings


def test_followers_are_locked_with_their_leader_and_may_be_locked_alone():
    node = StandIn(locked_joints=['z_turn: 0.4'])
    robot = load_robot(node, MIMICKING)
    assert robot.joint_names == ('m_slide',) and node.locked_joint_names == ('z_turn', 'a_wag')
    held = Robot.from_urdf(TREE).with_locked_joints({'z_turn': 0.4, 'a_wag': 0.3 - 2.0 * 0.4})
    assert robot.gravity_torque([0.2]).tolist() == held.gravity_torque([0.2]).tolist()
    alone = load_robot(StandIn(locked_joints=['a_wag: 0.1']), MIMICKING)
    assert alone.joint_names == ('z_turn', 'm_slide')
    # a chain that a follower or its leader is not part of
    assert load_robot(StandIn(tip_link='tool'), MIMICKING).joint_names == ('z_turn', 'm_slide')
    part = load_robot(StandIn(base_link='boom', gravity=[0.0, 0.0, -9.81]), MIMICKING)
    assert part.joint_names == ('m_slide', 'a_wag')


def test_a_mimic_of_no_joint_is_a_joint_of_its_own():
    node = StandIn()
    robot = load_robot(node, MIMICKING.replace('mimic joint="z_turn"', 'mimic joint="knob"'))
    assert robot.joint_names == Robot.from_urdf(TREE).joint_names
    assert any("joint 'a_wag': it mimics 'knob'" in line for line in node.lines['warning'])


def test_states_without_followers_are_complete_and_those_with_them_are_used():
    robot, whole = load_robot(StandIn(), MIMICKING), Robot.from_urdf(MIMICKING)
    state = StateInput(robot.joint_names, robot)
    for names, q, follower in (
        (['m_slide', 'z_turn'], [-0.1, 0.4], 0.3 - 2.0 * 0.4),
        (['m_slide', 'a_wag', 'z_turn'], [-0.1, 0.9, 0.4], 0.9),
        (['m_slide', 'a_wag', 'z_turn'], [-0.1, float('nan'), 0.4], 0.3 - 2.0 * 0.4),
        (['m_slide', 'z_turn'], [-0.1, 0.4], 0.3 - 2.0 * 0.4),
    ):
        state.read(serialize_message(JointState(name=names, position=q)))
        state.follow()
        torque = whole.gravity_torque([0.4, -0.1, follower])
        np.testing.assert_allclose(
            robot.gravity_torque(state.q), [torque[0] - 2.0 * torque[2], torque[1]], rtol=1e-12, atol=1e-12
        )


def test_followers_of_a_joint_that_is_locked_where_it_is_measured_follow_it():
    node = StandIn(locked_joints=['z_turn: measured'])
    robot, whole = load_robot(node, MIMICKING), Robot.from_urdf(MIMICKING)
    assert robot.joint_names == ('m_slide',) and set(node.locked_joint_names) == {'z_turn', 'a_wag'}
    assert "tree: joint 'z_turn' is locked where joint_states say" in node.lines['info']
    state = StateInput(robot.joint_names, robot)
    for names, q, follower in (
        (['m_slide', 'z_turn'], [-0.1, 0.4], 0.3 - 2.0 * 0.4),
        (['z_turn', 'a_wag', 'm_slide'], [0.7, 0.9, -0.1], 0.9),
        (['m_slide', 'a_wag', 'z_turn'], [-0.1, float('nan'), -0.2], 0.3 + 2.0 * 0.2),
    ):
        read_and_followed(state, JointState(name=names, position=q))
        everywhere = [q[names.index('z_turn')], -0.1, follower]
        np.testing.assert_allclose(robot.positions(state.q), everywhere, rtol=1e-15)
        np.testing.assert_allclose(robot.gravity_torque(state.q), whole.gravity_torque(everywhere)[1:2], rtol=1e-12)
    with pytest.raises(DynamicsError, match=r"^joint 'z_turn' is missing or not finite; locked_joints says 'measured'"):
        read_and_followed(state, JointState(name=['m_slide', 'a_wag'], position=[-0.1, 0.9]))


def read_and_followed(state: StateInput, message: JointState) -> None:
    state.read(serialize_message(message))
    state.follow()


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        (
            {'locked_joints': ['knob: measured']},
            "locked_joints: unknown joint 'knob'; the robot has z_turn, m_slide, a_wag",
        ),
        (
            {'locked_joints': ['z_turn: about']},
            "'z_turn': expected a finite position, 'measured' or 'measured from POSITION', got 'about'",
        ),
        (
            {'locked_joints': ['z_turn: nan']},
            "'z_turn': expected a finite position, 'measured' or 'measured from POSITION', got 'nan'",
        ),
        (
            {'locked_joints': ['z_turn: measured from 30']},
            "locked_joints: joint 'z_turn': position 30 is beyond its limits, -3 to 3 rad or m, by more than",
        ),
        (
            {'locked_joints': ['knob: measured from 0.0']},
            "locked_joints: unknown joint 'knob'; the robot has z_turn, m_slide, a_wag",
        ),
        (
            {'locked_joints': ['z_turn: measured from 0'], 'base_link': 'boom', 'gravity': [0.0, 0.0, -9.81]},
            "joint 'z_turn' is 'measured', but not between base_link and tip_link",
        ),
        (
            {'locked_joints': ['z_turn: measured'], 'base_link': 'boom', 'gravity': [0.0, 0.0, -9.81]},
            "joint 'z_turn' is 'measured', but not between base_link and tip_link",
        ),
    ],
)
def test_a_joint_that_cannot_be_measured_is_refused_by_name(parameters, reason):
    with pytest.raises(DynamicsError) as refusal:
        load_robot(StandIn(**parameters), MIMICKING)
    assert reason in str(refusal.value)


def test_a_node_without_joint_states_asks_for_a_position_and_the_server_leaves_the_joint_free():
    node, server = StandIn(locked_joints=['z_turn: measured']), StandIn(locked_joints=['z_turn: measured'])
    node.reads_joint_states = server.reads_joint_states = False
    with pytest.raises(
        DynamicsError, match="'z_turn' is 'measured', but this node reads no joint_states: state a position"
    ):
        load_robot(node, MIMICKING)
    server.serves_loops = True
    assert load_robot(server, MIMICKING).joint_names == ('z_turn', 'm_slide')
    assert 'z_turn' not in server.locked_joint_names


def test_a_joint_that_is_measured_from_a_position_is_locked_there_where_no_joint_states_are_read():
    entry = 'z_turn: measured from 0.4'
    node = StandIn(locked_joints=[entry])
    robot = load_robot(node, MIMICKING)
    assert robot.joint_names == ('m_slide',) and set(node.locked_joint_names) == {'z_turn', 'a_wag'}
    assert "tree: joint 'z_turn' is locked where joint_states say, and until then at 0.4" in node.lines['info']
    assert node.locked_joints.names == ()  # it may be anywhere
    np.testing.assert_allclose(robot.positions([0.2]), [0.4, 0.2, 0.3 - 2.0 * 0.4], rtol=1e-15)
    held = load_robot(StandIn(locked_joints=['z_turn: 0.4']), MIMICKING)
    assert robot.gravity_torque([0.2]) == pytest.approx(held.gravity_torque([0.2]), rel=1e-12)
    for serves_loops in (False, True):  # others, and the server
        other = StandIn(locked_joints=[entry])
        other.reads_joint_states, other.serves_loops = False, serves_loops
        found = load_robot(other, MIMICKING)
        assert found.joint_names == ('m_slide',) and 'z_turn' in other.locked_joint_names
        assert found.gravity_torque([0.2]).tolist() == held.gravity_torque([0.2]).tolist()


@pytest.mark.compiled
def test_nodes_publish_the_driven_joints_and_accept_trajectories_with_followers():
    rclpy.init()
    parameters = {'robot_description': MIMICKING, 'effort_limit': [float('inf')]}
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    started = []
    try:
        for name in ('feedforward_node', 'gravity_compensation_node', 'dynamics_server'):
            started.append(NODES[name](namespace='/in_this_process', parameter_overrides=overrides))
            started[-1].start()
            assert started[-1].active, started[-1].silence
        feedforward, _, server = started
        motion = ros.trajectory(['a_wag', 'm_slide', 'z_turn'], ros.SECOND, (0, [9.0, 0.0, 0.0]), (4, [9.0, 0.1, 0.2]))
        request = CheckTrajectory.Request(trajectory=motion)
        response = server.task._guarded(server.task._check_trajectory)(request, CheckTrajectory.Response())
        assert response.success, response.message
        assert list(response.joint_names) == ['m_slide', 'z_turn']
        request = GetMassMatrix.Request(joint_names=['a_wag', 'm_slide', 'z_turn'], positions=[9.0, -0.1, 0.4])
        response = server.task._guarded(server.task._mass_matrix)(request, GetMassMatrix.Response())
        assert response.success, response.message
        G = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -2.0]])
        M = Robot.from_urdf(MIMICKING).mass_matrix([0.4, -0.1, 0.3 - 0.8])
        np.testing.assert_allclose(np.reshape(response.mass_matrix, (2, 2)), G.T @ M @ G, rtol=1e-12, atol=1e-12)
        assert list(feedforward.task.arm.robot.joint_names) == ['z_turn', 'm_slide']
    finally:
        for node in started:
            node.fall_silent()
            node.destroy_node()
        rclpy.try_shutdown()


@pytest.mark.compiled
@pytest.mark.parametrize('law', ['pd_gravity', 'pd_feedforward', 'computed_torque', 'adaptive', 'cartesian_impedance'])
def test_every_control_law_takes_the_driven_joints(law):
    parameters = {
        'robot_description': MIMICKING,
        'effort_limit': [float('inf')],
        'control_law': law,
        'stiffness': [50.0, 40.0],
        'damping': [5.0, 4.0],
        'translational_stiffness': [100.0] * 3,
        'rotational_stiffness': [5.0] * 3,
        'impedance_frame': 'flag',
        'adaptation_payload_limit': 2.0,
    }
    rclpy.init()
    node = NODES['torque_controller'](
        namespace='/in_this_process',
        parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()],
    )
    try:
        node.start()
        assert node.active, node.silence
        assert list(node.task.arm.robot.joint_names) == ['z_turn', 'm_slide']
    finally:
        node.fall_silent()
        node.destroy_node()
        rclpy.try_shutdown()
