"""Closed loops against MuJoCo: rows of its constraints, and its soft equations solved with our matrices.

Its constraints are (M + J' R^-1 J) qdd = tau - h + J' R^-1 aref, with its own J, R and aref.
"""

from pathlib import Path

from support.robots import random_trees as trees
from support.robots.mechanism_mjcf import home, mjcf_of
from support.robots.mechanisms import MECHANISMS
from support.twins.naive import places

import numpy as np
import pytest

from robot_dynamics_ros import Robot

mujoco = pytest.importorskip('mujoco', reason='the outside source, MuJoCo, is not installed')

from support.robots.mechanisms_in_mujoco import data_of, plant_of  # noqa: E402 - imports MuJoCo

NAMES = [name for name in MECHANISMS if name not in ('four-bar, planar_point', 'parallelogram', 'gears')]
NAME = pytest.mark.parametrize('name', NAMES)
TOLERANCE = 1e-9
EXAMPLES = Path(__file__).parents[3] / 'examples' / 'mechanisms'


def case(name, seed):
    """Return a mechanism, its state, MuJoCo's model and data there, and T (nv, nv) with qvel = T qd."""
    mechanism, plant = MECHANISMS[name], plant_of(name)
    q, qd, tau = mechanism.state(seed)
    data, T = data_of(plant, mechanism.joints, q - home(mechanism, np.zeros(len(q))), qd, tau)
    return mechanism, (q, qd, tau), plant, data, T


@NAME
def test_mass_matrix_and_bias_torques(name):
    """The mechanisms in MJCF are the same robots."""
    mechanism, (q, qd, _), plant, data, T = case(name, 0)
    M = np.zeros((plant.nv, plant.nv))
    mujoco.mj_fullM(plant, data, M)
    assert trees.relative_error(mechanism.robot.mass_matrix(q), T.T @ M @ T) < 1e-12
    zeros = np.zeros(plant.nv)
    # their acceleration of a free joint is that of its world velocity
    theirs = T.T @ (data.qfrc_bias + M @ (drift(mechanism.joints, T, q, qd)))
    assert trees.relative_error(mechanism.robot.inverse_dynamics(q, qd, zeros), theirs) < 1e-11


def drift(joints, T, q, qd) -> np.ndarray:
    """Return dT/dt qd (nv,): w x v of free joints in the world's axes."""
    turned = np.zeros(len(qd))
    for joint, (_, of_v) in zip(joints, places(joints), strict=True):
        if joint.kind == 'free':
            turned[of_v] = [0.0, 0.0, 0.0, *np.cross(*np.split(qd[of_v], 2))]
    return T @ turned


def rows_of(data, T):
    """Return J in our velocities, R and aref of MuJoCo's equality constraints."""
    J = data.efc_J.reshape(data.nefc, len(T)) @ T
    assert (data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)).all()
    return J, data.efc_R.copy(), data.efc_aref.copy()


@NAME
def test_rows_hold_the_same_motions(name):
    mechanism, (q, _, _), _, data, T = case(name, 1)
    theirs, ours = rows_of(data, T)[0], mechanism.robot.loop_jacobian(q)
    projectors = [np.linalg.pinv(J, rcond=1e-9) @ J for J in (theirs, ours)]
    assert np.abs(projectors[0] - projectors[1]).max() < 1e-10
    # a point: theirs is A minus B in the axes of the world
    points = [closure for closure in mechanism.robot.model.loops.closures if closure.kind == 'point']
    for k, closure in enumerate(points):
        R_A = mechanism.robot.link_pose(q, closure.link_a)[:3, :3] @ closure.pose_a[:3, :3]
        block = slice(3 * k, 3 * k + 3)
        assert np.abs(theirs[block] + R_A @ ours[block]).max() < 1e-12


