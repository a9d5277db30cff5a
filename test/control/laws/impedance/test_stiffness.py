"""A stiffness that follows a wanted one: how fast, with how much energy, and what it refuses."""

from support.control.impedance_plant import ImpedancePlant
from support.matrices import matrix
from support.robots.small_robots import AUBO, one, seven_joints

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianHold, CartesianImpedance, Impedance
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.errors import ArgumentError

LARGEST = np.array([20.0, 30.0, 40.0, 500.0, 800.0, 1000.0])
Q = np.array([0.3, -0.8, 1.1, 0.4, 0.9, 0.1])
STILL = np.zeros(6)


def hold_of(stiffness, arm=AUBO, **more):
    posture = np.zeros(arm.nv)
    return CartesianHold(arm, Impedance(LARGEST, posture, posture, **more), ['friction'], stiffness)


def soft(share, **more) -> Stiffness:
    """Return a stiffness that has become soft, with a full tank."""
    stiffness = Stiffness(LARGEST, **more)
    stiffness.want(share * LARGEST)
    law, out = hold_of(stiffness), np.empty(6)
    stiffness.elapse(1e6)
    law.torque(Q, STILL, Q, out)
    np.testing.assert_allclose(stiffness.K, np.diag(share * LARGEST), rtol=1e-12)
    return stiffness


def test_it_grows_and_falls_as_much_in_each_period_as_the_ramp_time_says():
    stiffness, out = Stiffness(LARGEST, ramp_time=2.0), np.empty(6)
    law = hold_of(stiffness)
    for wanted, change in ((0.25, -0.05), (0.95, 0.05)):
        stiffness.want(wanted * LARGEST)
        for _ in range(40):
            before = np.diagonal(stiffness.K).copy()
            stiffness.elapse(0.1)
            law.torque(Q, STILL, Q, out)
            left = wanted * LARGEST - before
            np.testing.assert_allclose(np.diagonal(stiffness.K) - before, np.sign(change) * np.minimum(
                np.abs(left), abs(change) * LARGEST), rtol=1e-9, atol=1e-9)  # fmt: skip
            np.testing.assert_allclose(stiffness.G @ stiffness.G, stiffness.K, rtol=1e-12)
        np.testing.assert_allclose(np.diagonal(stiffness.K), wanted * LARGEST, rtol=1e-12)


def test_time_passes_once_for_laws_that_share_it():
    stiffness, out = Stiffness(LARGEST), np.empty(6)
    first, second = hold_of(stiffness), hold_of(stiffness)
    stiffness.want(0.5 * LARGEST)
    stiffness.elapse(0.1)
    for law in (first, second, first):
        law.torque(Q, STILL, Q, out)
        np.testing.assert_allclose(np.diagonal(stiffness.K), 0.9 * LARGEST, rtol=1e-12)


@pytest.mark.parametrize('reference_frame', ['local', 'local_world_aligned'])
def test_on_the_way_the_torque_is_that_of_the_stiffness_in_force(reference_frame):
    rng, out, expected = np.random.default_rng(2), np.empty(6), np.empty(6)
    stiffness, posture = Stiffness(LARGEST, energy_limit=1.0), np.full(6, 0.5)
    impedance = Impedance(LARGEST, posture, posture, reference_frame=reference_frame, farthest=(0.2, 0.05))
    law = CartesianImpedance(AUBO, impedance, stiffness=stiffness)
    for _ in range(20):
        stiffness.want(rng.uniform(0.1, 1.0, 6) * LARGEST)
        q, away, qd, qd_d, qdd_d = rng.uniform(-1.0, 1.0, (5, 6))
        desired = q + 0.1 * away, qd_d, qdd_d
        stiffness.elapse(0.1)
        law.torque(q, qd, desired, None, out)
        constant = CartesianImpedance(AUBO, impedance._replace(stiffness=np.diagonal(stiffness.K)))
        constant.torque(q, qd, desired, None, expected)
        np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize('seed', matrix(range(20), [0, 1]))
