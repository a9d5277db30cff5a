"""Soft position limits: what their springs do to a joint, by NumPy, by energy and in MuJoCo."""

from support.control.impedance_plant import ImpedancePlant
from support.robots.small_robots import AUBO, mixed, one

import numpy as np
import pytest

from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianHold, Impedance
from robot_dynamics_ros.control.laws.impedance.impedance_limits import ImpedanceLimit
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits
from robot_dynamics_ros.errors import ArgumentError

STILL = np.zeros(6)


def hold_of(arm, soft_limits, stiffness=STILL):
    """Return a law that holds the frame, and no posture."""
    return CartesianHold(arm, Impedance(stiffness, *np.zeros((2, arm.nv)), soft_limits=soft_limits))


def pushing(arm, soft_limits):
    """Return the torque of the springs alone (n), as a function of q and qd."""
    law, without, out, less = hold_of(arm, soft_limits), hold_of(arm, None), *np.empty((2, arm.nv))

    def push(q, qd):
        law.torque(q, qd, q, out)
        without.torque(q, qd, q, less)
        return out - less

    return push


ONE = one('revolute', inside='<limit lower="-1" upper="1.5" effort="100" velocity="10"/>')


def test_soft_limits_push_as_their_equation_says():
    arm, rng, distance, torque = AUBO, np.random.default_rng(2), 0.5, np.linspace(5.0, 20.0, 6)
    soft, seen = SoftLimits(arm, [distance], torque), set()
    push = pushing(arm, soft)
    for _ in range(200):
        q = rng.uniform(arm.limits.lower - 0.3, arm.limits.upper + 0.3)
        qd = rng.uniform(-1.0, 1.0, arm.nv)
        m, K = 1.0 / np.diag(np.linalg.inv(arm.mass_matrix(q))), torque / distance
        D = 2.0 * np.sqrt(K * m)
        above, below = q - arm.limits.upper + distance, arm.limits.lower + distance - q
        expected = np.clip(K * below - D * qd, 0.0, torque) - np.clip(K * above + D * qd, 0.0, torque)
        soft.lower[:], soft.upper[:] = soft.lowest, soft.uppermost  # as where the arm was between them before
        np.testing.assert_allclose(push(q, qd), expected, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(soft.push, expected, rtol=0.0, atol=1e-9)
        seen |= set(np.where(np.abs(expected) == torque, 2.0, 1.0) * np.sign(expected))
    assert seen == {-2.0, -1.0, 0.0, 1.0, 2.0}


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_joint_that_is_first_held_within_the_distance_is_not_pushed_out(sign):
    soft, still = SoftLimits(ONE, [0.4], [15.0]), np.zeros(1)
    push = pushing(ONE, soft)
    limit, damping = (ONE.limits.upper if sign > 0.0 else ONE.limits.lower), soft.damping(1.0 / ONE.mass_matrix(still))

    def torque(beyond, velocity=0.0):
        """Where the joint is so far beyond its limit."""
        return sign * float(push(limit + sign * beyond, np.array([sign * velocity]))[0])

    K = 15.0 / 0.4
    assert torque(-0.1) == 0.0  # the spring begins 0.04 further
    assert torque(-0.1, -0.5) == torque(-0.1, 0.5) == 0.0  # as by noise
    for gone, share in ((0.01, 0.25), (0.02, 0.5), (0.04, 1.0), (0.05, 1.0)):
        assert torque(-0.1 + gone, -0.5) == 0.0
        assert torque(-0.1 + gone, 0.5) == pytest.approx(min(0.0, -0.5 * share * damping[0] + (0.04 - gone) * K))
    assert torque(0.0) == pytest.approx(-0.06 * K)
    # it follows the joint out, up to its place
    for beyond in (-0.2, -0.3, -0.39, -0.41, -0.9):
        assert torque(beyond) == 0.0
    assert torque(-0.3) == pytest.approx(-0.1 * K) and torque(0.2) == pytest.approx(-15.0)
    soft.begin_anew()
    assert torque(0.2) == 0.0 and torque(0.3) == pytest.approx(-0.06 * K)


def test_springs_of_another_description_begin_where_those_before_did():
    before, after = SoftLimits(AUBO, [0.3], [5.0]), SoftLimits(AUBO, [0.2], [5.0])
    before.lower[:], before.upper[:] = -2.9, [2.7, 2.8, 2.9, 3.0, 3.1, np.nan]
    after.continue_from(before)
    edge = AUBO.limits.upper[0] - 0.2
    assert after.lower.tolist() == [-2.9] * 6
    np.testing.assert_allclose(after.upper, [edge, edge, 2.9, 3.0, 3.1, np.nan])


@pytest.mark.compiled  # long without
def test_soft_limits_give_back_no_more_than_they_took():
    """Work along random motions that begin and end at one position, to and fro across both limits."""
    push = pushing(ONE, SoftLimits(ONE, [0.4], [15.0]))
    rng, t = np.random.default_rng(6), np.linspace(0.0, 2.0 * np.pi, 2001)
    for _ in range(10):
        amplitudes, phases = rng.uniform(-1.5, 1.5, 4), rng.uniform(0.0, 6.0, 4)
        q = 0.25 + sum(
            a * np.sin(k * t + phase) for k, (a, phase) in enumerate(zip(amplitudes, phases, strict=True), 1)
        )
        q += 0.25 - q[0]  # between both springs
        middles, steps, taken = 0.5 * (q[:-1] + q[1:]), np.diff(q), 0.0
        for middle, step in zip(middles, steps, strict=True):
            taken -= step * push(np.array([middle]), np.array([step / t[1]]))[0]
            assert taken > -1e-3
        assert taken > 1.0


def settled(arm, law, q, qd, wrench=np.zeros(6), steps=4000):  # noqa: B008
    """Return positions and velocities (steps, n) of an arm that begins at ``q`` with ``qd``."""
    plant, seen = ImpedancePlant(arm, law, q), []
    plant.data.qvel[:] = qd
    for _ in range(steps):
        plant.step(wrench)
        seen.append((plant.data.qpos.copy(), plant.data.qvel.copy()))
    return np.moveaxis(seen, 1, 0)


@pytest.mark.compiled
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_joint_that_is_pushed_rests_where_its_spring_balances(sign):
    law = hold_of(ONE, SoftLimits(ONE, [0.4], [15.0]))
    for share in (0.25, 0.75):
        q, _ = settled(ONE, law, np.array([0.2]), np.zeros(1), np.eye(6)[2] * sign * share * 15.0)
        limit = ONE.limits.upper[0] if sign > 0.0 else ONE.limits.lower[0]
        assert q[-1, 0] == pytest.approx(limit - sign * (1.0 - share) * 0.4, abs=1e-4)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ('speed', 'farthest', 'back'), [(0.5, 1.1, 1e-3), (3.0, 1.1, 1e-3), (7.0, 1.1, 1e-3), (9.0, 1.5, 0.9)]
)
def test_a_fast_joint_stops_before_its_spring_or_slowly_comes_back(speed, farthest, back):
    """The torque is at its largest from e sqrt(T d / m) = 7.4 rad/s on: the joint goes further then."""
    law = hold_of(ONE, SoftLimits(ONE, [0.4], [15.0]))
    q, qd = settled(ONE, law, np.array([-0.9]), np.array([speed]))
    assert 1.0 < q.max() < farthest
    assert qd.min() > -back


