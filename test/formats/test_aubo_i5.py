"""The AUBO-i5 of the package against the facts as data, an independent RNEA's figures, and MuJoCo."""

from xml.etree import ElementTree

from support.code.robots_code import loop_of
from support.robots.printed_torques import FACTS, GOLDEN, URDF, rigid_body

import mujoco
import numpy as np
import pytest
import yaml

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_model, share_folder
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.poses import link_poses
from robot_dynamics_ros.kernels.rnea import rnea
from robot_dynamics_ros.model.arrays import Workspace
from robot_dynamics_ros.model.inertial_parameters import central_parameters

pytestmark = pytest.mark.quick

CONFIG = share_folder() / 'config' / 'aubo_i5.yaml'
JOINTS, LINKS = FACTS['joint_names'], FACTS['link_names']
# The lecture's table 4.5: mass, centre, diagonal of the inertia about the centre, in the frames of the URDF.
LECTURE = {
    'shoulder_Link': (1.57, [0, 0.00534, -0.00884], [0.00406, 0.00392, 0.00398]),
    'upperArm_Link': (4.04, [0.20399, 0, 0.01276], [0.00965, 0.144499, 0.1425]),
    'foreArm_Link': (2.2714, [0.18892, 0, 0.0981], [0.00214, 0.04439, 0.04412]),
    'wrist1_Link': (0.5004, [0, 0.006248, -0.003923], [0.00071, 0.000405, 0.000685]),
    'wrist2_Link': (0.5004, [0, -0.006248, -0.003923], [0.00071, 0.000405, 0.000685]),
    'wrist3_Link': (0.1583, [0, 0.0001757, -0.02133], [7.30e-05, 7.10e-05, 1.08e-04]),
}
GRAVITY = np.array(GOLDEN['gravity'], float)


def torque(model, q, qd, qdd):
    q, qd, qdd = (np.atleast_2d(np.asarray(array, float)) for array in (q, qd, qdd))
    tau = np.empty_like(q)
    loop_of(rnea)(model.arrays, Workspace.of(model.arrays), q, qd, qdd, GRAVITY, np.zeros((1, 7, 6)), tau)
    return tau


def mass_matrix(model, q):
    M = np.empty((1, 6, 6))
    loop_of(crba)(model.arrays, Workspace.of(model.arrays), np.atleast_2d(np.asarray(q, float)), M)
    return M[0]