@NAME
def test_soft_constraints_with_our_matrices(name):
    """Accelerations of MuJoCo, which lets loops give way, by our mass matrix, bias torques and free accelerations."""
    for seed in range(3):
        mechanism, (q, qd, tau), _, data, T = case(name, seed)
        J, R, aref = rows_of(data, T)
        # their rows are of the derivative of the velocities T qd
        turn = drift(mechanism.joints, T, q, qd)
        aref = aref - J @ T.T @ turn
        M, h = mechanism.robot.mass_matrix(q), mechanism.robot.bias_torque(q, qd)
        soft = np.linalg.solve(M + J.T @ (J / R[:, None]), tau - h + J.T @ (aref / R))
        qacc = T.T @ (data.qacc - turn)
        assert trees.relative_error(soft, qacc) < TOLERANCE
        # multipliers first, with the accelerations of the tree without loops
        alone = mechanism.open.forward_dynamics(q, qd, tau)
        M_inv_J = np.linalg.solve(M, J.T)
        force = np.linalg.solve(J @ M_inv_J + np.diag(R), aref - J @ alone)
        assert trees.relative_error(alone + M_inv_J @ force, qacc) < TOLERANCE
        # where R goes to zero and errors do not decay, the accelerations of closed loops
        stiff = np.linalg.lstsq(J @ M_inv_J, force_target(data, mechanism, q, qd, J, alone), rcond=1e-12)[0]
        exact = mechanism.robot.with_loops(mechanism.loops, gain=0.0).forward_dynamics(q, qd, tau)
        assert trees.relative_error(alone + M_inv_J @ stiff, exact) < TOLERANCE


def force_target(data, mechanism, q, qd, J, alone):
    """Return what the multipliers of their rows have to change, the rows' own acceleration by ours."""
    robot = mechanism.robot
    ours = robot.loop_jacobian(q)
    # rows C ours = J, on motions that keep the loops closed
    C = J @ np.linalg.pinv(ours, rcond=1e-9)
    return -C @ robot.loop_accelerations(q, qd, alone)


@pytest.mark.parametrize('name', [*NAMES, 'gears'])
def test_mechanisms_read_from_mjcf_are_the_same(name):
    mechanism = MECHANISMS[name]
    read = Robot.from_mjcf(mjcf_of(mechanism))
    q, qd, tau = mechanism.state(4)
    at = q - home(mechanism, np.zeros(len(q)))
    # the file lists joints depth first
    own = dict(zip(mechanism.robot.joint_names, places(mechanism.joints), strict=True))
    of_q = np.concatenate([np.arange(len(q))[own[joint][0]] for joint in read.joint_names])
    of_v = np.concatenate([np.arange(len(qd))[own[joint][1]] for joint in read.joint_names])
    at, qd_there, tau_there = at[of_q], qd[of_v], tau[of_v]
    assert np.abs(read.loop_errors(at)).max() < 1e-12
    assert read.mobility(at) == mechanism.mobility
    expected = mechanism.robot.forward_dynamics(q, qd, tau)[of_v]
    assert trees.relative_error(read.forward_dynamics(at, qd_there, tau_there), expected) < 1e-10


@pytest.mark.parametrize('path', sorted(EXAMPLES.glob('*.xml')), ids=lambda path: path.stem)
def test_examples_by_mujocos_equations(path):
    """Their soft accelerations, with our matrices and MuJoCo's rows, near the position of the file."""
    robot, plant = Robot.from_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    plant.opt.tolerance, plant.opt.iterations, plant.opt.jacobian = 0.0, 100, int(mujoco.mjtJacobian.mjJAC_DENSE)
    rng, joints = np.random.default_rng(0), robot._model.joints
    q = robot.close_loops(robot.integrate(robot.neutral(), rng.uniform(-0.02, 0.02, robot.nv))).q
    qd, tau = robot.impact(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
    data, T = data_of(plant, joints, q, qd, tau)
    J, R, aref = rows_of(data, T)
    turn = drift(joints, T, q, qd)
    h = robot.bias_torque(q, qd) - T.T @ (data.qfrc_passive + data.qfrc_actuator)
    A, b = robot.mass_matrix(q) + J.T @ (J / R[:, None]), tau - h + J.T @ ((aref - J @ T.T @ turn) / R)
    assert trees.relative_error(np.linalg.solve(A, b), T.T @ (data.qacc - turn)) < TOLERANCE
    projectors = [np.linalg.pinv(rows, rcond=1e-9) @ rows for rows in (J, robot.loop_jacobian(q))]
    assert np.abs(projectors[0] - projectors[1]).max() < 1e-9
