"""Operational-space dynamics of the AUBO-i5 and the Coriolis matrix: identities, Pinocchio, refused arguments."""

from support.robots import random_trees as trees
from support.robots.facade_robots import assert_close, of_a_link, robot_of, twin

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError, SingularError
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.validation import REFERENCE_FRAMES as FRAMES

pytestmark = pytest.mark.plain

LINK = 'ee_link'
STEP = 1e-30
FRAME = pytest.mark.parametrize('frame', FRAMES)


def drawn(count=1, seed=0):
    """Return q, qd (count, 6 each) and six numbers of something else."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.5, 1.5, (count, 6)), rng.uniform(-2.0, 2.0, (count, 6)), rng.uniform(-5.0, 5.0, (count, 6))


@FRAME
def test_the_wrench_accelerates_the_frame_as_asked(frame):
    robot, (q, qd, a) = robot_of('aubo_i5'), drawn(5)
    inertia = robot.operational_space_inertia(q, LINK, frame)
    bias, gravity = robot.operational_space_bias(q, qd, LINK, frame), robot.operational_space_gravity(q, LINK, frame)
    F = (inertia @ a[..., None])[..., 0] + bias + gravity
    tau = (np.swapaxes(robot.jacobian(q, LINK, frame), -1, -2) @ F[..., None])[..., 0]
    qdd = robot.forward_dynamics(q, qd, tau)
    found = robot.link_acceleration(q, qd, qdd, LINK, frame)
    assert np.abs(found - a).max() < 1e-8 * np.abs(qdd).max()


@FRAME
def test_inertia_is_that_of_pinocchios_matrices(frame):
    robot, (q, qd, qdd) = robot_of('aubo_i5'), drawn(1, 1)
    t = twin('aubo_i5', tuple(robot.gravity))
    J = of_a_link(t, 'jacobian', q[0], qd[0], qdd[0], t.model.getFrameId(LINK), frame)
    M = t.pin.crba(t.model, t.data, q[0])
    expected = np.linalg.inv(J @ np.linalg.inv(np.triu(M) + np.triu(M, 1).T) @ J.T)
    found = robot.operational_space_inertia(q[0], LINK, frame)
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


@FRAME
def test_the_consistent_inverse_is_one_and_adds_nothing_to_the_frame(frame):
    robot, (q, _, _) = robot_of('aubo_i5'), drawn(4, 2)
    J, inverse = robot.jacobian(q, LINK, frame), robot.consistent_inverse(q, LINK, frame)
    assert np.abs(J @ inverse - np.eye(6)).max() < 1e-9
    # it weighs by the mass matrix: its rows are M^-1 J' of something
    M, inertia = robot.mass_matrix(q), robot.operational_space_inertia(q, LINK, frame)
    assert np.abs(M @ inverse - np.swapaxes(J, -1, -2) @ inertia).max() < 1e-9 * np.abs(inertia).max()


def test_results_are_written_to_out():
    robot, (q, qd, _) = robot_of('aubo_i5'), drawn(3, 3)
    for method, given, shape in (
        ('operational_space_inertia', (q,), (3, 6, 6)),
        ('consistent_inverse', (q,), (3, 6, 6)),
        ('operational_space_bias', (q, qd), (3, 6)),
        ('operational_space_gravity', (q,), (3, 6)),
    ):
        out = np.empty(shape)
        assert getattr(robot, method)(*given, LINK, out=out) is out
        alone = getattr(robot, method)(*(vector[1] for vector in given), LINK)
        assert np.abs(out[1] - alone).max() < 1e-12 * np.abs(alone).max()


def test_a_singular_position_is_refused_by_its_place():
    robot, (q, qd, _) = robot_of('aubo_i5'), drawn(3, 4)
    q[2, 4] = 0.0  # the wrist's first and last axis are parallel
    for call in (
        lambda: robot.operational_space_inertia(q, LINK),
        lambda: robot.operational_space_bias(q, qd, LINK),
        lambda: robot.operational_space_gravity(q, LINK),
        lambda: robot.consistent_inverse(q, LINK),
    ):
        with pytest.raises(SingularError, match=r"^q\[2\]: link 'ee_link' cannot move in all six directions here$"):
            call()
    with pytest.raises(SingularError, match=r"^q: link 'tool' cannot move"):
        robot_of('tree').operational_space_inertia(np.ones(3), 'tool')


def conditions(robot, q):
    """Return the conditions of J M^-1 J' at q (count, 6)."""
    J = robot.jacobian(q, LINK, 'world')
    return np.linalg.cond(J @ robot.mass_matrix_inverse(q) @ np.swapaxes(J, -1, -2))


@pytest.mark.parametrize('name', ['operational_space_inertia', 'consistent_inverse', 'operational_space_bias'])
def test_singular_values_decide_where_the_kernel_is_in_doubt(name):
    """The exact way yields the kernel's numbers, and results at a condition near its bound are those of it."""
    robot, (q, qd, _) = robot_of('aubo_i5'), drawn(3, 5)
    vectors = (q, qd) if name == 'operational_space_bias' else (q,)
    evaluator, runtime_inputs = robot._evaluator, robot._weightless
    found = evaluator._by_matrices(name, runtime_inputs, (LINK,), 'world', *vectors)
    expected = evaluator.evaluate_of_frame((name, LINK, 'world'), runtime_inputs, None, *vectors)
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()
    # the condition grows with the square of 1 / sin(q_5): 0.9e12, where the bound of the kernel may be above 1e12
    near = q.copy()
    near[:, 4] = 1e-4
    near[:, 4] *= np.sqrt(conditions(robot, near) / 0.9e12)
    assert (abs(conditions(robot, near) - 0.9e12) < 0.05e12).all()
    found = evaluator.evaluate_of_frame((name, LINK, 'world'), runtime_inputs, None, near, *vectors[1:])
    assert np.isfinite(found).all()


@pytest.mark.compiled
@pytest.mark.parametrize('seed', range(30))
def test_mass_matrix_rate_less_twice_the_coriolis_matrix_is_skew(seed):
    joints = trees.random_joints(seed, count=1 + seed % 12, general=0.3)
    joints = [joint for joint in joints if joint.kind not in ('planar', 'spherical', 'free')]
    joints = [trees.dataclasses.replace(it, parent=trees.BASE if k == 0 else joints[k - 1].link)
              for k, it in enumerate(joints)]  # fmt: skip
    if not joints:
        joints = trees.random_joints(seed, count=3)
    robot, s = Robot(Model.of('random', trees.BASE, joints)), trees.random_state(joints, seed)
    C = robot.coriolis_matrix(s.q, s.qd)
    rate = trees.mass_matrix(trees.arrays_of(joints), s.q + 1j * STEP * s.qd).imag / STEP
    N = rate - 2.0 * C
    assert np.abs(N + N.T).max() < 1e-10 * np.abs(rate).max(initial=1.0)
    assert_close(C @ s.qd, robot.coriolis_torque(s.q, s.qd))


def test_no_coriolis_matrix_where_velocities_are_no_derivatives():
    joint = trees.dataclasses.replace(trees.random_joints(1, count=1)[0], kind='spherical')
    robot = Robot(Model.of('ball', trees.BASE, [joint]))
    with pytest.raises(ModelError, match=r'^Coriolis matrix: qd of ball is not the time derivative of q$'):
        robot.coriolis_matrix(robot.neutral(), np.zeros(3))
