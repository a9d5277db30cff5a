"""Operational space of several frames, and of a frame after many joints: identities, NumPy, refused arguments."""

import dataclasses
from functools import cache

from support.robots import random_trees as trees
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.algorithms.choice import MOST_VELOCITIES_IN_A_ROW
from robot_dynamics_ros.algorithms.table import OPERATIONAL_SPACE
from robot_dynamics_ros.errors import ArgumentError, ModelError, SingularError, UnknownNameError
from robot_dynamics_ros.kernels.operational_space import operational_space_inertia
from robot_dynamics_ros.kernels.operational_space_propagation import inertia_by_propagation
from robot_dynamics_ros.model.arrays import Workspace
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.validation import REFERENCE_FRAMES as FRAMES

pytestmark = pytest.mark.plain

FRAME = pytest.mark.parametrize('frame', FRAMES)
HANDS = 'link_9', 'link_16'
"""Links at the ends of two arms."""
OF_FRAMES = (
    'operational_space_inertia',
    'operational_space_inertia_inverse',
    'consistent_inverse',
    'nullspace_projector',
    'operational_space_gravity',
)
"""Quantities of q alone."""


@cache
def two_arms() -> Robot:
    """Return a trunk of two joints with two arms of seven, rotors with spin, and a payload in a hand."""
    joints, rng = trees.random_joints(5, count=16, chain=1.0), np.random.default_rng(0)
    joints[9] = dataclasses.replace(joints[9], parent=joints[1].link)
    joints = [
        dataclasses.replace(it, spin=float(rng.uniform(-0.02, 0.02))) if it.kind == 'revolute' else it for it in joints
    ]
    robot = Robot(Model.of('two arms', trees.BASE, joints))
    return robot.with_payload(Payload(3.0, (0.1, 0.0, 0.2), 0.1 * np.eye(3)), 'link_16')


