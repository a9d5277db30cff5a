"""Inverse dynamics, mass matrix and Jacobian of the AUBO-i5 and three known arms against MuJoCo and Drake."""

import logging
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

from support.robots import random_trees as trees
from support.robots.example_robots import example_urdfs

import mujoco
import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.formats.urdf import model_from_urdf

TOLERANCE = 1e-8  # of the largest magnitude in the quantity
# The end of the URDF's path, and a link at the end of the arm: fixed to the last one, or a finger.
ARMS = {
    'aubo_i5': ('aubo_i5.urdf', 'ee_link'),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', 'ee_link'),
    'panda': ('panda_description/urdf/panda.urdf', 'panda_leftfinger'),
    'kinova': ('kinova_description/robots/kinova.urdf', 'j2s6s200_end_effector'),
}
ARM = pytest.mark.parametrize('name', ARMS)


@cache
def arm(name):
    """Return text and robot of an arm, with rotors and gravity of our own choice."""
    end, tip = ARMS[name]
    paths = [str(named_urdf(name))] if name == 'aubo_i5' else example_urdfs()
    text = bare(next(Path(path) for path in paths if path.endswith(end)).read_text(encoding='utf-8'))
    rng = np.random.default_rng(len(name))
    robot = Robot(model_from_urdf(text), trees.random_direction(rng) * 9.81)
    rotors = rng.uniform(0.1, 0.5, robot.nv)
    robot = robot.with_actuators({'rotor_inertia': dict(zip(robot.joint_names, rotors, strict=True))})
    states = rng.uniform(-2.0, 2.0, (5, 3, robot.nv))
    return SimpleNamespace(text=text, robot=robot, rotors=rotors, tip=tip, states=states)


def bare(text) -> str:
    """Return a URDF's links and joints without shapes, friction and mimics."""
    root = ElementTree.fromstring(text)
    for element in list(root):
        if element.tag not in ('link', 'joint'):
            root.remove(element)
        for tag in ('visual', 'collision', 'dynamics', 'mimic'):
            for part in element.findall(tag):
                element.remove(part)
    return ElementTree.tostring(root, encoding='unicode')


@ARM
def test_quantities_are_mujocos(name):
    it = arm(name)
    # links as they are written: not one body where they are fixed to each other, no inertia changed
    asked = '<mujoco><compiler fusestatic="false" balanceinertia="false" boundmass="0" boundinertia="0"/></mujoco>'
    plant = mujoco.MjModel.from_xml_string(it.text.replace('</robot>', f'{asked}</robot>'))
    data = mujoco.MjData(plant)
    plant.opt.gravity[:] = it.robot.gravity
    plant.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    order = np.array([plant.joint(joint).dofadr[0] for joint in it.robot.joint_names])
    assert plant.nv == len(order)
    plant.dof_armature[order] = it.rotors
    for q, qd, qdd in it.states:
        data.qpos[order], data.qvel[order], data.qacc[order] = q, qd, qdd
        mujoco.mj_inverse(plant, data)
        assert trees.relative_error(it.robot.inverse_dynamics(q, qd, qdd), data.qfrc_inverse[order]) < TOLERANCE
        M, J = np.empty((plant.nv, plant.nv)), np.empty((6, plant.nv))
        for row, unit in zip(M, np.eye(plant.nv), strict=True):
            mujoco.mj_mulM(plant, data, row, unit)
        assert trees.relative_error(it.robot.mass_matrix(q), M[np.ix_(order, order)]) < TOLERANCE
        mujoco.mj_jacBody(plant, data, J[3:], J[:3], plant.body(it.tip).id)
        assert trees.relative_error(it.robot.jacobian(q, it.tip, 'local_world_aligned'), J[:, order]) < TOLERANCE


@ARM
def test_quantities_are_drakes(name):
    plants = pytest.importorskip('pydrake.multibody.plant', reason='Drake (package drake) is not installed')
    from pydrake.multibody.parsing import Parser  # noqa: PLC0415  (not everywhere installed)
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces  # noqa: PLC0415

    it = arm(name)
    logging.getLogger('drake').setLevel(logging.ERROR)
    plant = plants.MultibodyPlant(time_step=0.0)
    Parser(plant).AddModelsFromString(it.text, 'urdf')
    base = it.robot.link_names[0]
    if base != 'world':
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(base))
    plant.mutable_gravity_field().set_gravity_vector(it.robot.gravity)
    joints = [plant.GetJointByName(joint) for joint in it.robot.joint_names]
    for joint, rotor in zip(joints, it.rotors, strict=True):
        plant.AddJointActuator(joint.name(), joint).set_default_rotor_inertia(rotor)
    plant.Finalize()
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
    order = np.array([joint.velocity_start() for joint in joints])
    assert plant.num_velocities() == len(order)
    back, tip = np.argsort(order), plant.GetFrameByName(it.tip)
    for q, qd, qdd in it.states:
        plant.SetPositions(context, q[back])
        plant.SetVelocities(context, qd[back])
        plant.CalcForceElementsContribution(context, forces)  # gravity
        tau = plant.CalcInverseDynamics(context, qdd[back], forces)[order]
        assert trees.relative_error(it.robot.inverse_dynamics(q, qd, qdd), tau) < TOLERANCE
        M = plant.CalcMassMatrix(context)[np.ix_(order, order)]
        assert trees.relative_error(it.robot.mass_matrix(q), M) < TOLERANCE
        world = plant.world_frame()
        J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, tip, np.zeros(3), world, world)
        assert trees.relative_error(it.robot.jacobian(q, it.tip, 'local_world_aligned'), J[:, order]) < TOLERANCE