def test_what_it_adds_is_at_most_the_limit_and_what_was_dissipated_or_given_back(seed):
    """The law's kernel beside the equations: spring and tank hold no more than at first and what the dampers took."""
    rng, out, limit = np.random.default_rng(seed), np.empty(6), 0.1
    stiffness = Stiffness(LARGEST, ramp_time=0.5, energy_limit=limit)
    law = hold_of(stiffness, damping=np.full(6, 0.2), reference_frame='local_world_aligned')
    added, dissipated, tank, shares, taken = 0.0, 0.0, limit, set(), np.zeros(6)
    q, held = Q.copy(), Q + 0.05
    for step in range(200):
        if step % 20 == 0:
            stiffness.want(rng.uniform(0.05, 1.0, 6) * LARGEST)
        q, qd, elapsed = Q + rng.uniform(-0.05, 0.05, 6), rng.uniform(-0.05, 0.05, 6), rng.uniform(0.001, 0.02)
        before = np.diagonal(stiffness.K).copy()
        stiffness.elapse(elapsed)
        law.torque(q, qd, held, out)
        change = np.diagonal(stiffness.K) - before
        e = error_of(q, held)
        energy = held_by(change, e)
        # the tank by its equations: what falls gives what it took, what grows takes, dampers give
        up = held_by(np.clip(stiffness.wanted - before, 0.0, elapsed * stiffness.rate), e)
        back = np.minimum(np.maximum(-energy, 0.0), taken)
        tank, taken = min(limit, tank + back.sum()), taken - back + np.maximum(energy, 0.0)
        share = min(1.0, tank / up.sum()) if up.any() else 1.0
        shares.add(share)
        np.testing.assert_allclose(energy[change > 0.0].sum(), share * up.sum(), rtol=1e-6, atol=1e-12)
        J = AUBO.jacobian(q, AUBO.link_names[-1])
        power = max(0.0, -qd @ (out + J.T @ (-np.diagonal(stiffness.K) * e)))  # of the dampers alone
        tank = min(limit, tank - share * up.sum() + elapsed * power)
        np.testing.assert_allclose(stiffness.taken, taken, rtol=1e-6, atol=1e-9)
        assert stiffness.tank[0] == pytest.approx(tank, rel=1e-6, abs=1e-9)
        added, dissipated = added + energy.sum(), dissipated + elapsed * power
        assert added <= limit + dissipated + 1e-9
    assert min(shares) < 0.9 and max(shares) == 1.0  # with an empty tank, and with enough


def held_by(stiffness, e):
    """Return the energy of each spring (6); about an axis it has the torque K 2 sin(t / 2), so K 4 (1 - cos(t / 2))."""
    length = np.linalg.norm(e[:3])
    of_rotation = 4.0 * (1.0 - np.cos(np.arcsin(0.5 * length))) * (e[:3] / length) ** 2
    return stiffness * np.append(of_rotation, 0.5 * e[3:] ** 2)


def error_of(q, held):
    """Return e of the law in the axes of the base (6; rotation first)."""
    T, T_d = (AUBO.link_pose(it, AUBO.link_names[-1]) for it in (q, held))
    turn = Rotation.from_matrix(T_d[:3, :3] @ T[:3, :3].T).as_rotvec()
    angle = np.linalg.norm(turn)
    return np.concatenate([2.0 * np.sin(0.5 * angle) / angle * turn, T_d[:3, 3] - T[:3, 3]])


def test_held_away_from_its_place_it_grows_as_far_as_its_energy_reaches():
    stiffness, out, held = soft(0.1, energy_limit=0.2), np.empty(6), Q + 0.06
    law, e = hold_of(stiffness), error_of(Q, held)
    stiffness.want(LARGEST)
    assert not stiffness.waits
    for _ in range(300):
        stiffness.elapse(0.01)
        law.torque(Q, STILL, held, out)

    def added():
        return held_by(np.diagonal(stiffness.K) - 0.1 * LARGEST, e).sum()

    assert added() == pytest.approx(0.2, rel=1e-9)
    assert (np.diagonal(stiffness.K) < 0.9 * LARGEST).all() and stiffness.waits
    # what falls gives what it took to what grows, and no more
    for share in (0.1, 0.05):
        stiffness.want([share * LARGEST[0], *LARGEST[1:]])
        for _ in range(100):
            stiffness.elapse(0.01)
            law.torque(Q, STILL, held, out)
        less = held_by(np.eye(6)[0] * (0.1 - share) * LARGEST[0], e).sum()
        assert added() == pytest.approx(0.2 - less, rel=1e-9)
    # at its place it grows without energy
    for _ in range(200):
        stiffness.elapse(0.01)
        law.torque(Q, STILL, Q, out)
    np.testing.assert_allclose(np.diagonal(stiffness.K), stiffness.wanted, rtol=1e-12)
    assert not stiffness.waits


class Driven:
    """A law at 1 kHz whose stiffness is shared."""

    def __init__(self, law, stiffness):
        self._law, self._stiffness = law, stiffness

    def torque(self, q, qd, held, out):
        self._stiffness.elapse(1e-3)
        self._law.torque(q, qd, held, out)


