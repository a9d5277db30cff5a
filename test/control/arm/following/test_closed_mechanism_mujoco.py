"""Torques of actuated joints against MuJoCo: its mass matrix, forces of motion, and rows of its constraints."""

from copy import copy

from support.robots.mechanism_mjcf import home
from support.robots.mechanisms import ACTUATED, MECHANISMS, actuated

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.driven_robot import in_driven_joints

mujoco = pytest.importorskip('mujoco', reason='the outside source, MuJoCo, is not installed')

from support.robots.mechanisms_in_mujoco import data_of, plant_of  # noqa: E402 - imports MuJoCo

NAMES = 'palletizer', 'four-bar, revolute', 'delta', 'delta of parallelograms', 'Stewart platform'
OF_ONE_AXIS = 'palletizer', 'four-bar, revolute', 'delta of parallelograms'
"""Mechanisms in which velocities of MuJoCo are ours, and their derivatives, too."""


def difference(name: str, seed: int) -> float:
    """Return the largest difference of a torque of ``name``, relative to the largest torque, at a random state.

    All joints have viscous friction.
    """
    mechanism, rng = MECHANISMS[name], np.random.default_rng(seed)
    viscous = rng.uniform(0.5, 5.0, mechanism.robot.nv)
    robot = in_driven_joints(actuated(mechanism, ACTUATED[name])).with_friction(viscous=viscous)
    m = robot.nv
    y = robot.neutral() + rng.uniform(-0.05, 0.05, m)
    yd = rng.uniform(-1.0, 1.0, m) if name in OF_ONE_AXIS else np.zeros(m)
    ydd = rng.uniform(-2.0, 2.0, m)
    motion = robot.following.motion(y, yd, ydd)
    plant = copy(plant_of(name))
    shift = home(mechanism, np.zeros(len(motion.q)))
    data, T = data_of(plant, mechanism.joints, motion.q - shift, motion.qd, np.zeros(robot.robot.nv))
    # MuJoCo's motions that keep its loops closed, per motion of the actuated joints
    J = data.efc_J.reshape(-1, plant.nv)[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
    _, sizes, V = np.linalg.svd(J)
    N = V[int((sizes > 1e-9 * sizes[0]).sum()) :].T
    assert N.shape[1] == m
    places = [plant.jnt_dofadr[mujoco.mj_name2id(plant, mujoco.mjtObj.mjOBJ_JOINT, it)] for it in robot.joint_names]
    G = N @ np.linalg.inv(N[places])
    np.testing.assert_allclose(G, T @ motion.G, atol=1e-8 * np.abs(G).max())
    M = np.zeros((plant.nv, plant.nv))
    mujoco.mj_fullM(plant, data, M)
    plant.dof_damping = T @ viscous
    mujoco.mj_passive(plant, data)
    # tau_y = G' (M qdd + h - damping)
    expected = G.T @ (M @ T @ motion.qdd + data.qfrc_bias - data.qfrc_passive)
    assert np.abs(data.qfrc_passive).max() >= 0.4 * np.abs(yd).max()  # the least viscous friction is 0.5
    return float(np.abs(robot.torque(y, yd, ydd) - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize('name', NAMES)
def test_torques_are_those_of_mujoco(name):
    assert max(difference(name, seed) for seed in range(5)) < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize('name', NAMES)
def test_torques_of_many_states_are_those_of_mujoco(name):
    assert max(difference(name, seed) for seed in range(1000)) < 1e-6
