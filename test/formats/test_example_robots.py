"""Every URDF of the package example-robot-data (arms, hands, quadrupeds, humanoids) against Pinocchio's reading of it.

Each robot once as written, its base held, and once with its base on a free joint.
"""

from functools import cache
from xml.etree import ElementTree

from support.matrices import matrix
from support.robots.example_robots import example_urdfs
from support.rounding import bound
from support.twins import pinocchio_peer as peers
from support.twins.mujoco_states import mass_matrix_and_gravity
from support.twins.pinocchio_peer import Peer, pin

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.simulation.plant.mujoco_plant import mujoco_plant

PATHS = example_urdfs()
TOLERANCE = 1e-9  # of the largest magnitude in the quantity
PLANT_TOLERANCE = 1e-8  # likewise: MuJoCo takes principal axes that are off by 1e-8 rad for those of the link
FREE = """
<robot name="flying"><link name="surroundings"/><link name="flyer"/>
  <joint name="root_joint" type="floating"><parent link="surroundings"/><child link="flyer"/></joint></robot>
"""
# Reason, by the end of the path.
REFUSED = {'ur_description/urdf/ur3.urdf': "robot: <robot>: attribute 'name' is missing or empty"}  # an empty robot
# A joint that moves no inertia at the end of its chain: all but forward dynamics can be answered.
WEIGHTLESS = {
    'romeo_description/urdf/romeo.urdf': 'RThumb3',
    'romeo_description/urdf/romeo_laas_small.urdf': 'r_gripper_joint',
}
MIMICS = (
    *(f'talos_data/robots/talos_full_v2{box}.urdf' for box in ('', '_box')),
    *(f'panda_description/urdf/panda{collision}.urdf' for collision in ('', '_collision')),
    'alex_description/urdf/alex_psyonic_hands.urdf',
    'baxter_description/urdf/baxter.urdf',
    'pr2_description/urdf/pr2.urdf',
    'romeo_description/urdf/romeo.urdf',
    'tiago_pro_description/robots/tiago_pro.urdf',
)
# With the base held.
IMMOVABLE = ('hector_description/robots/quadrotor_base.urdf', 'iris_description/robots/iris_simple.urdf')


def entry(table, path):
    """Return what a table says of a path, or None."""
    return next((said for end, said in table.items() if path.endswith(end)), None)


def name_of(path):
    return path.split('/robots/', 1)[1]


READ = [path for path in PATHS if not entry(REFUSED, path)]
URDF = pytest.mark.parametrize('path', READ, ids=name_of)
# robots whose joints move no inertia, and every fifth of the others
FEW_URDFS = pytest.mark.parametrize(
    'path', matrix(READ, [*READ[::5], *(it for it in READ[1:] if entry(WEIGHTLESS, it))]), ids=name_of
)


@cache
def held(path) -> Robot:
    """Return the robot as written."""
    return Robot(model_from_urdf(path))


def on_a_free_joint(path) -> Robot:
    """Return the robot with its base on a free joint, named as Pinocchio's is."""
    return Robot(model_from_urdf(FREE)).with_attached(held(path), 'flyer')


def test_the_package_is_all_there():
    assert len(PATHS) == 69
    for end in (*REFUSED, *WEIGHTLESS, *IMMOVABLE, *MIMICS):
        assert sum(path.endswith(end) for path in PATHS) == 1


@pytest.mark.parametrize('path', [path for path in PATHS if entry(REFUSED, path)], ids=list(REFUSED))
def test_what_is_refused_is_no_robot(path):
    with pytest.raises(ModelError) as error:
        model_from_urdf(path)
    assert str(error.value) == f'{path}: {entry(REFUSED, path)}'


@pytest.mark.compiled
@URDF
def test_every_quantity_is_pinocchios(path):
    model = pin.buildModelFromUrdf(path)
    assert model.nv == held(path).nv == 0 if path.endswith(IMMOVABLE) else model.nv > 0
    if model.nv:
        compare(held(path), model, path)


@pytest.mark.compiled
@FEW_URDFS
def test_every_quantity_is_pinocchios_on_a_free_joint(path):
    compare(on_a_free_joint(path), pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()), path)


def compare(robot, model, path):
    """Compare all answers at one state, those of links at three links as written."""
    robot, names = robot.with_gravity(peers.random_gravity(7)), held(path).frame_names
    links = np.random.default_rng(len(names)).choice(names, min(3, len(names)), replace=False)
    state, weightless = peers.random_state(robot, 9), entry(WEIGHTLESS, path)
    if weightless:
        with pytest.raises(ModelError, match=f"^forward dynamics: joint '{weightless}' has no inertia to accelerate$"):
            robot.forward_dynamics(*state[:3])
    errors = peers.errors(Peer(robot, model), links.tolist(), state, forward_dynamics=not weightless)
    assert {name: error for name, error in errors.items() if not error < TOLERANCE} == {}


@pytest.mark.rounding
@pytest.mark.compiled
@FEW_URDFS
def test_the_plant_of_simulated_arm_is_the_described_robot(path):
    robot = held(path)
    if not robot.nv or robot.nq != robot.nv:
        return
    if entry(WEIGHTLESS, path):
        with pytest.raises(ModelError, match='moves no inertia and ends its chain'):
            mujoco_plant(robot.model)
        return
    q, gravity = np.random.default_rng(robot.nv).uniform(-2.0, 2.0, robot.nq), peers.random_gravity(5)
    M, g = mass_matrix_and_gravity(mujoco_plant(robot.model), robot.joint_names, q, gravity)
    expected, wanted = robot.mass_matrix(q), robot.with_gravity(gravity).gravity_torque(q)
    size = np.sqrt(np.diag(expected))
    # M is the inverse of an inverse
    rounding = bound(10, robot.nv, np.linalg.cond(expected / np.outer(size, size)))
    assert np.abs((M - expected) / np.outer(size, size)).max() < max(PLANT_TOLERANCE, rounding)
    assert np.abs(g - wanted).max() <= PLANT_TOLERANCE * np.abs(wanted).max()


@URDF
def test_findings_name_the_joints_that_move_no_inertia_and_those_that_mimic_others(path):
    written, findings = ElementTree.parse(path).getroot().findall('joint'), held(path).findings
    mimics = {it.get('name') for it in written if it.get('type') != 'fixed' and it.find('mimic') is not None}
    assert {it.where for it in findings if 'mimics' in it.message} == {f'joint {name!r}' for name in mimics}
    assert bool(mimics) == path.endswith(MIMICS)
    weightless, found = entry(WEIGHTLESS, path), [str(it) for it in findings if 'moves no inertia' in it.message]
    assert any(f'joint {weightless!r} moves' in finding for finding in found) if weightless else found == []


@pytest.mark.parametrize('path', matrix(PATHS, PATHS[::7]), ids=name_of)
def test_digests_are_the_same_after_a_journey_through_yaml(path):
    if not entry(REFUSED, path):
        robot = held(path)
        assert Robot.from_yaml(robot.to_yaml()).digest == robot.digest
