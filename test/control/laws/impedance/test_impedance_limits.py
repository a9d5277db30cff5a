"""A Cartesian impedance and the sampling period: the limit of stability, and what it is judged by."""

from support.controllers import driven_joints as driven
from support.matrices import crossed, matrix
from support.robots.small_robots import AUBO, joint, link, one, robot, seven_joints

import numpy as np
import pytest

from robot_dynamics_ros.control.laws.gain_limits import SamplingLimit
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianHold, Impedance
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.impedance_limits import LEAST_RATIO, ImpedanceLimit
from robot_dynamics_ros.errors import ArgumentError

pytestmark = pytest.mark.compiled  # long without
ARMS = {'six joints': AUBO, 'seven joints': seven_joints()}
STIFFNESS = [30.0, 30.0, 30.0, 800.0, 800.0, 800.0]


def impedance_of(arm, stiffness=STIFFNESS, posture=(0.0, 0.0), **more):
    return Impedance(stiffness, *(np.full(arm.nv, gain) for gain in posture), **more)


@pytest.mark.parametrize(('arm', 'reference_frame'), crossed(ARMS, ['local_world_aligned', 'local']))
def test_its_matrices_are_the_derivatives_of_the_torque(arm, reference_frame):
    arm = ARMS[arm]
    """D_q = -d tau / d qd, and without a posture K_q = -d tau / d q where the arm is where it is held."""
    for posture in ((0.0, 0.0), (0.0, 3.0)):
        impedance = impedance_of(arm, posture=posture, damping=np.full(6, 0.4), reference_frame=reference_frame)
        limit, law = ImpedanceLimit(arm, impedance), CartesianHold(arm, impedance, terms=())
        n = arm.nv
        q, still, out = np.array([0.3, -0.8, 1.1, 0.4, 0.9, 0.1, 0.5])[:n], np.zeros(n), np.empty(n)
        (K_q,), (D_q,), _ = limit._of_joints(q[None])
        for k, direction in enumerate(np.eye(n)):
            law.torque(q, direction, q, out)
            np.testing.assert_allclose(-out, D_q[:, k], rtol=1e-7, atol=1e-7 * np.abs(D_q).max())
            law.torque(q + 1e-6 * direction, still, q, out)
            np.testing.assert_allclose(-1e6 * out, K_q[:, k], rtol=1e-4, atol=1e-4 * np.abs(K_q).max())


def test_of_one_joint_it_is_that_of_the_joints_gains():
    """About z, where a rotational stiffness is that of the joint: D = 2 z sqrt(K I)."""
    arm = one()
    inertia, K = arm.mass_matrix(np.zeros(1))[0, 0], 40.0
    for ratio in (0.1, 0.7, 1.0):
        found = ImpedanceLimit(arm, impedance_of(arm, [0, 0, K, 0, 0, 0], damping_ratio=ratio))
        expected = SamplingLimit(arm, [K], [2.0 * ratio * np.sqrt(K * inertia)])
        assert found.period == pytest.approx(expected.period, rel=1e-6)


def radius(limit, positions, period):
    """Return the largest pole of the steps at positions (count, n)."""
    found = 0.0
    for K, D, M_inv in zip(*limit._of_joints(positions), strict=True):
        stiff, damped, every = M_inv @ K, M_inv @ D, np.eye(len(K))
        step = np.block(
            [
                [every - 0.5 * period**2 * stiff, period * every - 0.5 * period**2 * damped],
                [-period * stiff, every - period * damped],
            ]
        )
        found = max(found, np.abs(np.linalg.eigvals(step)).max())
    return found


@pytest.mark.parametrize('ratio', [0.7, 1.0, 0.2])
def test_sampled_control_is_stable_below_its_period_and_unstable_far_above(ratio):
    """The exact step of q and qd where the torque is held for a period, at 300 positions."""
    limit = ImpedanceLimit(AUBO.with_friction(viscous=0.0), impedance_of(AUBO, posture=(0.0, 2.0), damping_ratio=ratio))
    positions = np.random.default_rng(1).uniform(-2.5, 2.5, (300, 6))
    assert radius(limit, positions, 0.98 * limit.period) < 1.0 + 1e-9
    assert radius(limit, positions, 3.0 * limit.period) > 1.0


def test_without_stiffness_and_damping_every_period_is_within_the_limit():
    assert ImpedanceLimit(AUBO, impedance_of(AUBO, np.zeros(6))).period == np.inf
    assert ImpedanceLimit(AUBO, impedance_of(AUBO, np.zeros(6))).fault(1.0) == ''


