"""Springs that are stiffer at rest: their equation, what they promise to joints with friction, and arms in MuJoCo."""

from support.control.impedance_plant import ImpedancePlant
from support.matrices import matrix
from support.robots.small_robots import AUBO, seven_joints

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import (
    REFERENCE_FRAMES,
    CartesianHold,
    CartesianImpedance,
    Impedance,
)
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.impedance_limits import ImpedanceLimit
from robot_dynamics_ros.control.laws.impedance.rest_friction import LARGEST_SHARE
from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.errors import ArgumentError

SHARE = 0.8
COULOMB, TRANSITION = np.array(AUBO.friction.coulomb), np.array(AUBO.friction.transition)
HELD, FRAME = np.array([0.3, -0.8, 1.1, 0.4, 0.9, 0.1]), AUBO.link_names[-1]
STIFFNESS = np.array([20.0, 30.0, 40.0, 500.0, 800.0, 1000.0])
FREE = np.array([20.0, 0.0, 0.0, 500.0, 0.0, 1000.0])
COUPLED = AUBO.with_actuators({'motor_coupling': {'wrist3_joint': {'wrist2_joint': 1.0}}})


def impedance_of(arm, share, stiffness=STIFFNESS, posture_damping=0.0, **more):
    return Impedance(stiffness, np.zeros(arm.nv), np.full(arm.nv, posture_damping), rest_friction=share, **more)


def pull_of(q, q_desired, stiffness, reference_frame):
    """Return J' K e with the rotation error by its rotation vector."""
    T, T_d = AUBO.link_pose(q, FRAME), AUBO.link_pose(q_desired, FRAME)
    turn = Rotation.from_matrix(T_d[:3, :3] @ T[:3, :3].T).as_rotvec()
    angle = np.linalg.norm(turn)
    R = T[:3, :3] if reference_frame == 'local' else np.eye(3)
    e = np.concatenate([R.T @ (2.0 * np.sin(0.5 * angle) / angle * turn), R.T @ (T_d - T)[:3, 3]])
    return AUBO.jacobian(q, FRAME, reference_frame).T @ (stiffness * e)


def added(share, stiffness=STIFFNESS, reference_frame='local_world_aligned'):
    """Return a function of (q, qd, desired): what the share adds to the torque."""
    given = {'stiffness': stiffness, 'reference_frame': reference_frame}
    laws = [CartesianImpedance(AUBO, impedance_of(AUBO, c, **given)) for c in (share, 0.0)]

    def of(q, qd, desired):
        out = np.empty((2, 6))
        for law, row in zip(laws, out, strict=True):
            law.torque(q, qd, desired, None, row)
        return out[0] - out[1]

    return of


@pytest.mark.parametrize('stiffness', [STIFFNESS, FREE], ids=['held', 'free axes'])
@pytest.mark.parametrize('reference_frame', REFERENCE_FRAMES)
def test_springs_are_as_much_stiffer_as_the_equation_says(reference_frame, stiffness):
    rng, of = np.random.default_rng(3), added(SHARE, stiffness, reference_frame)
    for size in 10.0 ** rng.uniform(-5.0, -1.0, 30):
        q, qd = HELD + rng.uniform(-0.3, 0.3, 6), rng.uniform(-0.3, 0.3, 6)
        desired = q + size * rng.standard_normal(6), rng.normal(0.0, 0.02, 6), rng.normal(0.0, 1.0, 6)
        u = pull_of(q, desired[0], stiffness, reference_frame)
        # the sine of the angle with the tangent qd_d / v_s
        led = np.abs(np.sin(np.arctan(desired[1] / TRANSITION))).max()
        expected = SHARE * (1.0 - led) / np.hypot(np.linalg.norm(u / COULOMB), 0.1) * u
        np.testing.assert_allclose(of(q, qd, desired), expected, atol=1e-8)


@pytest.mark.parametrize('share', [0.1, SHARE, LARGEST_SHARE])
def test_with_the_friction_of_the_motion_it_is_less_than_the_friction_whatever_pulls(share):
    """So joints that have this friction are given no energy; and it pushes nothing that the springs do not."""
    rng, of = np.random.default_rng(4), added(share)
    for size in 10.0 ** rng.uniform(-9.0, 0.0, 100):
        q, qd = HELD + rng.uniform(-0.3, 0.3, 6), rng.uniform(-1.0, 1.0, 6)
        q_desired, moving = q + size * rng.standard_normal(6), rng.normal(0.0, 0.03, 6)
        assert (np.abs(of(q, qd, (q_desired, np.zeros(6), np.zeros(6)))) <= share * COULOMB + 1e-8).all()
        friction = COULOMB * moving / np.sqrt(moving**2 + TRANSITION**2)
        whole = friction + of(q, qd, (q_desired, moving, np.zeros(6)))
        assert (np.abs(whole) <= COULOMB + 1e-8).all()
    np.testing.assert_allclose(of(HELD, qd, (HELD, np.zeros(6), np.zeros(6))), 0.0, atol=1e-9)


def test_a_wrench_that_is_commanded_stays_as_it_is():
    out = np.empty((2, 6))
    for share, row in zip((SHARE, 0.0), out, strict=True):
        wrench = CommandedWrench((5.0, 40.0), (1.0, 1.0))
        wrench.want([0.0, 0.0, 0.0, 0.0, 0.0, -20.0], False, 0.0)
        wrench.elapse(9.0, 0.0)
        CartesianHold(AUBO, impedance_of(AUBO, share, wrench=wrench)).torque(HELD, np.zeros(6), HELD, row)
    np.testing.assert_allclose(*out, atol=1e-8)


