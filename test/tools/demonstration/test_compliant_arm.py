"""Any arm with a compliant tool: it begins bent above a table, and the nodes accept its files and the AUBO-i5's."""

from support.matrices import matrix
from support.nodes import graph as ros
from support.robots.example_robots import example_urdfs
from support.robots.small_robots import joint, link, robot, seven_joints

import numpy as np
import pytest
import rclpy
import yaml

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.executables.simulated_arm import SimulatedArm
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController
from robot_dynamics_ros.tools.demonstration.compliant_arm import HEIGHT, compliant_arm

pytestmark = pytest.mark.ros

PATHS = {path.rsplit('/', 1)[-1]: path for path in example_urdfs()}
BODY = (0.02, 0, 0, 0.02, 0, 0.02)
STEEP = np.array([0.0, 6.0, -7.0])


def described(name):
    return seven_joints().to_urdf() if name == 'seven joints' else PATHS.get(name, name)


def parameters(path):
    return {
        node.rpartition('/')[2]: table['ros__parameters'] for node, table in yaml.safe_load(path.read_text()).items()
    }


def accepted(path):
    """Return the fields of both nodes, which have read the parameters in a file."""
    context, nodes = rclpy.Context(), []
    context.init(args=['--ros-args', '--params-file', str(path)])
    try:
        for kind in (SimulatedArm, TorqueController):
            nodes.append(kind(context=context, namespace='/compliant'))
            nodes[-1].start()
            assert nodes[-1].active, nodes[-1].silence
        return [node.task.report() for node in nodes]
    finally:
        for node in nodes:
            node.fall_silent()
            node.destroy_node()
        context.try_shutdown()


@pytest.mark.parametrize('name', matrix(['aubo_i5', 'seven joints', 'panda.urdf'], ['panda.urdf']))
def test_the_nodes_accept_what_is_written_for_any_arm(name, tmp_path):
    arm = compliant_arm(described(name))
    assert isinstance(arm.robot, DrivenRobot) == (name == 'panda.urdf')  # a gripper
    path = arm.write(tmp_path / 'new')
    simulated, controlled = accepted(path)
    assert controlled['control law'] == 'cartesian_impedance'
    assert float(controlled['period limit of the gains, s']) > 1.0 / 500.0
    assert simulated['contact force, N'] == '0 0 0'
    written = parameters(path)
    assert written['torque_controller']['impedance_frame'] == written['simulated_arm']['contact_frame'] == arm.frame
    assert f'{arm.frame!r}' in arm.notes[-1]


@pytest.mark.parametrize(
    ('name', 'gravity'),
    matrix([('aubo_i5', None), ('seven joints', STEEP), ('ur5_robot.urdf', None)], [('seven joints', STEEP)]),
)
def test_the_arm_begins_bent_1_cm_above_a_table_with_torques_within_its_limits(name, gravity, tmp_path):
    arm = compliant_arm(described(name), gravity=gravity)
    assert (np.abs(arm.robot.gravity_torque(arm.start)) <= 0.75 * arm.effort_limit).all()
    lower, upper = arm.robot.limits.lower, arm.robot.limits.upper
    assert ((lower < arm.start) & (arm.start < upper)).all()
    # far from singular: a velocity of the tool needs no fast joints
    assert np.linalg.svd(arm.robot.jacobian(arm.start, arm.frame), compute_uv=False)[-1] > 0.1
    *up, height = parameters(arm.write(tmp_path))['simulated_arm']['surfaces']
    np.testing.assert_allclose(up, [0.0, 0.0, 1.0] if gravity is None else -STEEP / np.linalg.norm(STEEP))
    above = np.array(up) @ arm.robot.link_pose(arm.start, arm.frame)[:3, 3]
    assert above == pytest.approx(height + HEIGHT) and above > 0.0


def test_a_joint_that_can_hold_the_arm_nowhere_is_named():
    weak = robot(
        link('base'),
        link('arm', 9.0, '0.5 0 0', BODY),
        joint('lift', 'base', 'arm', 'revolute', '0 1 0', inside='<limit lower="-0.5" upper="0.5" effort="9"/>'),
    )
    with pytest.raises(ArgumentError, match=r"^joint 'lift': no position was found .* 75% of its effort limit"):
        compliant_arm(weak.to_urdf())
    assert compliant_arm(weak.to_urdf(), effort_limit=[np.inf]).start.shape == (1,)


def test_the_file_of_the_aubo_i5_is_accepted_and_its_table_is_1_cm_below():
    path = ros.TREE / 'config' / 'compliant.yaml'
    accepted(path)
    values = parameters(path)['simulated_arm']
    place = Robot.named('aubo_i5').link_pose(np.array(values['start']), values['contact_frame'])[:3, 3]
    assert place[2] - values['surfaces'][3] == pytest.approx(HEIGHT, abs=1e-3)