@pytest.mark.compiled
def test_an_arm_thrown_at_a_limit_loses_energy_alone():
    arm, k = AUBO.with_gravity((0.0, 0.0, 0.0)), 4
    q, qd = np.array([0.3, -0.8, 1.1, 0.4, arm.limits.upper[4] - 0.5, 0.1]), np.eye(6)[k] * 2.0
    positions, velocities = settled(arm, hold_of(arm, SoftLimits(arm, [0.3], [5.0])), q, qd, steps=1500)
    energies = [arm.kinetic_energy(*it) for it in zip(positions, velocities, strict=True)]
    assert positions[:, k].max() < arm.limits.upper[k]
    assert max(energies) < 1.001 * energies[0] and energies[-1] < 0.5 * energies[0]


@pytest.mark.compiled
def test_noise_of_the_velocity_pushes_out_no_joint_that_is_first_held_within_the_distance():
    """An axis like the first of an AUBO-i5 without friction, in a direction without stiffness."""
    rng, arm = np.random.default_rng(3), AUBO.with_gravity((0.0, 0.0, 0.0))
    law, start = hold_of(arm, SoftLimits(arm, [0.2], [15.0])), np.array([3.0, 0.3, 1.2, 0.2, 1.1, 0.0])

    class Noisy:
        def torque(self, q, qd, held, out):
            law.torque(q, qd + rng.normal(0.0, 0.1, 6), held, out)

    q, _ = settled(arm, Noisy(), start, np.zeros(6), steps=3000)
    assert np.abs(q - start).max() < 0.01


