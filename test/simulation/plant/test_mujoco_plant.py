"""The plant of simulated_arm; ``formats/test_example_robots.py`` compares it with every public robot at hand."""

from support.robots.facade_robots import TREE
from support.twins.mujoco_states import mass_matrix_and_gravity

import mujoco
import numpy as np
import pytest

from robot_dynamics_ros import Coupling
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.model.closed_loops.loops import with_loops
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.simulation.plant.mujoco_plant import mujoco_plant

CASES = {
    # diag(1, 2, 2.5) turned by a quarter about z: some versions of MuJoCo read 1 for 2
    'rotated inertial': (
        '<origin rpy="0 0 1.5707963267948966"/><mass value="1"/><inertia ixx="1" iyy="2" izz="2.5" {zero}/>', 2.0
    ),
    'flat, broken by rounding': (
        '<mass value="1"/><inertia ixx="0.30000000000000004" iyy="0.1" izz="0.2" {zero}/>', 0.3
    ),
    'that no body has': ('<mass value="1"/><inertia ixx="0.9" iyy="0.1" izz="0.2" {zero}/>', 0.9),
}  # fmt: skip


@pytest.mark.parametrize(('inertial', 'inertia'), CASES.values(), ids=CASES)
def test_inertias_that_mujoco_reads_otherwise_or_not(inertial, inertia):
    text = (
        '<robot name="r"><link name="base"/><link name="arm"><inertial>'
        + inertial.replace('{zero}', 'ixy="0" ixz="0" iyz="0"')
        + '</inertial></link><joint name="j" type="revolute"><parent link="base"/><child link="arm"/>'
        '<axis xyz="1 0 0"/><limit lower="-3" upper="3" velocity="3" effort="50"/></joint></robot>'
    )
    model = model_from_urdf(text)
    M, _ = mass_matrix_and_gravity(mujoco_plant(model), model.joint_names, [0.4], (0.0, 0.0, 0.0))
    assert M[0, 0] == pytest.approx(inertia, rel=1e-12)


def test_a_tool_on_a_fixed_joint_is_where_the_description_has_it():
    """0.245 N m, of Pinocchio; MuJoCo 3.3.7 has 1.064."""
    arm = '<inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" {}/></inertial>'
    tool = (
        '<inertial><origin xyz="0.17 0 0.05" rpy="0.3 0.2 0.5"/><mass value="0.5"/>'
        '<inertia ixx="0.01" iyy="0.02" izz="0.025" {}/></inertial>'
    )
    zero = 'ixy="0" ixz="0" iyz="0"'
    model = model_from_urdf(
        f'<robot name="r"><link name="base"/><link name="arm">{arm.format(zero)}</link>'
        f'<link name="tool">{tool.format(zero)}</link>'
        '<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>'
        '<joint name="f" type="fixed"><parent link="arm"/><child link="tool"/>'
        '<origin xyz="0 0 0.047" rpy="3.1416 -1.5708 0"/></joint></robot>'
    )
    plant = mujoco_plant(model)
    plant.opt.gravity[:] = 0.0, -9.81, 0.0
    data = mujoco.MjData(plant)
    mujoco.mj_forward(plant, data)
    assert data.qfrc_bias[0] == pytest.approx(0.245, abs=5e-4)


def joint(name='j', kind='revolute', **more) -> Joint:
    body = np.array([1.0, 0.2, 0, 0, 0.1, 0, 0, 0.2, 0, 0.2])
    return Joint(name, f'{name}_link', 'base', kind, np.array([0, 1.0, 0]), np.eye(3), np.zeros(3), body, **more)


def test_numbers_of_joints_are_the_models():
    springy = joint(rotor=0.3, viscous=0.4, coulomb=0.5, stiffness=7.0, rest=0.2, lower=-1.0, upper=2.0)
    plant = mujoco_plant(Model.of('r', 'base', [springy]))
    found = [plant.dof_armature, plant.dof_damping, plant.dof_frictionloss, plant.jnt_stiffness]
    assert [float(np.ravel(it)[0]) for it in found] == [0.3, 0.4, 0.5, 7.0]
    assert plant.qpos_spring[0] == 0.2 and plant.jnt_limited[0] and plant.jnt_range[0].tolist() == [-1.0, 2.0]


@pytest.mark.parametrize(
    ('lower', 'upper', 'limited'),
    [(-np.inf, np.inf, False), (np.nan, np.nan, False), (-np.inf, 0.5, True), (-0.5, 0.5, True)],
)
def test_a_limit_holds_where_there_is_one(lower, upper, limited):
    plant = mujoco_plant(Model.of('r', 'base', [joint(kind='prismatic', lower=lower, upper=upper, viscous=5.0)]))
    plant.opt.gravity[:] = 0.0
    data = mujoco.MjData(plant)
    data.qfrc_applied[:] = 10.0
    mujoco.mj_step(plant, data, 2000)
    assert (data.qpos[0] > 1.0) != limited
    if limited:
        assert data.qpos[0] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize('polynomial', [(0.1, -2.0), (0.0, 0.5, 0.2)])
def test_couplings_of_a_mujoco_plant_hold(polynomial):
    model = Model.of('r', 'base', [joint('j'), joint('k')])
    plant = mujoco_plant(model, [Coupling('k', 'j', polynomial)])
    data = mujoco.MjData(plant)
    data.qpos[:] = 0.3, np.polynomial.polynomial.polyval(0.3, polynomial)
    mujoco.mj_step(plant, data, 300)
    j, k = data.qpos
    assert abs(j - 0.3) > 0.05
    assert k == pytest.approx(np.polynomial.polynomial.polyval(j, polynomial), abs=0.02)


REFUSED = {
    'kind': (Model.of('r', 'base', [joint(kind='helical', pitch=0.1)]), "joint 'j': MuJoCo has no helical joint"),
    'loop': (with_loops(model_from_urdf(TREE), [Coupling('a_wag', 'z_turn', (0.0, 1.0))]), 'which has closed loops'),
    'no inertia': (
        model_from_urdf(TREE.replace('0.5"/>', '0"/>').replace('"0.001"', '"0"').replace('"0.01"', '"0"')),
        "link 'flag': joint 'a_wag' moves no inertia and ends its chain: forward dynamics is singular",
    ),
}


@pytest.mark.parametrize(('model', 'why'), REFUSED.values(), ids=REFUSED)
def test_what_mujoco_cannot_move_is_refused_by_name(model, why):
    with pytest.raises(ModelError, match=why):
        mujoco_plant(model)