@pytest.mark.compiled  # long without
def test_the_limit_of_sampling_counts_how_stiff_they_are_at_rest():
    """K_q of the second condition, by the derivative of the torque where the arm is where it is held."""
    law, out = CartesianHold(AUBO, impedance_of(AUBO, SHARE), terms=('friction',)), np.empty(6)
    limit, without = (ImpedanceLimit(AUBO, impedance_of(AUBO, c)) for c in (SHARE, 0.0))
    (K_q,), _, _ = without._of_joints(HELD[None])
    for k, direction in enumerate(np.eye(6)):
        law.torque(HELD + 1e-6 * direction, np.zeros(6), HELD, out)
        np.testing.assert_allclose(-1e6 * out, 9.0 * K_q[:, k], rtol=1e-3, atol=1e-3 * np.abs(K_q).max())
    assert limit.period < without.period
    said = limit.fault(1.01 * limit.period)
    assert ' half of stiffness times period (stiffness 9 times for rest_friction_share) is 1.01 of the dam' in said
    assert '; raise the damping ratio, lower rest_friction_share or the stiffness, or use a rate above ' in said


@pytest.mark.compiled  # long without
@pytest.mark.parametrize('arm', [AUBO, seven_joints()], ids=['six joints', 'seven joints'])
def test_below_the_limit_it_is_stable_without_any_friction_for_softer_springs_too(arm):
    """The exact step of a sampled arm at rest, at 30 positions for each stiffness."""
    rng, arm = np.random.default_rng(5), arm.with_friction(coulomb=3.0, viscous=0.0)
    for damping in (0.0, 5.0):
        limit = ImpedanceLimit(arm, impedance_of(arm, SHARE, posture_damping=1.0, damping=np.full(6, damping)))
        n, T = arm.nv, 0.98 * limit.period
        for softer in STIFFNESS * 10.0 ** rng.uniform(-3.0, 0.0, (8, 6)):
            limit._K, limit._G = np.diag(softer), np.diag(np.sqrt(softer))
            for K, D, M_inv in zip(*limit._of_joints(rng.uniform(-1.4, 1.4, (30, n))), strict=True):
                stiff, damped, every = 9.0 * M_inv @ K, M_inv @ D, np.eye(n)
                rows = [every - 0.5 * T * T * stiff, T * every - 0.5 * T * T * damped], [-T * stiff, every - T * damped]
                assert np.abs(np.linalg.eigvals(np.block(list(rows)))).max() < 1.0 + 1e-9


@pytest.mark.compiled  # long without
def test_only_the_damping_ratio_counts_against_springs_that_are_stiffer_at_rest():
    alone = ImpedanceLimit(AUBO.with_friction(viscous=0.0), impedance_of(AUBO, SHARE))
    damped = ImpedanceLimit(AUBO, impedance_of(AUBO, SHARE, damping=np.full(6, 5.0)))
    assert damped._spring == pytest.approx(alone._spring, rel=0.05)  # its worst positions are others
    assert ImpedanceLimit(AUBO, impedance_of(AUBO, 0.0))._spring < alone._spring / 9.0
    # without one the stated damping does
    stated = impedance_of(AUBO, SHARE, damping_ratio=0.0, damping=np.full(6, 50.0))
    assert 0.0 < ImpedanceLimit(AUBO, stated).period < np.inf


@pytest.mark.parametrize(
    ('robot', 'share', 'terms', 'reason'),
    [
        (AUBO, 0.95, TERMS, 'rest_friction_share: expected a number from 0 to 0.9, got 0.95'),
        (AUBO, -0.1, TERMS, 'rest_friction_share: expected a number from 0 to 0.9, got -0.1'),
        (AUBO, np.nan, TERMS, 'rest_friction_share: expected a number from 0 to 0.9, got nan'),
        (AUBO, 0.5, ('gravity',), 'rest_friction_share: friction is no term of the compensation'),
        (
            AUBO.with_friction(coulomb=np.where(np.arange(6) == 2, 0.0, COULOMB)),
            *(0.5, TERMS, "rest_friction_share: no Coulomb friction is stated for 'foreArm_joint'"),
        ),
        (COUPLED, 0.5, TERMS, 'rest_friction_share: motors of this robot move several joints'),
    ],
)
def test_what_is_wrong_is_named(robot, share, terms, reason):
    with pytest.raises(ArgumentError, match=reason):
        CartesianHold(robot, impedance_of(robot, share), terms)


def pushed(share, friction, axis):
    """Push an arm in MuJoCo by 60 N along an axis for 1 s; return how far it is away 4 s later (m), and its speed."""
    law = CartesianHold(AUBO, impedance_of(AUBO, share, np.repeat([30.0, 800.0], 3)))
    plant, push = ImpedancePlant(AUBO, law, HELD), np.zeros(6)
    plant.model.dof_frictionloss[:] = friction
    push[3 + axis] = 60.0
    for _ in range(1000):
        plant.step(push)
    for _ in range(4000):
        plant.step()
    away, before = np.linalg.norm(plant.error()[3:]), np.array(plant.data.qpos)
    for _ in range(500):
        plant.step()
    return away, np.abs(plant.data.qpos - before).max() / 0.5


@pytest.mark.compiled
@pytest.mark.parametrize('axis', matrix(range(3), [0]))
def test_an_arm_that_was_pushed_comes_back_and_rests_also_where_it_has_less_friction(axis):
    for friction in (COULOMB, 0.5 * COULOMB):
        (without, _), (away, speed) = (pushed(share, friction, axis) for share in (0.0, SHARE))
        assert away < 0.4 * without and speed < 0.02
    away, speed = pushed(SHARE, 0.0, axis)
    assert away < 1e-4 and speed < 1e-3