def step(arm, q, K, D, period):
    """Return the largest pole of an arm at q whose torque is held for a period."""
    M_inv, every = np.linalg.inv(arm.mass_matrix(q)), np.eye(arm.nv)
    return np.abs(
        np.linalg.eigvals(
            np.block(
                [
                    [every - 0.5 * period**2 * M_inv @ K, period * every - 0.5 * period**2 * M_inv @ D],
                    [-period * M_inv @ K, every - period * M_inv @ D],
                ]
            )
        )
    ).max()


@pytest.mark.compiled  # long without
def test_the_limit_of_sampling_holds_for_soft_limits_and_names_them():
    arm, rng = AUBO.with_friction(viscous=0.0), np.random.default_rng(8)
    soft = SoftLimits(arm, [0.1], [60.0])
    impedance = Impedance([20.0, 20.0, 20.0, 300.0, 300.0, 300.0], np.full(6, 1.0), np.full(6, 1.0))
    without, limit = ImpedanceLimit(arm, impedance), ImpedanceLimit(arm, impedance._replace(soft_limits=soft))
    assert limit.period < 0.9 * without.period
    assert limit.fault(0.99 * limit.period) == ''
    said = limit.fault(0.5 * (limit.period + without.period))
    assert said.startswith('soft_limit_torque: at ') and '; lower soft_limit_torque, or use a rate above ' in said
    largest = {0.98: 0.0, 3.0: 0.0}
    for q in rng.uniform(-2.5, 2.5, (200, 6)):
        (K,), (D,), (M_inv,) = limit._of_joints(q[None])
        pushes = np.diag((rng.uniform(size=6) < 0.5).astype(float))
        for share, before in largest.items():
            poles = step(arm, q, K + pushes * soft.stiffness, D + pushes * soft.damping(M_inv), share * limit.period)
            largest[share] = max(before, poles)
    assert largest[0.98] < 1.0 + 1e-9 and largest[3.0] > 1.0


@pytest.mark.parametrize(
    ('distance', 'torque', 'reason'),
    [
        ([-0.1], [1.0], '^soft_limit_distance: expected one finite number >= 0 or 6'),
        ([0.1], [np.inf], '^soft_limit_torque: expected one finite number >= 0 or 6'),
        ([0.1], [0.0], "^soft_limit_torque: expected a torque above 0 for joint 'shoulder_joint', got 0"),
        ([0.0, 0.0, 0.1, 0.0, 0.0, 3.06], [1.0], "^soft_limit_distance: 3.06 from both limits of joint 'wrist3_joint'"),
    ],
)
def test_soft_limits_that_are_wrong_are_refused_by_name(distance, torque, reason):
    with pytest.raises(ArgumentError, match=reason):
        SoftLimits(AUBO, distance, torque)


def test_a_joint_without_limits_has_no_springs_and_a_robot_without_any_is_refused():
    arm = mixed()  # the first one turns without end
    soft = SoftLimits(arm, [0.2], [5.0])
    assert soft.torque.tolist() == [0.0, 5.0, 5.0]
    np.testing.assert_array_equal(pushing(arm, soft)(np.array([9.0, 0.0, 1.0]), np.full(3, 0.1)), 0.0)
    with pytest.raises(ArgumentError, match=r'^soft_limit_distance: r has no position limits of these joints'):
        SoftLimits(one(), [0.2], [5.0])
