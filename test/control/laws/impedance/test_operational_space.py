"""Operational-space control: its equations by NumPy and Pinocchio, and what they promise of the frame's error."""

import functools

from support.robots.small_robots import AUBO, seven_joints

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Coupling, Payload
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.mimic_joints import MimicJoints
from robot_dynamics_ros.control.laws.impedance.operational_space import (
    OperationalSpace,
    OperationalSpaceControl,
    OperationalSpaceHold,
    SingularDirections,
)
from robot_dynamics_ros.control.laws.impedance.operational_space_limits import OperationalSpaceLimit
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.formats.library import named_urdf

BENT = np.array([0.1, -0.7, 0.9, -0.1, 0.8, 0.0])
STRETCHED = np.zeros(6)
ARMS = {
    'six joints': AUBO,
    'seven joints': seven_joints(),
    'a mimic joint': DrivenRobot(
        seven_joints(), MimicJoints(seven_joints(), [Coupling('joint_6', 'joint_4', (0.1, -0.5))])
    ),
}
NEVER = 1e12
"""Largest mass that no direction reaches, kg."""


def settings_of(arm, bandwidth=12.0, posture=(5.0, 1.0), **more) -> OperationalSpace:
    return OperationalSpace(bandwidth, *(np.full(arm.nv, gain) for gain in posture), **{'largest_mass': NEVER, **more})


def textbook(arm, settings, q, qd, desired, M, J):
    """The law with inverse matrices, and the rotation error by its rotation vector."""
    q_d, qd_d, qdd_d = desired
    frame, w, z = settings.frame or arm.link_names[-1], settings.bandwidth, settings.damping_ratio
    T, T_d, M_inv = arm.link_pose(q, frame), arm.link_pose(q_d, frame), np.linalg.inv(M)
    turn = Rotation.from_matrix(T_d[:3, :3] @ T[:3, :3].T).as_rotvec()
    angle = np.linalg.norm(turn)
    e = np.concatenate([2.0 * np.sin(0.5 * angle) / angle * turn, T_d[:3, 3] - T[:3, 3]])
    e = np.clip(e, *(sign * np.repeat(settings.farthest, 3) for sign in (-1.0, 1.0)))
    inertia = np.linalg.inv(J @ M_inv @ J.T)
    N = np.eye(arm.nv) - M_inv @ J.T @ inertia @ J
    de = qd_d - qd
    tau_0 = settings.posture_stiffness * (q_d - q) + settings.posture_damping * (N @ de)
    force = inertia @ (w * w * e + 2.0 * z * w * J @ de)
    return J.T @ force + N.T @ tau_0 + arm.inverse_dynamics(q, qd, qdd_d) + arm.friction_torque(qd_d)