def drawn(robot, *batch, seed=1):
    """Return q and qd (..., nv)."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (2, *batch, robot.nv))


def stacked(robot, q, links, frame):
    """Return J (..., 6 F, nv)."""
    return np.concatenate([robot.jacobian(q, link, frame) for link in links], axis=-2)


def transposed(matrix):
    """Return the transposed matrices."""
    return np.swapaxes(matrix, -1, -2)


@pytest.mark.rounding
@pytest.mark.compiled
@FRAME
def test_inertia_and_its_inverses_are_those_of_the_mass_matrix(frame):
    robot = two_arms()
    q, _ = drawn(robot, 2, 3)
    J, M_inv = stacked(robot, q, HANDS, frame), robot.mass_matrix_inverse(q)
    A, inertia = (getattr(robot, name)(q, HANDS, frame) for name in reversed(OF_FRAMES[:2]))
    assert A.shape == inertia.shape == (2, 3, 12, 12)
    assert trees.relative_error(A, J @ M_inv @ transposed(J)) < bound(50, robot.nv)
    assert np.abs(inertia @ A - np.eye(12)).max() < 1e-11
    inverse = robot.consistent_inverse(q, HANDS, frame)
    assert inverse.shape == (2, 3, 16, 12)
    assert np.abs(J @ inverse - np.eye(12)).max() < 1e-11
    assert np.abs(robot.mass_matrix(q) @ inverse - transposed(J) @ inertia).max() < 1e-11 * np.abs(inertia).max()
    # in another order
    other = robot.operational_space_inertia(q, list(reversed(HANDS)), frame)
    assert trees.relative_error(np.roll(other, (6, 6), axis=(-2, -1)), inertia) < 1e-11


@FRAME
def test_projected_torques_do_not_accelerate_the_frames(frame):
    robot = two_arms()
    q, tau = drawn(robot, 4)
    N = robot.nullspace_projector(q, HANDS, frame)
    assert N.shape == (4, 16, 16)
    assert np.abs(N @ N - N).max() < 1e-11
    assert np.abs(np.trace(N, axis1=-2, axis2=-1) - 4.0).max() < 1e-11
    weightless = robot.with_gravity((0.0, 0.0, 0.0))
    projected = (N @ tau[..., None])[..., 0]
    assert np.abs(projected).max() > 0.1
    qdd = weightless.forward_dynamics(q, 0.0 * q, projected)
    for link in HANDS:
        assert np.abs(robot.link_acceleration(q, 0.0 * q, qdd, link, frame)).max() < 1e-11 * np.abs(qdd).max()
    # of one frame it leaves more
    assert np.abs(np.trace(robot.nullspace_projector(q[0], HANDS[0], frame)) - 10.0) < 1e-11


@FRAME
def test_wrenches_accelerate_all_frames_as_asked(frame):
    robot = two_arms()
    q, qd = drawn(robot, 5)
    a = np.random.default_rng(2).normal(size=(5, 12))
    bias, gravity = robot.operational_space_bias(q, qd, HANDS, frame), robot.operational_space_gravity(q, HANDS, frame)
    F = (robot.operational_space_inertia(q, HANDS, frame) @ a[..., None])[..., 0] + bias + gravity
    tau = (transposed(stacked(robot, q, HANDS, frame)) @ F[..., None])[..., 0]
    qdd = robot.forward_dynamics(q, qd, tau)
    found = [robot.link_acceleration(q, qd, qdd, link, frame) for link in HANDS]
    assert np.abs(np.concatenate(found, axis=-1) - a).max() < 1e-10 * np.abs(qdd).max()
    # vectors broadcast
    one = robot.operational_space_bias(q, qd[0], HANDS, frame)
    assert one.shape == (5, 12) and np.allclose(one[0], bias[0]) and not np.allclose(one[1], bias[1])


@pytest.mark.rounding
@pytest.mark.compiled
@FRAME
def test_a_frame_after_many_joints(frame):
    """By propagation of forces, against NumPy's matrices."""
    chain = Robot(Model.of('chain', trees.BASE, trees.random_joints(9, count=20, chain=1.0)))
    q, qd = drawn(chain, 3)
    J, M_inv = chain.jacobian(q, 'link_18', frame), chain.mass_matrix_inverse(q)
    A = J @ M_inv @ transposed(J)
    near = bound(20, chain.nv, np.linalg.cond(A).max())
    assert trees.relative_error(chain.operational_space_inertia_inverse(q, 'link_18', frame), A) < near
    inertia, inverse = np.linalg.inv(A), chain.consistent_inverse(q, ['link_18'], frame)
    assert trees.relative_error(chain.operational_space_inertia(q, 'link_18', frame), inertia) < near
    assert trees.relative_error(inverse, M_inv @ transposed(J) @ inertia) < near
    h = chain.with_gravity((0.0, 0.0, 0.0)).bias_torque(q, qd)
    dJ_qd = chain.jacobian_dot_qd(q, qd, 'link_18', frame)
    expected = (transposed(inverse) @ h[..., None] - inertia @ dJ_qd[..., None])[..., 0]
    assert trees.relative_error(chain.operational_space_bias(q, qd, 'link_18', frame), expected) < 10.0 * near
    expected = (transposed(inverse) @ chain.gravity_torque(q)[..., None])[..., 0]
    assert trees.relative_error(chain.operational_space_gravity(q, 'link_18', frame), expected) < 10.0 * near


def test_the_number_of_joints_in_a_row_decides_how_a_frame_is_computed():
    algorithm = OPERATIONAL_SPACE['operational_space_inertia']
    for count, chain, kernel in (
        (MOST_VELOCITIES_IN_A_ROW, 1.0, operational_space_inertia),
        (MOST_VELOCITIES_IN_A_ROW + 1, 1.0, inertia_by_propagation),
        (3 * MOST_VELOCITIES_IN_A_ROW, 0.0, operational_space_inertia),
    ):
        arrays = trees.arrays_of(trees.random_joints(0, count=count, chain=chain))
        assert algorithm.kernel(arrays) is kernel


@pytest.mark.compiled
def test_straight_line_code_gives_the_same_bits():
    generic = Robot.named('aubo_i5')
    q, _ = drawn(generic, 37)
    robot = generic.compiled()
    for links in (['wrist3_Link', 'foreArm_Link'], ['wrist1_Link', 'base_link']):
        expected = generic.operational_space_inertia_inverse(q, links, 'local')
        assert np.abs(expected).max() > 0.1
        assert (robot.operational_space_inertia_inverse(q, links, 'local') == expected).all()
        assert (robot.operational_space_inertia_inverse(q[3], links, 'local') == expected[3]).all()


