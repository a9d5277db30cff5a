"""Cartesian impedance: its equations by NumPy and SciPy, what they promise, and the same in MuJoCo."""

from support.robots.small_robots import AUBO, joint, link, one, robot, seven_joints

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Coupling
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.mimic_joints import MimicJoints
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import (
    NO_MASS,
    REFERENCE_FRAMES,
    SLACK,
    CartesianHold,
    CartesianImpedance,
    Impedance,
    check_posture,
)
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError

STIFFNESS = np.array([20.0, 30.0, 40.0, 500.0, 800.0, 1000.0])


ARMS = {
    'six joints': AUBO,
    'seven joints': seven_joints(),
    'a mimic joint': DrivenRobot(
        seven_joints(), MimicJoints(seven_joints(), [Coupling('joint_6', 'joint_4', (0.1, -0.5))])
    ),
}


def impedance_of(arm, stiffness=STIFFNESS, posture=(5.0, 1.0), **more):
    return Impedance(stiffness, *(np.full(arm.nv, gain) for gain in posture), **more)


def textbook(arm, impedance, q, qd, desired):
    """The law with matrix functions of SciPy, and the rotation error by its rotation vector."""
    q_d, qd_d, qdd_d = desired
    frame, n = impedance.frame or arm.link_names[-1], arm.nv
    J, M_inv = arm.jacobian(q, frame, impedance.reference_frame), np.linalg.inv(arm.mass_matrix(q))
    A, T, T_d = J @ M_inv @ J.T, arm.link_pose(q, frame), arm.link_pose(q_d, frame)
    turn = Rotation.from_matrix(T_d[:3, :3] @ T[:3, :3].T).as_rotvec()
    angle = np.linalg.norm(turn)
    e = [2.0 * np.sin(0.5 * angle) / angle * turn, T_d[:3, 3] - T[:3, 3]]
    if impedance.reference_frame == 'local':
        e = [T[:3, :3].T @ part for part in e]
    e = [np.clip(part, -limit, limit) for part, limit in zip(e, impedance.farthest, strict=True)]
    K = np.diag(impedance.stiffness)
    # the geometric mean of Lambda and K
    Lambda = np.linalg.inv(A)
    D = 2.0 * impedance.damping_ratio * np.real(Lambda @ sqrtm(A @ K)) + np.diag(impedance.damping)
    H = np.diag(SLACK * np.diag(A) + NO_MASS * np.trace(A))
    S = np.linalg.inv(A + H)
    N = np.eye(n) - M_inv @ J.T @ (S + S @ H @ S) @ J
    tau_0 = impedance.posture_stiffness * (q_d - q) + impedance.posture_damping * (N @ (qd_d - qd))
    force = K @ np.concatenate(e) + D @ J @ (qd_d - qd)
    return J.T @ force + N.T @ tau_0 + arm.inverse_dynamics(q, qd, qdd_d) + arm.friction_torque(qd_d)


@pytest.mark.parametrize('reference_frame', REFERENCE_FRAMES)
@pytest.mark.parametrize('arm', ARMS.values(), ids=ARMS)
def test_the_cartesian_impedance_is_that_of_the_textbook(arm, reference_frame):
    rng, n = np.random.default_rng(5), arm.nv
    impedance = impedance_of(
        arm, damping=np.full(6, 0.3), reference_frame=reference_frame, farthest=(0.4, 0.1), damping_ratio=0.8
    )
    law = CartesianImpedance(arm, impedance)
    for _ in range(40):
        q, qd, away, qd_d, qdd_d = rng.uniform(-1.4, 1.4, (5, n))
        desired, out = (q + 0.3 * away, qd_d, qdd_d), np.empty(n)
        law.torque(q, qd, desired, None, out)
        expected = textbook(arm, impedance, q, qd, desired)
        # matrix functions near a singular position have fewer digits
        np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_a_held_position_has_no_torque_but_gravitys_and_friction_is_not_compensated():
    q, out = np.array([0.3, -0.8, 1.1, 0.4, 0.9, 0.1]), np.empty(6)
    CartesianHold(AUBO, impedance_of(AUBO)).torque(q, np.zeros(6), q, out)
    np.testing.assert_allclose(out, AUBO.gravity_torque(q), atol=1e-9)
    CartesianHold(AUBO, impedance_of(AUBO), terms=['friction']).torque(q, np.zeros(6), q, out)
    np.testing.assert_allclose(out, 0.0, atol=1e-9)