@pytest.mark.compiled
@pytest.mark.parametrize('arm', [AUBO, seven_joints()], ids=['six joints', 'seven joints'])
def test_let_go_an_arm_has_no_more_energy_than_the_limit_adds(arm):
    """In MuJoCo, let go 7 cm away when the stiffness begins to grow tenfold: kinetic energy and that of the springs."""

    def most(limit):
        stiffness = Stiffness(LARGEST, ramp_time=0.1, energy_limit=limit)
        q, still, out = np.r_[Q, 0.2][: arm.nv], np.zeros(arm.nv), np.empty(arm.nv)
        posture = np.zeros(arm.nv)
        law = CartesianHold(arm, Impedance(LARGEST, posture, posture, 0.1), stiffness=stiffness)
        stiffness.want(0.1 * LARGEST)
        stiffness.elapse(10.0)
        law.torque(q, still, q, out)
        stiffness.want(LARGEST)
        plant = ImpedancePlant(arm, Driven(law, stiffness), q)
        plant.held = q + 0.06
        energies = []
        for _ in range(1500):
            e, qd = plant.error(), np.array(plant.data.qvel)
            angle = max(np.linalg.norm(e[:3]), 1e-9)
            e[:3] *= 2.0 * np.sin(0.5 * angle) / angle
            energies.append(
                held_by(np.diagonal(stiffness.K), e).sum() + 0.5 * qd @ arm.mass_matrix(np.array(plant.data.qpos)) @ qd
            )
            plant.step()
        return max(energies) - energies[0]

    assert most(0.2) < 0.2 * 1.05
    assert most(100.0) > 0.4


@pytest.mark.parametrize('angle', [0.5, 1.5, 2.5])
def test_of_a_large_rotation_it_adds_no_more_than_its_springs_hold(angle):
    """The work of the springs on the way back, by the torque at each angle."""
    stiffness = Stiffness([0.0, 0.0, 30.0, 0.0, 0.0, 0.0], energy_limit=0.2, may_be_free=[True] * 6)
    arm, out = one().with_gravity((0.0, 0.0, 0.0)), np.empty(1)
    law = CartesianHold(arm, Impedance(stiffness.K, *np.zeros((2, 1))), stiffness=stiffness)
    stiffness.want([0.0, 0.0, 1e-9, 0.0, 0.0, 0.0])
    stiffness.elapse(10.0)
    law.torque(np.zeros(1), np.zeros(1), np.zeros(1), out)
    stiffness.want([0.0, 0.0, 30.0, 0.0, 0.0, 0.0])
    for _ in range(200):
        stiffness.elapse(0.01)
        law.torque(np.array([angle]), np.zeros(1), np.zeros(1), out)
    torques, h = [], angle / 1000
    for t in np.arange(0.5 * h, angle, h):
        law.torque(np.array([t]), np.zeros(1), np.zeros(1), out)
        torques.append(-out[0])
    assert h * np.sum(torques) == pytest.approx(0.2, rel=1e-5)


@pytest.mark.parametrize('axis', [2, 3])
@pytest.mark.parametrize('farthest', [np.inf, 0.1])
def test_what_falls_far_away_gives_no_more_back_than_its_springs_lose(axis, farthest):
    """Grown where the error is small, fallen where it is large, again and again; their work is that of the torque."""
    largest, limit = 800.0 * np.eye(6)[axis], 0.2
    stiffness = Stiffness(largest, energy_limit=limit, may_be_free=[True] * 6)
    arm = one(kind='revolute' if axis == 2 else 'prismatic', axis='0 0 1' if axis == 2 else '1 0 0')
    arm, out = arm.with_gravity((0.0, 0.0, 0.0)), np.empty(1)
    impedance = Impedance(stiffness.K, *np.zeros((2, 1)), farthest=(farthest, farthest))
    law = CartesianHold(arm, impedance, stiffness=stiffness)

    def force(q):
        law.torque(np.array([q]), np.zeros(1), np.zeros(1), out)
        return -out[0]

    def wanted(k, q, times):
        stiffness.want(k * np.eye(6)[axis])
        for _ in range(times):
            stiffness.elapse(0.01)
            force(q)

    wanted(100.0, 0.0, 200)
    given = 0.0
    for _ in range(12):
        for k, q in ((800.0, 0.05), (stiffness.K[axis, axis], 0.5)):
            before = stiffness.K[axis, axis]
            wanted(k if q < 0.1 else before - 2.0, q, 100)
            places = np.linspace(0.0, q, 201)
            per_stiffness = trapezoid([force(it) for it in places], places) / stiffness.K[axis, axis]
            given += (stiffness.K[axis, axis] - before) * per_stiffness
            assert given <= limit * (1.0 + 1e-3)
    assert stiffness.K[axis, axis] < 800.0


