"""Any arm in the demo: what its description lacks is said, the nodes' files are complete, the rest is refused."""

from support.nodes.loader_stand_in import StandIn
from support.robots.example_robots import example_urdfs
from support.robots.facade_robots import TREE
from support.robots.simulated_robots import four_bar
from support.robots.small_robots import joint, link

import numpy as np
import pytest
import rclpy
import yaml

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.nodes.lifecycle import parameter_definitions
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot
from robot_dynamics_ros.tools.demonstration.completed_arm import DESCRIPTION, description_of
from robot_dynamics_ros.tools.demonstration.demo_arm import MOTION, demo_arm
from robot_dynamics_ros.tools.demonstration.motions import read_motion

pytestmark = pytest.mark.ros

PATHS = {path.rsplit('/', 1)[-1]: path for path in example_urdfs()}
BODY = (0.02, 0, 0, 0.02, 0, 0.02)
ARM = (
    link('base'),
    link('upper', 4.0, '0.2 0 0', BODY),
    joint('lift', 'base', 'upper', axis='0 1 0', inside='<limit effort="90" velocity="2"/>'),
    link('lower', 2.0, '0.2 0 0', BODY),
    joint('bend', 'upper', 'lower', axis='0 1 0', origin='0.4 0 0'),
    link('left', 0.2, '0 0.02 0', (1e-4, 0, 0, 1e-4, 0, 1e-4)),
    joint('grip', 'lower', 'left', 'prismatic', '0 1 0', '0.4 0 0', inside='<limit lower="0" upper="0.05"/>'),
    link('right', 0.2, '0 -0.02 0', (1e-4, 0, 0, 1e-4, 0, 1e-4)),
    joint('follow', 'lower', 'right', 'prismatic', '0 -1 0', '0.4 0 0', inside='<mimic joint="grip"/>'),
)


def urdf(*parts, name='r'):
    return f'<robot name="{name}">{"".join(parts)}</robot>'


@pytest.fixture(scope='module')
def arm():
    return demo_arm(urdf(*ARM))


def test_an_arm_with_a_gripper_and_without_limits_is_complete(arm):
    assert isinstance(arm.robot, DrivenRobot)
    assert arm.robot.joint_names == ('lift', 'bend', 'grip')
    assert (arm.robot.rotor_inertia > 0.0).all()
    assert arm.effort_limit.tolist() == [90.0, np.inf, np.inf]
    assert [note.split(':')[0] for note in arm.notes] == [
        'rotor inertias that the description lacks, assumed for arm and model (kg m^2, kg)',
        "joint 'follow' follows 'grip'",
        'joints without an effort limit',
    ]
    assert arm.notes[-1].endswith(': bend, grip')
    assert arm.motion.ratio < 1.0 / 3.0


def test_the_nodes_read_what_the_demo_writes(arm, tmp_path):
    path = arm.write(tmp_path / 'new')
    written = yaml.safe_load(path.read_text())
    for node, table in written.items():
        name = node.rpartition('/')[2]
        known = {
            found.name for found in parameter_definitions.definitions_of(name if name != '**' else 'simulated_arm')
        }
        assert set(table['ros__parameters']) <= known, node
    robot = load_robot(StandIn(), written['/**']['ros__parameters']['model'])
    assert robot.joint_names == arm.robot.joint_names
    np.testing.assert_allclose(robot.rotor_inertia, arm.robot.rotor_inertia)
    names, motion = read_motion(tmp_path / 'new' / MOTION)
    assert names == list(robot.joint_names)
    np.testing.assert_array_equal(motion.positions, arm.motion.positions)
    np.testing.assert_array_equal(motion.times, arm.motion.times)
    rclpy.init(args=['--ros-args', '--params-file', str(path)])  # ROS reads less of YAML than Python does
    nodes = []
    try:
        for name in ('simulated_arm', 'feedforward_node', 'torque_controller'):
            nodes.append(NODES[name](namespace='/of_the_demo'))
            nodes[-1].start()
            assert nodes[-1].active, nodes[-1].silence
    finally:
        for node in nodes:
            node.fall_silent()
            node.destroy_node()
        rclpy.try_shutdown()


def test_what_is_stated_is_used():
    arm = demo_arm(urdf(*ARM), locked_joints=['grip: 0.01'], effort_limit=[80.0, 40.0], gravity=[0.0, 0.0, 0.0])
    assert arm.robot.joint_names == ('lift', 'bend')
    assert arm.effort_limit.tolist() == [80.0, 40.0]
    assert not arm.robot.gravity_torque([0.3, 0.2]).any()
    assert demo_arm(urdf(*ARM), tip_link='lower').robot.joint_names == ('lift', 'bend')
    measured = Robot.named('aubo_i5').rotor_inertia
    np.testing.assert_array_equal(demo_arm('aubo_i5').robot.rotor_inertia[[0, 2, 3, 4, 5]], measured[[0, 2, 3, 4, 5]])


