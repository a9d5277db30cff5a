"""An arm with a gripper, and one of two arms in a description: the part that the parameters select.

What it should compute is what the whole robot does with the other joints where they are held.
"""

from support.nodes import graph as ros
from support.nodes.loader_stand_in import StandIn
from support.robots.example_robots import example_urdfs
from support.robots.facade_robots import TREE

import numpy as np
import pytest
import rclpy
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.srv import CheckTrajectory, GetInverseDynamics, GetMassMatrix, SetPayload
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot

PATHS = {path.rsplit('/', 1)[-1]: path for path in example_urdfs()}
GRIPPER = """<robot name="gripper"><link name="palm">
    <inertial><mass value="0.9"/><origin xyz="0 0 0.04"/><inertia ixx="2e-3" iyy="2e-3" izz="1e-3" ixy="0" ixz="0"
    iyz="0"/></inertial></link>{}</robot>""".format(
    ''.join(
        f"""<link name="{side}"><inertial><mass value="0.2"/><origin xyz="0 {y} 0.02"/><inertia ixx="1e-4" iyy="1e-4"
        izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="{side}_joint" type="prismatic">
        <parent link="palm"/><child link="{side}"/><origin xyz="0 0 0.1"/><axis xyz="0 {y} 0"/>
        <limit lower="0" upper="0.05" effort="20" velocity="0.1"/></joint><link name="{side}_tip"/>
        <joint name="{side}_fixed" type="fixed"><parent link="{side}"/><child link="{side}_tip"/>
        <origin xyz="0 0 0.05"/></joint>"""
        for side, y in (('left', 1), ('right', -1))
    )
)


def ur_with_gripper() -> str:
    """Return the URDF of a UR5 that carries a gripper of two fingers."""
    return Robot.from_urdf(PATHS['ur5_robot.urdf']).with_attached(Robot.from_urdf(GRIPPER), 'tool0').to_urdf()


