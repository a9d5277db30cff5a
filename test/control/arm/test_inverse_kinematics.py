"""Inverse kinematics: poses that are reached, also by SciPy's least squares and for Pinocchio, and what is refused."""

from functools import partial

from support.robots.small_robots import AUBO, joint, link, mixed, one, robot, seven_joints

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Coupling
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.mimic_joints import MimicJoints
from robot_dynamics_ros.control.arm.inverse_kinematics import InverseKinematics, pose_error
from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError

SEVEN = seven_joints()
ARMS = {'six joints': AUBO, 'seven joints': SEVEN}
MIMICKING = DrivenRobot(SEVEN, MimicJoints(SEVEN, [Coupling('joint_6', 'joint_4', (0.1, -0.5))]))
BENT = np.array([0.3, -0.8, 1.1, 0.4, 0.9, 0.1])
WRIST = np.eye(6)[5]
"""The joint that turns the last link."""
BODY = 1.0, '0.1 0 0', (0.1, 0, 0, 0.1, 0, 0.1)
each_arm = pytest.mark.parametrize('arm', ARMS.values(), ids=ARMS)


def pairs(arm, near=0.3, count=40, seed=4):
    """Return positions and others near them, within the limits."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2.0, 2.0, (count, arm.nv))
    return zip(q, q + rng.uniform(-near, near, q.shape), strict=True)


@pytest.mark.parametrize('arm', [*ARMS.values(), MIMICKING], ids=[*ARMS, 'a mimic joint'])
def test_the_link_has_the_pose_at_the_position_that_is_returned(arm):
    inverse = InverseKinematics(arm)
    for q, start in pairs(arm):
        pose = arm.link_pose(q, inverse.link)
        found = inverse.position(pose, start)
        np.testing.assert_allclose(arm.link_pose(found, inverse.link), pose, rtol=0.0, atol=1e-8)
        assert (arm.limits.lower <= found).all() and (found <= arm.limits.upper).all()


def test_any_frame_has_the_pose():
    frame = next(name for name in AUBO.frame_names if name not in AUBO.link_names)
    pose = AUBO.link_pose(BENT, frame)
    np.testing.assert_allclose(InverseKinematics(AUBO, frame).position(pose, BENT + 0.1), BENT, rtol=0.0, atol=1e-7)


def test_the_position_is_that_of_least_squares():
    """SciPy minimises the differences of the matrices, without a Jacobian of ours; elbow and wrist are bent."""
    inverse, rng = InverseKinematics(AUBO), np.random.default_rng(4)
    for q in rng.uniform(0.5, 1.5, (10, 6)):
        start, pose = q + rng.uniform(-0.2, 0.2, 6), AUBO.link_pose(q, inverse.link)
        differences = partial(difference, inverse.link, pose)
        twin = least_squares(differences, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
        np.testing.assert_allclose(inverse.position(pose, start), twin.x, rtol=0.0, atol=1e-6)


def difference(name, pose, q):
    return (AUBO.link_pose(q, name) - pose)[:3].ravel()


@each_arm
def test_the_pose_is_that_of_pinocchio(arm):
    pin = pytest.importorskip('pinocchio', reason='the outside source, Pinocchio (package pin), is not installed')
    model = pin.buildModelFromXML(arm.to_urdf())
    data, inverse = model.createData(), InverseKinematics(arm)
    place = model.getFrameId(inverse.link)
    for q, start in pairs(arm, count=20):
        pin.framesForwardKinematics(model, data, q)
        pose = data.oMf[place].copy()
        pin.framesForwardKinematics(model, data, inverse.position(pose.homogeneous, start))
        assert np.abs(pin.log6(pose.actInv(data.oMf[place])).vector).max() < 1e-8


@each_arm
def test_most_poses_far_away_are_reached(arm):
    """Half a metre and 75 degrees on average; a local minimum or a limit stops one in a hundred."""
    inverse, reached = InverseKinematics(arm), 0
    for q, start in pairs(arm, near=1.0, count=200):
        try:
            inverse.position(arm.link_pose(q, inverse.link), start)
            reached += 1
        except ArgumentError:
            pass
    assert reached >= 180


@pytest.mark.parametrize(
    'q',
    [[0.0] * 6, [0.4, 0.5, 0.0, 0.3, 0.0, 0.2], [0.4, -0.9, 1.2, 0.3, 0.0, 0.2]],
    ids=['upright', 'straight', 'wrist'],
)
def test_poses_at_singular_positions_are_reached(q):
    inverse, rng = InverseKinematics(AUBO), np.random.default_rng(2)
    pose = AUBO.link_pose(np.array(q), inverse.link)
    for _ in range(10):
        found = inverse.position(pose, q + rng.uniform(-0.2, 0.2, 6))
        np.testing.assert_allclose(AUBO.link_pose(found, inverse.link), pose, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize('axis', ['x', 'y', 'z', 'oblique'])
@pytest.mark.parametrize('degrees', [0.0, 1e-4, 60.0, 119.99, 120.01, 179.9999, 180.0, -179.9999])
def test_the_error_of_a_rotation_is_twice_the_sine_of_half_the_angle(axis, degrees):
    along = {'oblique': np.array([2.0, -3.0, 6.0]) / 7.0, **dict(zip('xyz', np.eye(3), strict=True))}[axis]
    before, T, T_d = Rotation.from_rotvec([0.3, -1.2, 0.7]), np.eye(4), np.eye(4)
    T[:3, :3], T_d[:3, :3] = (
        before.as_matrix(),
        (Rotation.from_rotvec(np.radians(degrees) * along) * before).as_matrix(),
    )
    T_d[:3, 3] = 0.1, 0.2, -0.3
    e = pose_error(T, T_d)
    expected = 2.0 * np.sin(0.5 * np.radians(degrees)) * along
    if abs(degrees) == 180.0:  # either way is as short
        expected *= np.sign(e[:3] @ expected)
    np.testing.assert_allclose(e, [*expected, 0.1, 0.2, -0.3], rtol=0.0, atol=1e-8)


def test_half_a_turn_is_no_pose_that_is_reached():
    inverse, opposite = InverseKinematics(AUBO), BENT + (np.pi - 0.2) * WRIST
    start = opposite - np.pi * WRIST
    pose = AUBO.link_pose(opposite, inverse.link)
    found = inverse.position(pose, start)
    np.testing.assert_allclose(AUBO.link_pose(found, inverse.link), pose, rtol=0.0, atol=1e-8)


def test_the_same_poses_are_the_same_positions():
    """An arm of seven joints goes around a circle of poses and comes back; its position is near the posture stated."""
    inverse = InverseKinematics(SEVEN)
    posture = np.array([0.1, 0.6, -0.2, 0.9, 0.3, 0.7, 0.0])
    pose = SEVEN.link_pose(posture + 0.2, inverse.link)
    first = q = inverse.position(pose, posture, posture)
    for angle in np.linspace(0.0, 2.0 * np.pi, 40):
        there = pose.copy()
        there[:3, 3] += 0.1 * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.0])
        q = inverse.position(there, q, posture)
    np.testing.assert_allclose(q, first, rtol=0.0, atol=1e-5)
    # the way to the posture is orthogonal to the motions that do not move the link
    J = SEVEN.jacobian(first, inverse.link)
    motion = np.linalg.svd(J)[2][-1]
    assert abs(motion @ (posture - first)) < 1e-5 and np.abs(posture - first).max() > 0.1


def test_a_posture_of_a_continuous_joint_is_reached_the_shorter_way():
    two = robot(
        link('base'), link('a', *BODY), link('b', *BODY),
        joint('turn', 'base', 'a'), joint('roll', 'a', 'b', axis='1 0 0', origin='0.5 0 0'),
    )  # fmt: skip
    start, posture, x_alone = np.array([0.2, 0.1]), np.array([0.2, 2.0 * np.pi - 0.2]), slice(3, 4)
    found = InverseKinematics(two).position(two.link_pose(start, 'b'), start, posture, x_alone)
    np.testing.assert_allclose(found, [0.2, -0.2], rtol=0.0, atol=1e-6)


def test_the_origin_alone_is_led_where_there_are_less_joints():
    arm = mixed()
    inverse, q = InverseKinematics(arm), np.array([0.3, -0.4, 0.5])
    pose = arm.link_pose(q, inverse.link)
    found = inverse.position(pose, q + np.array([0.2, 0.3, -0.2]), rows=slice(3, 6))
    np.testing.assert_allclose(arm.link_pose(found, inverse.link)[:3, 3], pose[:3, 3], rtol=0.0, atol=1e-8)


def test_a_pose_behind_a_limit_names_the_joint():
    limited = one('revolute', inside='<limit lower="-1" upper="1" velocity="1" effort="1"/>')
    pose = one().link_pose(np.array([1.2]), 'arm')
    with pytest.raises(
        ArgumentError, match=r"^'arm' does not reach the pose: .* 0\.2 rad away, with 'a' at a position lim"
    ):
        InverseKinematics(limited).position(pose, [0.5])
    assert InverseKinematics(one()).position(pose, [0.5]) == pytest.approx([1.2])


@pytest.mark.parametrize('limits', ['', 'lower="1" upper="-1"'], ids=['unknown', 'contradictory'])
def test_limits_that_are_none_bound_nothing(limits):
    arm = one('revolute', inside=f'<limit {limits} velocity="1" effort="1"/>')
    assert InverseKinematics(arm).position(arm.link_pose(np.array([1.7]), 'arm'), [0.5]) == pytest.approx([1.7])


def test_a_pose_beyond_reach_says_how_far_it_is():
    pose = AUBO.link_pose(BENT, AUBO.link_names[-1])
    pose[:3, 3] *= 5.0 / np.linalg.norm(pose[:3, 3])
    with pytest.raises(ArgumentError, match=r"^'wrist3_Link' does not reach the pose: .* [34]\.\d+ m and"):
        InverseKinematics(AUBO).position(pose, BENT)


def test_a_pose_in_the_lost_direction_of_a_stretched_arm_says_that_it_is_singular():
    """5 cm along the arm, which no joint moves there."""
    q = np.zeros(6)
    pose = AUBO.link_pose(q, AUBO.link_names[-1])
    pose[2, 3] -= 0.05
    with pytest.raises(
        ArgumentError, match=r' 0\.05 m and 0 rad away; the arm is singular there, as a stretched one is'
    ):
        InverseKinematics(AUBO).position(pose, q)


@pytest.mark.parametrize(
    ('pose', 'start', 'culprit'),
    [
        (np.eye(3), BENT, r'pose: expected shape \(4, 4\)'),
        (np.full((4, 4), np.nan), BENT, 'pose'),
        (np.diag([1.0, 1.0, -1.0, 1.0]), BENT, 'pose: expected a rotation matrix'),
        (2.0 * np.eye(4) - np.diag([1.0, 1.0, 1.0, 0.0]), BENT, 'pose: expected the last row 0 0 0 1'),
        (np.eye(4), BENT[:5], r'start: expected shape \(6,\)'),
    ],
)
def test_bad_arguments_are_named(pose, start, culprit):
    with pytest.raises(ArgumentError, match=culprit):
        InverseKinematics(AUBO).position(pose, start)


def test_robots_and_links_that_do_not_fit_are_refused():
    with pytest.raises(UnknownNameError, match='no_such_link'):
        InverseKinematics(AUBO, 'no_such_link')
    with pytest.raises(ArgumentError, match='one degree of freedom'):
        InverseKinematics(robot(link('base'), link('a', *BODY), joint('j', 'base', 'a', 'floating')))
    with pytest.raises(ModelError, match=r'inverse kinematics: not available for .* closed loops'):
        InverseKinematics(SEVEN.with_loops(MIMICKING.couplings))