@pytest.mark.parametrize('degrees', [1e-6, 10.0, 90.0, 170.0, 179.99, -179.99, -45.0])
def test_the_rotation_points_the_shorter_way_up_to_half_a_turn(degrees):
    """One joint about z: its torque is K 2 sin(t / 2)."""
    arm, angle, out = one(), np.radians(degrees), np.empty(1)
    law = CartesianHold(arm.with_gravity((0.0, 0.0, 0.0)), impedance_of(arm, [0, 0, 7.0, 0, 0, 0], (0.0, 0.0)))
    for whole in (0.0, 2.0 * np.pi, -4.0 * np.pi):
        law.torque(np.array([0.4]), np.zeros(1), np.array([0.4 + angle + whole]), out)
        assert out[0] == pytest.approx(7.0 * 2.0 * np.sin(0.5 * angle), rel=1e-6, abs=1e-12)
    law.torque(np.array([0.4]), np.zeros(1), np.array([0.4 + np.pi]), out)
    assert np.isfinite(out).all() and abs(out[0]) <= 14.1  # at half a turn either way is as short


@pytest.mark.parametrize('ratio', [0.3, 0.7, 1.0])
@pytest.mark.parametrize('arm', ARMS.values(), ids=ARMS)
def test_each_vibration_of_the_frame_has_the_damping_ratio(arm, ratio):
    """x'' = -A (K x + D x'): poles -z w +- w sqrt(z^2 - 1) for each w, whatever the position."""
    rng, n = np.random.default_rng(7), arm.nv
    law = CartesianHold(arm, impedance_of(arm, posture=(0.0, 0.0), damping_ratio=ratio))
    for _ in range(20):
        q = rng.uniform(-1.4, 1.4, n)
        J, M_inv = arm.jacobian(q, arm.link_names[-1]), np.linalg.inv(arm.mass_matrix(q))
        columns = np.empty((n, n))
        gravity = arm.gravity_torque(q)
        for k in range(n):  # J' D J, by the torque of unit velocities
            law.torque(q, np.eye(n)[k], q, columns[k])
        damped = gravity[:, None] - columns.T
        A = J @ M_inv @ J.T
        D = np.linalg.pinv(J.T) @ damped @ np.linalg.pinv(J)
        poles = np.linalg.eigvals(np.block([[np.zeros((6, 6)), np.eye(6)], [-A * STIFFNESS, -A @ D]]))
        frequencies = np.sqrt(np.linalg.eigvals(A * STIFFNESS).real)
        # s1 + s2 = -2 z w, s1 s2 = w^2
        assert poles.real.sum() == pytest.approx(-2.0 * ratio * frequencies.sum(), rel=1e-6)
        for w in frequencies:
            pole = w * (-ratio + 1j * np.sqrt(max(0.0, 1.0 - ratio**2)))
            # a double pole has half of the digits
            assert np.abs(poles - pole).min() < (1e-4 if ratio == 1.0 else 1e-7) * w * (1.0 + frequencies.max() / w)


def test_the_posture_does_not_move_the_frame():
    arm, rng = ARMS['seven joints'], np.random.default_rng(3)
    soft = impedance_of(arm, np.zeros(6), posture=(10.0, 2.0))
    law, still, out = CartesianImpedance(arm, soft, terms=()), np.zeros(7), np.empty(7)
    for _ in range(20):
        q, away = rng.uniform(0.3, 1.2, (2, 7))
        law.hold(q, still, q + 0.1 * away, out)
        J, M_inv = arm.jacobian(q, arm.link_names[-1]), np.linalg.inv(arm.mass_matrix(q))
        free = J @ M_inv @ (10.0 * 0.1 * away)
        assert np.abs(J @ M_inv @ out).max() < 0.01 * np.abs(free).max()
        assert np.abs(out).max() > 0.01  # and yet it acts