@pytest.mark.compiled
@pytest.mark.parametrize('name', OF_FRAMES)
def test_results_are_written_to_out(name):
    robot = two_arms()
    q, qd = drawn(robot, 3)
    expected = getattr(robot, name)(q, HANDS)
    out = np.empty_like(expected)
    assert getattr(robot, name)(q, HANDS, out=out) is out and (out == expected).all()
    with pytest.raises(ArgumentError, match='out'):
        getattr(robot, name)(q, HANDS, out=out[..., :-1])
    bias = np.empty((3, 12))
    assert robot.operational_space_bias(q, qd, HANDS, out=bias) is bias
    assert (bias == robot.operational_space_bias(q, qd, HANDS)).all()


@pytest.mark.parametrize('name', OF_FRAMES)
def test_names_that_are_refused(name):
    robot = two_arms()
    q, _ = drawn(robot)
    with pytest.raises(ArgumentError, match=r'^link: expected at least one name, got an empty sequence$'):
        getattr(robot, name)(q, [])
    for link, culprit in ((['link_9', 'gripper'], "'gripper'"), (['link_9', 3], '3'), ([['link_9']], r"\['link_9'\]")):
        with pytest.raises(UnknownNameError, match=f'^no link {culprit}; .*here are base, link_1'):
            getattr(robot, name)(q, link)
    with pytest.raises(ArgumentError, match=r'^reference_frame: '):
        getattr(robot, name)(q, HANDS, 'tool')
    with pytest.raises(ArgumentError, match=r'^q: '):
        getattr(robot, name)(q[:-1], HANDS)
    with pytest.raises(ArgumentError, match=r'^q\[2\]: nan is not finite'):
        getattr(robot, name)(np.where(q < 0.0, np.nan, q), HANDS)


@pytest.mark.rounding
@pytest.mark.compiled
@pytest.mark.parametrize('links', [('link_9', 'link_9'), ('link_9', 'link_5'), ('link_9', 'link_16', 'link_8')])
def test_no_inertia_where_frames_depend_on_each_other(links):
    """A frame twice, one after three joints, and eighteen directions of sixteen joints: the inverse exists."""
    robot = two_arms()
    q, _ = drawn(robot, 2)
    named = ', '.join(map(repr, links))
    message = rf'^q\[0\]: links {named} cannot move in all {6 * len(links)} directions here$'
    for name in {*OF_FRAMES} - {'operational_space_inertia_inverse'}:
        with pytest.raises(SingularError, match=message):
            getattr(robot, name)(q, links)
    A, J = robot.operational_space_inertia_inverse(q, links), stacked(robot, q, links, 'local_world_aligned')
    assert trees.relative_error(A, J @ robot.mass_matrix_inverse(q) @ transposed(J)) < bound(50, robot.nv)


@pytest.mark.rounding
def test_more_frames_than_the_workspace_has_columns_for():
    """The inverse of the inertia is then computed by M^-1."""
    robot = Robot(Model.of('short', trees.BASE, trees.random_joints(4, count=2, chain=1.0)))
    q, links = np.array([0.3, -0.4]), ['link_2', 'link_1', 'link_2']
    A, J = robot.operational_space_inertia_inverse(q, links, 'local'), stacked(robot, q, links, 'local')
    assert trees.relative_error(A, J @ robot.mass_matrix_inverse(q) @ J.T) < bound(50, robot.nv)
    with pytest.raises(SingularError, match=r'cannot move in all 18 directions here$'):
        robot.operational_space_inertia(q, links)
    for joints in range(1, 20):
        evaluator = Robot(Model.of('chain', trees.BASE, trees.random_joints(4, count=joints, chain=1.0)))._evaluator
        several = range(2, 40)
        most = max([0, *(it for it in several if evaluator._has_kernel('response_to_wrenches', ('link_1',) * it))])
        assert 6 * most <= Workspace.of(evaluator.arrays).Y.shape[1] and (most > 0) == (joints > 3)


def test_a_joint_without_inertia_is_named():
    joints = trees.random_joints(5, count=8, chain=1.0)
    joints[-1] = dataclasses.replace(joints[-1], inertia=np.zeros(10), rotor=0.0)
    robot = Robot(Model.of('massless', trees.BASE, joints))
    for links in ('link_8', ['link_8', 'link_7']):
        for name in ('operational_space_inertia_inverse', 'operational_space_inertia'):
            with pytest.raises(ModelError, match=r"joint 'joint_8' has no inertia to accelerate$"):
                getattr(robot, name)(np.ones(8), links)