def test_a_fault_says_what_to_change():
    soft = ImpedanceLimit(AUBO, impedance_of(AUBO))
    assert soft.fault(0.99 * soft.period) == ''
    said = soft.fault(1.01 * soft.period)
    assert said.startswith('translational_stiffness, rotational_stiffness, damping_ratio: at ')
    assert " is 2.02 for frame 'wrist3_Link', 100% of it by translational_stiffness" in said
    assert '; sampled control is unstable from 2 on; lower translational_stiffness, rotational_stiffness, da' in said
    lightly = ImpedanceLimit(AUBO.with_friction(viscous=0.0), impedance_of(AUBO, damping_ratio=0.01))
    assert 'raise the damping ratio' in lightly.fault(0.02)
    none = ImpedanceLimit(AUBO.with_friction(viscous=0.0), impedance_of(AUBO, damping_ratio=0.0))
    assert none.period == 0.0 and 'unstable at any rate' in none.fault(1e-6)


@pytest.mark.parametrize(
    ('more', 'culprit'),
    [
        ({'posture': (1.0, 9.0)}, 'damping'),
        ({'damping': [0.0, 0.0, 0.0, 900.0, 900.0, 900.0]}, 'translational_damping'),
        ({'damping': [9.0, 9.0, 9.0, 0.0, 0.0, 0.0]}, 'rotational_damping'),
        ({'wrench': CommandedWrench((9.0, 0.0), (1.0, 1.0))}, 'force_limit, moment_limit'),
    ],
)
def test_a_fault_names_what_damps_most(more, culprit):
    limit = ImpedanceLimit(seven_joints(), impedance_of(seven_joints(), **more))
    said = limit.fault(1.01 * limit.period)
    assert (
        said.startswith(f'{culprit}: at ') and f'% of it by {culprit}' in said and f'lower {culprit}, or use ' in said
    )
    # without it the limit is another one
    assert ImpedanceLimit(seven_joints(), impedance_of(seven_joints())).period > 1.2 * limit.period


OF_A_MECHANISM = {
    'translational_damping': {'damping': [0.0, 0.0, 0.0, 3e4, 3e4, 3e4]},
    'rotational_damping': {'damping': [9e4, 9e4, 9e4, 0.0, 0.0, 0.0]},
    'force_limit, moment_limit': {'wrench': CommandedWrench((9e5, 0.0), (0.1, 1.0))},
    'damping_ratio': {'rest_friction': 0.5},
}


@pytest.mark.parametrize('culprit', matrix(OF_A_MECHANISM, ['force_limit, moment_limit']))
def test_of_a_mechanism_it_is_named_too(culprit):
    """Some of the positions that are compared are out of reach of its loops."""
    arm = driven.arm('palletizer')
    limit = ImpedanceLimit(arm, impedance_of(arm, frame='forearm', **OF_A_MECHANISM[culprit]))
    assert limit.fault(1.01 * limit.period).startswith(f'{culprit}: at ')


def test_a_posture_with_too_little_damping_is_named():
    limit = ImpedanceLimit(seven_joints(), impedance_of(seven_joints(), posture=(5.0, 0.0)))
    assert limit.fault(1e-4).startswith('damping: a stiffness of joints without damping is unstable')
    limit = ImpedanceLimit(seven_joints(), impedance_of(seven_joints(), posture=(50.0, 0.05)))
    assert limit.fault(1.01 * limit.period).startswith('damping: at ')
    assert '; raise damping, lower stiffness, or use a rate above ' in limit.fault(1.01 * limit.period)


def test_a_joint_without_inertia_is_refused():
    arm = robot(link('base'), link('a'), joint('j', 'base', 'a'))
    with pytest.raises(ArgumentError, match='no inertia'):
        ImpedanceLimit(arm, impedance_of(arm))


@pytest.mark.parametrize(('arm', 'ratio'), crossed(ARMS, [LEAST_RATIO, 0.7]))
def test_the_limit_of_a_stiffness_holds_for_a_softer_one(arm, ratio):
    """What a stiffness that is lowered in motion relies on: the exact step is stable just below the period."""
    arm, rng = ARMS[arm], np.random.default_rng(4)
    for stated in (0.0, 2.0):
        more = {'posture': (1.0, 1.0), 'damping_ratio': ratio, 'damping': np.full(6, stated)}
        limit = ImpedanceLimit(arm, impedance_of(arm, **more))
        for softer in STIFFNESS * 10.0 ** rng.uniform(-4.0, 0.0, (8, 6)):
            limit._K, limit._G = np.diag(softer), np.diag(np.sqrt(softer))
            assert radius(limit, rng.uniform(-1.4, 1.4, (30, arm.nv)), 0.98 * limit.period) < 1.0 + 1e-9