def test_the_urdf_states_the_figures_of_the_facts():
    robot = ElementTree.parse(URDF / 'aubo_i5.urdf').getroot()

    def figures(element, path, *attributes):
        found = element.find(path)
        return [float(part) for attribute in attributes for part in found.get(attribute).split()]

    joints = {joint.get('name'): joint for joint in robot.findall('joint')}
    limits, friction = FACTS['limits'], FACTS['actuators']['friction_from_measured_data']
    for i, fact in enumerate(FACTS['geometry']['joints']):
        joint = joints.pop(fact['name'])
        assert joint.get('type') == 'revolute'
        assert joint.find('parent').get('link') == fact['parent']
        assert joint.find('child').get('link') == fact['child']
        assert figures(joint, 'origin', 'xyz', 'rpy') == [*fact['xyz'], *fact['rpy']]
        assert figures(joint, 'axis', 'xyz') == fact['axis']
        bound = limits['position_standard']
        expected = [-bound, bound, limits['velocity'][i], limits['effort_rated'][i]]
        assert figures(joint, 'limit', 'lower', 'upper', 'velocity', 'effort') == expected
        assert bound == np.deg2rad(175)
        expected = [friction['fv_Nms_per_rad'][i], friction['fc_Nm'][i]]
        assert figures(joint, 'dynamics', 'damping', 'friction') == expected
    (flange,) = joints.values()
    fact = FACTS['geometry']['ee_link_fixed']
    assert (flange.get('type'), flange.find('parent').get('link')) == ('fixed', fact['parent'])
    assert flange.find('child').get('link') == 'ee_link'
    assert figures(flange, 'origin', 'xyz', 'rpy') == [*fact['xyz'], *fact['rpy']]

    links = {link.get('name'): link for link in robot.findall('link')}
    assert set(links) == {*LINKS, 'ee_link'}
    for name, fact in FACTS['inertial']['official']['links'].items():
        inertial = links[name].find('inertial')
        assert figures(inertial, 'origin', 'xyz', 'rpy') == [*fact['com'], 0, 0, 0]
        assert figures(inertial, 'mass', 'value') == [fact['mass']]
        assert figures(inertial, 'inertia', 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz') == fact['inertia']


def test_the_lecture_urdf_differs_in_inertials_only():
    official, lecture = rigid_body('official'), rigid_body('lecture')
    for i, link in enumerate(LINKS[1:], start=1):
        mass, com, inertia = central_parameters(lecture.arrays.I[i])
        assert mass == LECTURE[link][0]
        assert com == pytest.approx(LECTURE[link][1], abs=1e-15)
        assert inertia == pytest.approx(np.diag(LECTURE[link][2]), abs=1e-15)
    assert lecture.joint_names == official.joint_names
    for a, b in zip(lecture.arrays._replace(I=official.arrays.I), official.arrays, strict=True):
        assert (a == b).all()
    for field in ('limits', 'friction'):
        assert (np.array(getattr(lecture, field)) == np.array(getattr(official, field))).all()


@pytest.mark.parametrize('name', ['aubo_i5', 'aubo_i5_lecture'])
def test_names_order_and_frames(name):
    model = named_model(name)
    assert (model.name, model.joint_names, model.link_names) == (name, tuple(JOINTS), tuple(LINKS))
    assert model.frames['ee_link'].link == 6


def test_the_audit_finds_nothing():
    """The base has a mass, as that of every robot: no torque depends on it, so nothing is said of it."""
    assert named_model('aubo_i5').arrays.I[0, 0] == pytest.approx(1.53902)
    assert named_model('aubo_i5').findings == named_model('aubo_i5_lecture').findings == ()


@pytest.mark.parametrize('inertials', ['official', 'ros1', 'lecture'])
@pytest.mark.parametrize('state', GOLDEN['states'], ids=lambda state: state['name'])
def test_torques_of_an_independent_rnea(state, inertials):
    model, rest = rigid_body(inertials), np.zeros(6)
    tau, g = state['tau'][inertials], state['g'][inertials]
    assert torque(model, state['q'], state['qd'], state['qdd'])[0] == pytest.approx(tau, rel=1e-9, abs=1e-9)
    assert torque(model, state['q'], rest, rest)[0] == pytest.approx(g, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize('state', GOLDEN['states'], ids=lambda state: state['name'])
def test_pose_and_mass_matrix_of_an_independent_implementation(state):
    model, T = rigid_body('official'), np.empty((1, 7, 4, 4))
    loop_of(link_poses)(model.arrays, Workspace.of(model.arrays), np.array([state['q']]), T)
    assert T[0, 6] == pytest.approx(np.array(state['T06']), abs=1e-9)
    assert mass_matrix(model, state['q']) == pytest.approx(np.array(state['M_official']), abs=1e-9)


@pytest.mark.parametrize(('inertials', 'shoulder_lift'), [('official', -69.04), ('lecture', -30.97)])
def test_gravity_at_the_horizontal_arm(inertials, shoulder_lift):
    tau = torque(rigid_body(inertials), [0, np.pi / 2, 0, 0, 0, 0], np.zeros(6), np.zeros(6))
    assert tau[0, 1] == pytest.approx(shoulder_lift, abs=0.005)


@pytest.mark.parametrize('name', ['aubo_i5', 'aubo_i5_lecture'])
def test_mujoco_makes_the_same_robot_of_the_same_file(name):
    plant = mujoco.MjModel.from_xml_string((URDF / f'{name}.urdf').read_text(encoding='utf-8'))
    model, data = model_from_urdf(URDF / f'{name}.urdf'), mujoco.MjData(plant)
    assert [plant.joint(i).name for i in range(plant.njnt)] == JOINTS
    assert plant.dof_damping == pytest.approx(model.friction.viscous)
    assert plant.dof_frictionloss == pytest.approx(model.friction.coulomb)
    rng = np.random.default_rng(5)
    for _ in range(20):
        data.qpos[:], data.qvel[:] = rng.uniform(-3, 3, (2, 6))
        mujoco.mj_forward(plant, data)
        assert data.ncon == 0
        bias = torque(model, data.qpos, data.qvel, np.zeros(6))[0]
        assert data.qfrc_bias == pytest.approx(bias, rel=1e-6, abs=1e-9)
        M = np.empty((6, 6))
        for column, unit in zip(M, np.eye(6), strict=True):
            mujoco.mj_mulM(plant, data, column, unit)
        assert mass_matrix(model, data.qpos) == pytest.approx(M, rel=1e-6, abs=1e-9)


def test_there_is_an_arm_to_see_and_nothing_to_collide_with():
    robot = ElementTree.parse(URDF / 'aubo_i5.urdf').getroot()
    for link in LINKS:
        assert robot.findall(f'link[@name="{link}"]/visual/geometry/cylinder'), link
    assert not robot.findall('.//collision')


def test_the_actuator_file_states_the_figures_of_the_facts():
    facts, written = FACTS['actuators'], yaml.safe_load(CONFIG.read_text(encoding='utf-8'))
    rotor = [max(figure, 0.0) for figure in facts['rotor_inertia_reflected']['from_measured_data_fixed_Kt']]
    expected = {
        'gear_ratio': facts['gear_ratio'],
        'torque_constant': facts['torque_constant_joint_side_Nm_per_A'],
        'rotor_inertia': rotor,
        'friction_offset': facts['friction_from_measured_data']['b_Nm'],
    }
    for figure, values in expected.items():
        assert written[figure] == dict(zip(JOINTS, values, strict=True)), figure
    robot = Robot.named('aubo_i5')
    assert robot.actuators.gear_ratio.tolist() == facts['gear_ratio']
    assert robot.actuators.torque_constant.tolist() == facts['torque_constant_joint_side_Nm_per_A']


def test_the_named_model_has_the_actuators_and_the_lecture_has_none():
    model, written = named_model('aubo_i5'), yaml.safe_load(CONFIG.read_text(encoding='utf-8'))
    assert model.arrays.rotor[1:].tolist() == [written['rotor_inertia'][joint] for joint in JOINTS]
    assert model.friction.offset.tolist() == [written['friction_offset'][joint] for joint in JOINTS]
    assert model.friction.transition.tolist() == [written['friction_transition'][joint] for joint in JOINTS]
    # the lecture's figures are those of rigid bodies
    assert not named_model('aubo_i5_lecture').arrays.rotor.any()