def test_a_reference_that_moves_gives_no_energy_and_dampers_that_brake_the_arm_do():
    """The arm stands, or moves, at its place, while half of the energy is left."""
    posture = np.zeros(6)
    for qd, qd_desired, gives in ((STILL, 0.1, False), (np.full(6, 0.1), 0.2, False), (np.full(6, 0.1), 0.0, True)):
        stiffness, out = Stiffness(LARGEST, energy_limit=0.2), np.empty(6)
        stiffness.tank[0] = 0.1
        law = CartesianImpedance(AUBO, Impedance(LARGEST, posture, posture), stiffness=stiffness)
        for _ in range(100):
            stiffness.elapse(0.01)
            law.torque(Q, qd, (Q, np.full(6, qd_desired), STILL), None, out)
        assert stiffness.tank[0] == (0.2 if gives else 0.1)


@pytest.mark.parametrize(
    ('wanted', 'reason'),
    [
        (
            [20.0, 30.0, 40.0, 500.0, 800.0, 1000.1],
            '^translational z: 1000.1 is above 1000.0, the largest .translational_stiffness',
        ),
        (
            [20.0, 0.0, 40.0, 500.0, 800.0, 1000.0],
            '^rotational y: expected a stiffness of at least .*, got 0: rotational_damping is 0',
        ),
        ([20.0, 30.0, 40.0, -1.0, 800.0, 1000.0], '^translational x: expected a stiffness of at least 0, got -1'),
        ([20.0, 30.0, np.nan, 1.0, 800.0, 1000.0], r'^stiffness\[2\]: nan is not finite'),
        ([20.0], '^stiffness: expected'),
    ],
)
def test_a_wrong_one_is_refused_by_name_and_the_one_before_stays(wanted, reason):
    stiffness = Stiffness(LARGEST)
    stiffness.want(0.5 * LARGEST)
    with pytest.raises(ArgumentError, match=reason):
        stiffness.want(wanted)
    np.testing.assert_allclose(stiffness.wanted, 0.5 * LARGEST, rtol=1e-12)


def test_a_free_axis_stays_free_and_a_matrix_as_it_is():
    with pytest.raises(
        ArgumentError, match=r'^translational z: 1\.0 is above 0\.0, the largest .translational_stiffness'
    ):
        Stiffness([*LARGEST[:5], 0.0]).want([*LARGEST[:5], 1.0])
    Stiffness([*LARGEST[:5], 0.0]).want([*LARGEST[:5], 0.0])
    with pytest.raises(ArgumentError, match=r'^stiffness: a matrix stays as it is'):
        Stiffness(np.diag(LARGEST) + 0.1).want(LARGEST)


def test_an_axis_that_something_else_damps_may_be_free_and_is_held_again_by_another_description_without_that():
    stiffness = Stiffness(LARGEST, may_be_free=[False, False, True, False, False, True])
    assert not stiffness.is_free
    wanted = LARGEST * [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    stiffness.want(wanted)
    assert stiffness.is_free and stiffness.wanted.tolist() == wanted.tolist()
    with pytest.raises(ArgumentError, match=r'^rotational x: expected a stiffness of at least 0.02, got 0'):
        stiffness.want(0.0 * LARGEST)
    again, other = Stiffness(LARGEST, may_be_free=[True] * 6), Stiffness(LARGEST)
    for each, is_free in ((again, True), (other, False)):
        each.continue_from(stiffness)
        assert each.is_free is is_free and (each.wanted == (wanted if is_free else LARGEST)).all()
    stiffness.want(LARGEST)
    assert not stiffness.is_free
    assert Stiffness([*LARGEST[:5], 0.0]).is_free


def test_another_description_goes_on_with_stiffness_and_energy():
    before = soft(0.3, energy_limit=0.2)
    before.tank[0], before.taken[:] = 0.07, np.arange(6.0)
    after = Stiffness([*LARGEST[:5], 200.0], energy_limit=0.2)
    after.continue_from(before)
    np.testing.assert_allclose(np.diagonal(after.K), [*(0.3 * LARGEST[:5]), 200.0], rtol=1e-12)
    np.testing.assert_allclose(after.G @ after.G, after.K, rtol=1e-12)
    assert after.tank.tolist() == [0.07, 0.2] and after.taken.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert after.wanted.tolist() == np.diagonal(after.K).tolist()