@pytest.mark.parametrize('arm', ARMS.values(), ids=ARMS)
def test_a_direction_without_stiffness_has_no_damping_but_the_stated_one(arm):
    rng, out = np.random.default_rng(11), np.empty(arm.nv)
    for stated in (0.0, 20.0):
        damping = np.array([0.0, 0.0, 0.0, 0.0, 0.0, stated])
        free = impedance_of(arm, [*STIFFNESS[:5], 0.0], posture=(0.0, 0.0), damping=damping)
        law = CartesianHold(arm, free, terms=())
        for _ in range(10):
            q = rng.uniform(0.3, 1.2, arm.nv)
            J = arm.jacobian(q, arm.link_names[-1])
            upwards = np.linalg.pinv(J)[:, 5].copy()  # J qd = 1 m/s along z alone
            law.torque(q, upwards, q, out)
            np.testing.assert_allclose(out, -stated * J[5], atol=1e-6)


@pytest.mark.parametrize('joints', [1, 2, 3])
def test_an_arm_that_cannot_move_in_all_directions_has_finite_torques(joints):
    parts = [link('base')]
    for k in range(joints):
        before = f'link_{k - 1}' if k else 'base'
        parts += [link(f'link_{k}', 1.0, '0.2 0 0', (0.1, 0, 0, 0.1, 0, 0.1)), joint(f'j{k}', before, f'link_{k}')]
    arm, out = robot(*parts), np.empty(joints)
    law = CartesianHold(arm, impedance_of(arm))
    for q in (np.zeros(joints), np.full(joints, 0.7)):
        law.torque(q, np.full(joints, 0.3), q + 0.1, out)
        assert np.isfinite(out).all()


def test_at_a_singular_position_torques_are_finite_and_the_damping_is_bounded():
    q, out = np.zeros(6), np.empty(6)  # stretched
    law = CartesianHold(AUBO, impedance_of(AUBO))
    largest = 0.0
    for bend in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        law.torque(q + bend, np.full(6, 0.1), q + 0.01, out)
        largest = max(largest, np.abs(out - AUBO.gravity_torque(q)).max())
    assert np.isfinite(largest) and largest < 100.0


def test_joints_that_do_not_move_the_frame_need_gains_of_their_own():
    loose = impedance_of(AUBO, posture=(0.0, 0.0), frame='wrist1_Link')
    for posture in ([0, 0, 0, 0, 0, 0], [5, 5, 5, 5, 0, 5], [5, 5, 5, 5, 5, 5]):
        for gains in ((posture, np.ones(6)), (np.ones(6), posture)):
            part = loose._replace(posture_stiffness=np.array(gains[0]), posture_damping=np.array(gains[1]))
            names = [name for name, gain in zip(AUBO.joint_names[4:], posture[4:], strict=True) if not gain]
            if names:
                said = f"'wrist1_Link' is not moved by {', '.join(map(repr, names))}, which nothing would hold"
                with pytest.raises(ArgumentError, match=said):
                    check_posture(AUBO, part.frame, part.posture_stiffness, part.posture_damping)
            else:
                check_posture(AUBO, part.frame, part.posture_stiffness, part.posture_damping)
    check_posture(AUBO, '', loose.posture_stiffness, loose.posture_damping)


def test_what_is_wrong_with_an_impedance_is_named():
    for changed, culprit in (
        ({'stiffness': [1.0] * 5}, 'stiffness: expected six finite numbers'),
        ({'stiffness': [1.0, 1.0, 1.0, -1.0, 1.0, 1.0]}, 'stiffness: expected a matrix without negative'),
        ({'stiffness': np.triu(np.ones((6, 6)))}, 'stiffness: expected a symmetric matrix'),
        ({'damping': [np.nan] * 6}, 'damping: expected six finite numbers'),
        ({'damping_ratio': -0.1}, 'damping_ratio: expected at least 0'),
        ({'posture_stiffness': [1.0]}, 'posture_stiffness: expected 6 numbers'),
        ({'farthest': (0.0, 1.0)}, 'farthest: expected two positive numbers'),
        ({'reference_frame': 'world'}, 'reference_frame: '),
    ):
        with pytest.raises(ArgumentError, match=f'^{culprit}'):
            CartesianImpedance(AUBO, impedance_of(AUBO)._replace(**changed))
    with pytest.raises(UnknownNameError, match='nose'):
        CartesianImpedance(AUBO, impedance_of(AUBO)._replace(frame='nose'))