EVERY_JOINT = [*(f'panda_joint{k}' for k in range(1, 8)), 'panda_finger_joint1', 'panda_finger_joint2']
SIDES = {
    side: [f'{side}_{joint}' for joint in ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2')] for side in ('left', 'right')
}
PARTS = {
    'panda': {
        'urdf': PATHS['panda.urdf'],
        'locked': {'panda_finger_joint1': 0.03, 'panda_finger_joint2': 0.01},
        'joints': [f'panda_joint{k}' for k in range(1, 8)],
        'frame': 'panda_hand_tcp',
        'elsewhere': 'panda_link4',
    },
    'panda, its hand as the tip': {
        'urdf': PATHS['panda.urdf'],
        'locked': {'panda_finger_joint1': 0.03, 'panda_finger_joint2': 0.01},
        'tip_link': 'panda_hand',
        'joints': [f'panda_joint{k}' for k in range(1, 8)],
        'frame': 'panda_leftfinger',
        'elsewhere': 'panda_link4',
    },
    'UR5 with a gripper': {
        'urdf': ur_with_gripper(),
        'locked': {'left_joint': 0.05, 'right_joint': 0.0},
        'joints': list(Robot.from_urdf(PATHS['ur5_robot.urdf']).joint_names),
        'frame': 'left_tip',
        'elsewhere': 'forearm_link',
    },
    **{
        f'the {side} of two arms': {
            'urdf': PATHS['baxter.urdf'],
            'locked': {f'{side[0]}_gripper_{finger}_finger_joint': 0.01 for finger in 'lr'},
            'base_link': 'torso',
            'tip_link': f'{side}_gripper',
            'joints': joints,
            'frame': f'{side[0]}_gripper_r_finger_tip',
            'elsewhere': f'{side}_upper_elbow',
        }
        for side, joints in SIDES.items()
    },
}


def locked(positions):
    return [f'{joint}: {position}' for joint, position in positions.items()]


def parameters_of(part, **more):
    return {
        'locked_joints': locked(part['locked']),
        **{name: part[name] for name in ('base_link', 'tip_link') if name in part},
        **more,
    }


@pytest.mark.parametrize('part', PARTS.values(), ids=PARTS)
def test_the_arm_alone_has_the_torques_of_the_whole_robot_with_the_other_joints_held(part):
    robot = load_robot(StandIn(**parameters_of(part)), part['urdf'])
    assert list(robot.joint_names) == part['joints']
    whole = Robot.from_urdf(part['urdf'])
    carried = Payload(1.5, (0.01, 0.02, 0.03))
    rng = np.random.default_rng(0)
    places = [whole.joint_names.index(name) for name in part['joints']]
    q, qd = np.zeros((2, 20, whole.nv))
    for name, position in part['locked'].items():
        q[:, whole.joint_names.index(name)] = position
    q[:, places], qd[:, places] = rng.uniform(-2.0, 2.0, (2, 20, len(places)))
    for part_of_it, all_of_it in (
        (robot, whole),
        (robot.with_payload(carried, part['frame']), whole.with_payload(carried, part['frame'])),
    ):
        np.testing.assert_allclose(
            part_of_it.bias_torque(q[:, places], qd[:, places]),
            all_of_it.bias_torque(q, qd)[:, places],
            rtol=1e-9,
            atol=1e-9,
        )
    # and what is held counts where it is held
    moved = q.copy()
    moved[:, [whole.joint_names.index(name) for name in part['locked']]] += 0.5
    assert np.abs(whole.bias_torque(moved, qd)[:, places] - whole.bias_torque(q, qd)[:, places]).max() > 1e-3


@pytest.mark.compiled
@pytest.mark.parametrize('part', [PARTS['UR5 with a gripper']], ids=['UR5 with a gripper'])
def test_payloads_go_on_any_frame(part):
    rclpy.init()
    node = NODES['dynamics_server'](
        namespace='/in_this_process',
        parameter_overrides=[
            Parameter(name, value=value) for name, value in parameters_of(part, robot_description=part['urdf']).items()
        ],
    )
    try:
        node.start()
        assert node.active, node.silence
        assert node.locked_joint_names == ('left_joint', 'right_joint')
        for frame in (part['frame'], part['elsewhere']):
            node.task.payload_gravity.set_payload(SetPayload.Request(mass=1.0, frame=frame), None)
            (carried,) = node.task.payload_gravity.current.payload.after.items()
            assert (carried[0], carried[1].mass) == (frame, 1.0)
    finally:
        node.fall_silent()
        node.destroy_node()
        rclpy.try_shutdown()


WRONG = {
    'a joint that is not there': (
        {'locked_joints': ['finger: 0.1']},
        "^locked_joints: no joint 'finger'; there are pan",
    ),
    'no position': (
        {'locked_joints': ['panda_finger_joint1']},
        "^locked_joints: expected 'joint: position', got 'panda_f",
    ),
    'no name': ({'locked_joints': [': 0.1']}, "^locked_joints: expected 'joint: position', got ': 0.1'"),
    'no number': ({'locked_joints': ['panda_joint1: open']}, "^locked_joints: joint 'panda_joint1': .* got 'open'"),
    'not finite': ({'locked_joints': ['panda_joint1: nan']}, "^locked_joints: joint 'panda_joint1': .* got 'nan'"),
    'twice': ({'locked_joints': ['panda_joint1: 0', 'panda_joint1: 1']}, "'panda_joint1' is given twice"),
    'no base': ({'base_link': 'table'}, "^base_link 'table', tip_link '': no link 'table'"),
    'no tip': ({'tip_link': 'hook'}, "^base_link '', tip_link 'hook': no link 'hook'"),
    'upwards': (
        {'base_link': 'panda_link4', 'tip_link': 'panda_link2'},
        "'panda_link2' does not move on 'panda_link4'",
    ),
    'all of them': ({'locked_joints': [f'{name}: 0' for name in EVERY_JOINT]}, 'no joint moves'),
}


@pytest.mark.parametrize(('parameters', 'reason'), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_by_name(parameters, reason):
    with pytest.raises(DynamicsError, match=reason):
        load_robot(StandIn(**parameters), PATHS['panda.urdf'])


def test_robots_that_come_with_the_package_have_parts_too():
    up = [0.0, 0.0, -9.81]
    robot = load_robot(StandIn(locked_joints=['wrist3_joint: 0.5'], base_link='shoulder_Link', gravity=up), 'aubo_i5')
    assert robot.joint_names == Robot.named('aubo_i5').joint_names[1:-1] and robot.gravity.tolist() == up


def test_gravity_is_that_of_the_root_unless_it_is_stated_in_the_frame_of_base_link():
    whole, down = Robot.from_urdf(TREE), [1.0, 2.0, -9.0]
    turn = whole.link_pose(np.zeros(3), 'mast')[:3, :3]
    robot = load_robot(StandIn(base_link='mast'), TREE)
    np.testing.assert_allclose(robot.gravity, turn.T @ whole.gravity, rtol=1e-14, atol=1e-14)
    q = np.linspace(-1.0, 1.0, 3)
    np.testing.assert_allclose(robot.gravity_torque(q), whole.gravity_torque(q), rtol=1e-12, atol=1e-12)
    assert load_robot(StandIn(base_link='mast', gravity=down), TREE).gravity.tolist() == down
    assert load_robot(StandIn(gravity=down), TREE).gravity.tolist() == down
    with pytest.raises(DynamicsError, match=r"^base_link 'boom', tip_link '': gravity: joint 'z_turn' moves between"):
        load_robot(StandIn(base_link='boom'), TREE)
    held = load_robot(StandIn(base_link='boom', locked_joints=['z_turn: 0.3']), TREE)
    turn = whole.link_pose([0.3, 0.0, 0.0], 'boom')[:3, :3]
    np.testing.assert_allclose(held.gravity, turn.T @ whole.gravity, rtol=1e-14, atol=1e-14)


def test_a_file_by_to_yaml_keeps_its_gravity(tmp_path):
    path = tmp_path / 'tree.yaml'
    path.write_text(Robot.from_urdf(TREE).with_gravity((0.0, 9.81, 0.0)).to_yaml())
    assert load_robot(StandIn(), str(path)).gravity.tolist() == [0.0, 9.81, 0.0]
    assert load_robot(StandIn(gravity=[0.0, 0.0, -9.81]), str(path)).gravity.tolist() == [0.0, 0.0, -9.81]
    with pytest.raises(
        DynamicsError, match=r'^gravity: its magnitude of 9.81 m/s.2 is above the parameter gravity_limit'
    ):
        load_robot(StandIn(gravity_limit=5.0), str(path))


@pytest.fixture
def panda(tmp_path):
    """A server and a gravity compensation of a panda whose fingers are held."""
    part = PARTS['panda']
    folder = tmp_path / 'params.yaml'
    folder.write_text(
        f"""/**:
  ros__parameters:
    model: {part['urdf']}
    locked_joints: ["panda_finger_joint1: 0.03", "panda_finger_joint2: 0.01"]
    age_limit: {ros.DAY}
    payload_gravity_ramp_time: 0.0
"""
    )
    with ros.Graph(tmp_path) as running:
        nodes = ('dynamics_server', 'gravity_compensation_node')
        running.bring_up(*nodes, arguments=('--params-file', str(folder)))
        yield running


def test_states_are_complete_without_the_fingers_and_outputs_have_none(panda):
    warnings = [line for line in panda.log('bringup').splitlines() if '[WARN]' in line]
    assert 'count for nothing' not in panda.log('bringup')
    assert len(warnings) == 2 and all('<dynamics D, K, mu_coulomb, mu_viscous> is not read' in it for it in warnings)
    part = PARTS['panda']
    fingers = list(part['locked'])
    whole = Robot.from_urdf(part['urdf'])
    q = np.linspace(-1.0, 1.0, 7)
    wanted = whole.gravity_torque(np.concatenate([q, list(part['locked'].values())]))[:7]
    torques = panda.listen(JointState, 'gravity_torque')
    for names, positions in ((part['joints'], q), ([*fingers, *part['joints']], [9.0, 9.0, *q])):
        found = panda.answer(
            lambda stamp, names=names, positions=positions: panda.publish(
                'joint_states', ros.joint_state(names, stamp, positions)
            ),
            torques,
            panda.now(),
        )
        assert list(found.name) == part['joints']
        np.testing.assert_allclose(found.effort, wanted, rtol=0, atol=1e-9)


def test_requests_may_name_the_fingers(panda):
    part = PARTS['panda']
    names, q = [*part['locked'], *part['joints']], np.linspace(-1.0, 1.0, 7)

    def ask(kind, service, **fields):
        response = panda.client.call(kind, f'dynamics_server/{service}', kind.Request(**fields))
        assert response.success, response.message
        return response

    fields = {'velocities': [0.1] * 9, 'accelerations': [0.2] * 9}
    response = ask(GetInverseDynamics, 'get_inverse_dynamics', joint_names=names, positions=[9.0, 9.0, *q], **fields)
    assert list(response.joint_names) == part['joints']
    whole = Robot.from_urdf(part['urdf'])
    q_whole = np.concatenate([q, list(part['locked'].values())])
    still = np.array([1.0] * 7 + [0.0] * 2)
    wanted = whole.inverse_dynamics(q_whole, 0.1 * still, 0.2 * still)[:7] + whole.friction_torque(0.1 * still)[:7]
    np.testing.assert_allclose(response.efforts, wanted, rtol=1e-9, atol=1e-9)
    response = ask(GetMassMatrix, 'get_mass_matrix', positions=q.tolist())
    np.testing.assert_allclose(
        np.reshape(response.mass_matrix, (7, 7)), whole.mass_matrix(q_whole)[:7, :7], rtol=1e-9, atol=1e-9
    )
    rates = [9.0, 9.0, *np.linspace(0.01, 0.07, 7)], [9.0, 9.0, *np.linspace(-0.2, 0.2, 7)]
    points = ((time, [0.0, 0.0, *(q + 0.025 * time)], *rates) for time in (0, 4))
    message = ros.trajectory(names, ros.SECOND, *points)
    response = ask(CheckTrajectory, 'check_trajectory', trajectory=message, resample=True)
    assert list(response.joint_names) == list(response.resampled.joint_names) == part['joints']
    assert response.resampled.header == message.header
    first, *_, last = response.resampled.points
    assert len(response.peak_effort) == len(first.positions) == 7
    assert last.time_from_start.sec == 4
    for point, position in ((first, q), (last, q + 0.1)):
        found = point.positions, point.velocities, point.accelerations
        np.testing.assert_allclose(found, [position, *(rate[2:] for rate in rates)], rtol=0, atol=1e-9)
    message.points[1].velocities.append(0.0)
    request = CheckTrajectory.Request(trajectory=message)
    refused = panda.client.call(CheckTrajectory, 'dynamics_server/check_trajectory', request)
    assert not refused.success and 'trajectory point 1: expected 7 velocities, got 10' in refused.message
    refused = panda.client.call(
        SetPayload, 'dynamics_server/set_payload', SetPayload.Request(mass=50.0, frame='panda_hand_tcp')
    )
    assert not refused.success and 'would need' in refused.message
    ask(SetPayload, 'set_payload', mass=1.0, frame='panda_hand_tcp')