@pytest.mark.parametrize('arm', ARMS.values(), ids=ARMS)
def test_operational_space_control_is_that_of_the_textbook(arm):
    rng, n = np.random.default_rng(5), arm.nv
    settings = settings_of(arm, damping_ratio=0.8, farthest=(0.4, 0.1))
    law = OperationalSpaceControl(arm, settings)
    for _ in range(40):
        q, qd, away, qd_d, qdd_d = rng.uniform(-1.4, 1.4, (5, n))
        desired, out = (q + 0.3 * away, qd_d, qdd_d), np.empty(n)
        law.torque(q, qd, desired, None, out)
        M, J = arm.mass_matrix(q), arm.jacobian(q, arm.link_names[-1])
        expected = textbook(arm, settings, q, qd, desired, M, J)
        # inverse matrices near a singular position have fewer digits
        np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_it_is_that_of_a_mass_matrix_and_a_jacobian_of_pinocchio():
    pin = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
    model = pin.buildModelFromXML(named_urdf('aubo_i5').read_text())
    data, arm = model.createData(), AUBO.with_actuators({'rotor_inertia': dict.fromkeys(AUBO.joint_names, 0.0)})
    settings, rng = settings_of(arm, frame='ee_link'), np.random.default_rng(6)
    law, frame = OperationalSpaceControl(arm, settings), model.getFrameId('ee_link')
    for _ in range(20):
        q, qd, away, qd_d, qdd_d = rng.uniform(-1.0, 1.0, (5, 6))
        q = q + BENT
        desired, out = (q + 0.2 * away, qd_d, qdd_d), np.empty(6)
        law.torque(q, qd, desired, None, out)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)[[3, 4, 5, 0, 1, 2]]
        expected = textbook(arm, settings, q, qd, desired, M, J)
        np.testing.assert_allclose(out, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@functools.cache
def frictionless():
    return AUBO.with_friction(viscous=0.0, coulomb=0.0, offset=0.0)


@pytest.mark.parametrize('axis', range(6))
def test_an_error_in_each_direction_vibrates_with_the_bandwidth_and_the_damping_ratio(axis):
    """A frame that is held 4 mm or 4 mrad away comes back as the solution of its equation says."""
    arm, w, z, step = frictionless(), 15.0, 0.7, 1e-3
    law = OperationalSpaceHold(arm, settings_of(arm, w, (0.0, 0.0), damping_ratio=z, frame='ee_link'))
    change = np.zeros(6)
    change[axis] = 0.004
    held = BENT + np.linalg.solve(arm.jacobian(BENT, 'ee_link'), change)
    q, qd, out, errors = BENT.copy(), np.zeros(6), np.empty(6), []
    T_d = arm.link_pose(held, 'ee_link')
    for _ in range(400):
        T = arm.link_pose(q, 'ee_link')
        turn = Rotation.from_matrix(T_d[:3, :3] @ T[:3, :3].T).as_rotvec()
        errors.append([*turn, *(T_d[:3, 3] - T[:3, 3])])
        law.torque(q, qd, held, out)
        qd = qd + step * arm.forward_dynamics(q, qd, out)
        q = q + step * qd
    t, damped = step * np.arange(400), w * np.sqrt(1.0 - z * z)
    decay = np.exp(-z * w * t) * (np.cos(damped * t) + z * w / damped * np.sin(damped * t))
    expected = np.outer(decay, errors[0])
    assert np.abs(errors - expected).max() < 0.02 * 0.004  # of the step by step simulation


def test_the_posture_does_not_accelerate_the_frame():
    arm, rng = seven_joints(), np.random.default_rng(8)
    with_posture, without = (
        OperationalSpaceControl(arm, settings_of(arm, posture=posture)) for posture in ((20.0, 3.0), (0.0, 0.0))
    )
    for _ in range(20):
        q, qd, away, qd_d, qdd_d = rng.uniform(-1.2, 1.2, (5, 7))
        outs = np.empty((2, 7))
        for law, out in zip((with_posture, without), outs, strict=True):
            law.torque(q, qd, (q + 0.2 * away, qd_d, qdd_d), None, out)
        accelerations = [np.linalg.solve(arm.mass_matrix(q), out) for out in outs]
        J, posture = arm.jacobian(q, arm.link_names[-1]), accelerations[0] - accelerations[1]
        assert np.abs(J @ posture).max() < 1e-6 * np.abs(posture).max()
        assert np.abs(posture).max() > 0.1


def test_at_a_singular_position_the_frame_is_pushed_as_if_it_had_the_largest_mass():
    settings, out = settings_of(AUBO, 10.0, (0.0, 0.0), frame='ee_link', largest_mass=50.0), np.empty(6)
    held = np.array([0.0, 0.02, 0.0, 0.0, 0.02, 0.0])
    OperationalSpaceControl(AUBO, settings).hold(STRETCHED, np.zeros(6), held, out)
    J, M_inv = AUBO.jacobian(STRETCHED, 'ee_link'), np.linalg.inv(AUBO.mass_matrix(STRETCHED))
    inertia = settings.inertia(J, M_inv)
    masses = np.linalg.eigvalsh(inertia / np.outer(*[np.repeat([0.2, 1.0], 3)] * 2))
    assert masses[-1] == pytest.approx(50.0) and masses[0] < 5.0
    T, T_d = (AUBO.link_pose(q, 'ee_link') for q in (STRETCHED, held))
    turn = Rotation.from_matrix(T_d[:3, :3] @ T[:3, :3].T).as_rotvec()
    expected = 100.0 * J.T @ inertia @ [*turn, *(T_d[:3, 3] - T[:3, 3])]
    assert out - AUBO.gravity_torque(STRETCHED) == pytest.approx(expected, rel=1e-3)
    assert np.abs(expected).max() > 1.0


def test_a_payload_makes_no_gain_higher_where_the_inertia_is_that_of_the_arm_alone():
    loaded, outs = AUBO.with_payload(Payload(5.0, (0.15, 0.0, 0.1), 0.05 * np.eye(3))), np.empty((2, 6))
    settings, away = settings_of(AUBO, frame='ee_link'), BENT + 0.02
    for arm, out in zip((AUBO, loaded), outs, strict=True):
        OperationalSpaceControl(arm, settings, unloaded=AUBO).hold(BENT, np.zeros(6), away, out)
        out -= arm.gravity_torque(BENT)
    np.testing.assert_allclose(outs[0], outs[1], rtol=1e-9)
    OperationalSpaceControl(loaded, settings).hold(BENT, np.zeros(6), away, outs[1])
    assert np.abs(outs[1] - loaded.gravity_torque(BENT)).max() > 1.5 * np.abs(outs[0]).max()


def test_near_a_singular_position_a_warning_names_the_mass():
    settings = settings_of(AUBO, frame='ee_link', largest_mass=100.0)
    singular, out = SingularDirections(AUBO, settings), np.empty(6)
    assert not singular.warning(), 'nothing is known yet'
    law = OperationalSpaceControl(AUBO, settings, light=singular.light)
    for q, said in ((BENT, ''), (STRETCHED, "'ee_link' is heavier than largest_mass (100 kg) in "), (BENT, '')):
        law.hold(q, np.zeros(6), q, out)
        assert singular.warning().startswith(said) and bool(singular.warning()) == bool(said)


def test_an_arm_that_cannot_turn_its_frame_has_no_warning_for_that():
    arm = AUBO.chain(None, 'foreArm_Link', None)
    settings = settings_of(arm, largest_mass=1000.0)
    singular, out = SingularDirections(arm, settings), np.empty(arm.nv)
    law = OperationalSpaceControl(arm, settings, light=singular.light)
    q = np.array([0.3, -0.7, 0.9])
    law.hold(q, np.zeros(3), q, out)
    assert not singular.warning() and singular.light[0] == 3.0


@pytest.mark.parametrize(
    ('changed', 'said'),
    [
        ({'bandwidth': 0.0}, 'bandwidth'),
        ({'damping_ratio': -1.0}, 'damping_ratio'),
        ({'largest_mass': 0.0}, 'largest_mass'),
        ({'farthest': (0.0, 1.0)}, 'farthest: expected two positive numbers'),
        ({'posture_damping': [1.0]}, 'posture_damping'),
    ],
)
def test_a_wrong_number_is_named(changed, said):
    with pytest.raises(ArgumentError, match=said):
        OperationalSpaceControl(AUBO, settings_of(AUBO)._replace(**changed))


def test_an_unknown_frame_is_named():
    with pytest.raises(UnknownNameError, match='hand'):
        OperationalSpaceControl(AUBO, settings_of(AUBO, frame='hand'))


@pytest.mark.compiled
def test_the_limit_of_sampling_is_that_of_the_bandwidth_at_every_position_and_that_of_the_posture():
    limit = OperationalSpaceLimit(frictionless(), settings_of(AUBO, 10.0, (0.0, 0.0), damping_ratio=0.7))
    assert limit.period == pytest.approx(2.0 / 14.0, rel=1e-3)
    assert not limit.fault(0.14) and limit.fault(0.15).startswith('bandwidth: at 6.667 Hz damping times period')
    soft = OperationalSpaceLimit(frictionless(), settings_of(AUBO, 10.0, (0.0, 0.0), damping_ratio=0.2))
    assert soft.period == pytest.approx(4.0 * 0.2 / 10.0, rel=1e-3)
    assert soft.fault(0.1).startswith('damping_ratio: at 10 Hz half of stiffness times period is 1.25')
    stiff = OperationalSpaceLimit(seven_joints(), settings_of(seven_joints(), 10.0, (5.0, 20.0)))
    assert stiff.period < 0.05 and stiff.fault(0.05).startswith('damping: at 20 Hz damping times period')
    loose = OperationalSpaceLimit(seven_joints(), settings_of(seven_joints(), 10.0, (5.0, 0.0)))
    assert loose.fault(1e-6).startswith('damping: a stiffness of joints without damping is unstable at any rate')


@pytest.mark.compiled
@pytest.mark.parametrize('share', [0.9, 1.1])
def test_below_the_limit_of_sampling_a_free_arm_is_stable_and_above_it_is_not(share):
    """A torque that is held over each period, with an integration in ten steps."""
    arm = frictionless()
    settings = settings_of(arm, 10.0, (0.0, 0.0), damping_ratio=1.0, frame='ee_link')
    law, period = OperationalSpaceHold(arm, settings), share * OperationalSpaceLimit(arm, settings).period
    q, qd, out, speeds = BENT + 1e-4, np.zeros(6), np.empty(6), []
    for _ in range(60):
        law.torque(q, qd, BENT, out)
        for _ in range(10):
            qd = qd + 0.1 * period * arm.forward_dynamics(q, qd, out)
            q = q + 0.1 * period * qd
        speeds.append(np.abs(qd).max())
        if speeds[-1] > 1.0:
            break
    assert (max(speeds[-10:]) < max(speeds[:10])) == (share < 1.0)