def test_a_joint_that_a_loops_file_couples_follows(tmp_path):
    file = tmp_path / 'loops.yaml'
    file.write_text('loops: {couplings: [{joint: bend, other: lift, polynomial: [0.1, -1.0]}]}')
    arm = demo_arm(urdf(*ARM), loops=str(file))
    assert arm.robot.joint_names == ('lift', 'grip') and "joint 'bend' follows 'lift'" in arm.notes


def test_inertias_that_no_body_has_are_replaced_and_that_is_said():
    wrong = link('lower', 2.0, '0.2 0 0', (0.001, 0, 0, 0.02, 0, 0.05))
    arm = demo_arm(urdf(*(wrong if 'name="lower"' in part and '<link' in part else part for part in ARM)))
    assert 'inertias that no body has are replaced' in arm.notes[0]
    assert not [finding for finding in arm.robot.findings if finding.severity == 'error']


PLATFORM = (
    link('odom'),
    link('base', 30.0, '0 0 0', BODY),
    joint('drive', 'odom', 'base', 'planar', '0 0 1'),
    *ARM[1:5],
    link('hand', 0.5, '0 0 0.1', BODY),
    joint('twist', 'lower', 'hand', axis='1 0 0', origin='0.4 0 0'),
)


@pytest.mark.parametrize(
    ('description', 'said'),
    [
        (urdf(*PLATFORM), r"joint 'drive' is planar; choose the arm: base_link:=base tip_link:=hand, with .* gravity"),
        (urdf(link('base'), link('tip')), 'no joint moves|tip'),
        (urdf(link('base'), link('tip'), joint('turn', 'base', 'tip')), 'no link that moves has a mass'),
        (
            urdf(*ARM[:5], link('tip'), joint('turn', 'lower', 'tip')),
            r"'turn' moves no inertia .*base_link, tip_link and locked_joints",
        ),
        ('nowhere.urdf.xacro', "no file 'nowhere.urdf.xacro'"),
        ('nowhere.urdf', 'nowhere.urdf'),
        ('nobody', "robot 'nobody' is not part of the package"),
    ],
)
def test_what_it_cannot_move_is_refused_by_name(description, said):
    with pytest.raises(DynamicsError, match=said):
        demo_arm(description)


def test_a_closed_loop_is_refused(tmp_path):
    path = tmp_path / 'four_bar.yaml'
    path.write_text(four_bar().to_yaml())
    with pytest.raises(DynamicsError, match=r'demo: not available for .*, which has closed loops'):
        demo_arm(str(path))


def test_a_command_that_a_refusal_names_is_accepted():
    arm = demo_arm(urdf(*PLATFORM), base_link='base', tip_link='hand', gravity=(0.0, 0.0, -9.81))
    assert arm.robot.joint_names == ('lift', 'bend', 'twist')
    whole = PATHS['g1_29dof_rev_1_0.urdf']
    with pytest.raises(
        DynamicsError, match=r'it has 4 limbs .*; where they are branches of a mechanism, state its loops'
    ) as caught:
        demo_arm(whole)
    (first, *others) = [text.split(':=')[1] for text in str(caught.value).rpartition('one: ')[2].split(' or ')]
    assert len(others) == 3
    assert demo_arm(whole, tip_link=first).robot.link_names[-1] == first


def test_meshes_may_be_missing():
    shape = '<visual><geometry><mesh filename="package://nowhere/arm.dae"/></geometry></visual>'
    with_meshes = urdf(*ARM).replace('</link>', f'{shape}{shape.replace("visual", "collision")}</link>')
    assert with_meshes.count('nowhere') > 6
    assert demo_arm(with_meshes).robot.digest == demo_arm(urdf(*ARM)).robot.digest


def test_arguments_of_command_line_and_launch_file():
    none = dict.fromkeys(DESCRIPTION, '')
    assert demo_arm(urdf(*ARM), **description_of(none)).effort_limit.tolist() == [90.0, np.inf, np.inf]
    given = {**none, 'locked_joints': 'grip: 0.01, bend: .5', 'effort_limit': '.5, .inf', 'gravity': '0, 0, -1.6'}
    found = description_of(given)
    assert found['locked_joints'] == ['grip: 0.01', 'bend: .5']
    assert (found['effort_limit'], found['gravity']) == ([0.5, np.inf], [0.0, 0.0, -1.6])
    with pytest.raises(ArgumentError, match="gravity: expected numbers with commas between, got 'down'"):
        description_of({**none, 'gravity': 'down'})


def test_a_tree_of_several_short_branches_moves_as_a_whole():
    assert demo_arm(TREE, effort_limit=[np.inf]).robot.nv == Robot.from_urdf(TREE).nv
