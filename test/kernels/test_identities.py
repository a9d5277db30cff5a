"""Identities of mechanics that hold for every robot and state, on random trees of 1 to 40 joints.

Derivatives are complex steps, f'(x) d = Im f(x + i h d) / h, exact to rounding: the same kernel source runs
on complex numbers, Numba compiles it again. A difference is held against the largest term of its equation.
At the end: two mechanisms whose equations fit on a page, which fix every sign.
"""

from functools import cache

from support.matrices import matrix
from support.robots import random_trees as trees
from support.rounding import bound
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint

TOLERANCE = 1e-9
STEP = 1e-30
CASES = {
    **{f'{n}_joints': dict(seed=100 + n, count=n) for n in range(1, 41)},
    'one_revolute': dict(seed=1, count=1, prismatic=0.0),
    'one_prismatic': dict(seed=2, count=1, prismatic=1.0),
    'all_revolute': dict(seed=3, count=12, prismatic=0.0),
    'all_prismatic': dict(seed=4, count=12, prismatic=1.0),
    'long_chain': dict(seed=5, count=40, prismatic=0.1, chain=1.0),
    'star': dict(seed=6, count=40, chain=0.0),
}
FEW = [name for name in CASES if not name.endswith('_joints')] + [f'{n}_joints' for n in (1, 2, 3, 4, 6, 9, 20, 40)]
cases = pytest.mark.parametrize('name', matrix(CASES, FEW))


@cache
def case(name):
    """Return joints, model arrays and state of the named case."""
    joints = trees.random_joints(**CASES[name])
    return joints, trees.arrays_of(joints), trees.random_state(joints, CASES[name]['seed'])


def slope(function, *args_and_directions):
    """Return the derivative of ``function`` where each argument x moves in its direction d: x, d, x, d."""
    pairs = zip(args_and_directions[::2], args_and_directions[1::2], strict=True)
    moved = [x + 1j * STEP * direction for x, direction in pairs]
    return function(*moved).imag / STEP


def gradient(function, q):
    """Return the derivative of ``function`` by each entry of ``q``, stacked."""
    return np.array([slope(function, q, e) for e in np.eye(len(q))])


def coriolis_torque(joints, model, q, qd):
    """Return inverse dynamics without acceleration, gravity and wrenches."""
    return trees.inverse_dynamics(model, q, qd, 0.0 * qd, trees.no_gravity(), trees.no_wrenches(joints))


def gravity_torque(joints, model, q, gravity):
    """Return inverse dynamics at rest without wrenches."""
    return trees.inverse_dynamics(model, q, 0.0 * q, 0.0 * q, gravity, trees.no_wrenches(joints))


def largest(*terms):
    """Return the largest magnitude in any of the terms."""
    return max(np.max(np.abs(term)) for term in terms)


# energy and mass matrix


@cases
def test_kinetic_energy_is_half_of_qd_mass_matrix_qd(name):
    """Kinetic energy from velocities = half qd' M qd."""
    _, model, s = case(name)
    expected = 0.5 * s.qd @ trees.mass_matrix(model, s.q) @ s.qd
    assert abs(trees.kinetic_energy(model, s.q, s.qd) - expected) < TOLERANCE * expected


@cases
def test_inverse_dynamics_by_qdd_is_the_mass_matrix(name):
    """Column j of M is the torque's derivative by qdd_j, velocity, gravity and wrenches notwithstanding."""
    _, model, s = case(name)
    M = trees.mass_matrix(model, s.q)
    columns = gradient(lambda qdd: trees.inverse_dynamics(model, s.q, s.qd, qdd, s.gravity, s.f_ext), s.qdd)
    assert largest(columns.T - M) < TOLERANCE * largest(M)


@cases
def test_mass_matrix_is_symmetric_positive_definite(name):
    """Symmetric to the bit, and all eigenvalues positive, even without the rotors' share of the diagonal."""
    joints, model, s = case(name)
    M = trees.mass_matrix(model, s.q)
    assert np.array_equal(M, M.T)
    assert np.min(np.linalg.eigvalsh(M - np.diag(naive.rotors(joints)))) > 0.0


# torques


@cases
def test_gravity_torque_is_the_gradient_of_potential_energy(name):
    """At rest, tau = dV/dq."""
    joints, model, s = case(name)
    expected = gradient(lambda q: trees.potential_energy(model, q, s.gravity), s.q)
    assert largest(gravity_torque(joints, model, s.q, s.gravity) - expected) < TOLERANCE * largest(expected)


@cases
def test_lagrange(name):
    """Inverse dynamics = d/dt dT/dqd - dT/dq + dV/dq = M qdd + Mdot qd - dT/dq + dV/dq."""
    joints, model, s = case(name)
    inertia = trees.mass_matrix(model, s.q) @ s.qdd
    from_Mdot = slope(lambda q: trees.mass_matrix(model, q), s.q, s.qd) @ s.qd
    by_q = gradient(lambda q: trees.kinetic_energy(model, q, s.qd + 0j), s.q)
    gravity = gradient(lambda q: trees.potential_energy(model, q, s.gravity), s.q)
    tau = trees.inverse_dynamics(model, s.q, s.qd, s.qdd, s.gravity, trees.no_wrenches(joints))
    scale = largest(inertia, from_Mdot, by_q, gravity)
    assert largest(tau - (inertia + from_Mdot - by_q + gravity)) < TOLERANCE * scale


@cases
def test_mass_matrix_rate_less_twice_coriolis_is_skew(name):
    """Coriolis torque does no work beyond what the mass matrix's change takes: qd' (Mdot qd - 2 C qd) = 0.

    A single joint has no Coriolis torque; the kinetic energy is the scale then.
    """
    joints, model, s = case(name)
    Mdot = slope(lambda q: trees.mass_matrix(model, q), s.q, s.qd)
    C_qd = coriolis_torque(joints, model, s.q, s.qd)
    terms = np.concatenate([s.qd * (Mdot @ s.qd), -2.0 * s.qd * C_qd])
    assert abs(np.sum(terms)) < TOLERANCE * largest(terms, trees.kinetic_energy(model, s.q, s.qd))


@cases
def test_coriolis_torque_is_quadratic(name):
    """A quadratic form: c(3.7 x) = 3.7^2 c(x), and the parallelogram law for any two velocities.

    The scale is as above.
    """
    joints, model, s = case(name)
    x, y = s.qd, s.qdd
    velocities = (x, y, x + y, x - y, 3.7 * x)
    c_x, c_y, plus, minus, scaled = (coriolis_torque(joints, model, s.q, v) for v in velocities)
    kinetic = trees.kinetic_energy(model, s.q, s.qd)
    assert largest(plus + minus - 2.0 * c_x - 2.0 * c_y) < TOLERANCE * largest(plus, minus, c_x, c_y, kinetic)
    assert largest(scaled - 3.7**2 * c_x) < TOLERANCE * largest(scaled, kinetic)


@cases
def test_gravity_is_a_base_that_accelerates(name):
    """Einstein's lift: at rest under gravity, or without gravity on a base that accelerates the other way."""
    joints, model, s = case(name)
    at_home = trees.inverse_dynamics(model, s.q, s.qd, s.qdd, s.gravity, trees.no_wrenches(joints))
    strength = np.linalg.norm(s.gravity)
    lifted = trees.on_a_lift(joints, -s.gravity / strength)
    q, qd, qdd = np.append(0.3, s.q), np.append(-1.2, s.qd), np.append(strength, s.qdd)
    args = (q, qd, qdd, trees.no_gravity(), trees.no_wrenches(lifted))
    on_the_way = trees.inverse_dynamics(trees.arrays_of(lifted), *args)[1:]
    assert largest(on_the_way - at_home) < TOLERANCE * largest(at_home)


@cases
def test_external_wrench_is_minus_its_jacobian_transposed(name):
    """A wrench F on link i takes J_i' F off the torques; the base's own changes nothing."""
    joints, model, s = case(name)
    tau, without = (
        trees.inverse_dynamics(model, s.q, s.qd, s.qdd, s.gravity, f_ext)
        for f_ext in (s.f_ext, trees.no_wrenches(joints))
    )
    JF = sum(J.T @ F for J, F in zip(naive.jacobians(joints, s.q), s.f_ext, strict=True))
    assert largest(tau - without + JF) < TOLERANCE * largest(JF, without)
    helped = trees.forward_dynamics(model, s.q, s.qd, s.tau, s.gravity, s.f_ext)
    same = trees.forward_dynamics(model, s.q, s.qd, s.tau + JF, s.gravity, trees.no_wrenches(joints))
    assert largest(helped - same) < TOLERANCE * largest(same)


# forward against inverse dynamics


@cases
def test_forward_after_inverse_dynamics_returns_qdd(name):
    """Within 100 roundings of the largest torque, magnified by M^-1, and never beyond 1e-9 of the largest.

    On 3,000 trees the worst was 1.3 such roundings, and 3e-12 of the largest qdd.
    """
    joints, model, s = case(name)
    tau = trees.inverse_dynamics(model, s.q, s.qd, s.qdd, s.gravity, s.f_ext)
    qdd = trees.forward_dynamics(model, s.q, s.qd, tau, s.gravity, s.f_ext)
    # M qdd may cancel the rest, so the rest counts too
    rest = trees.inverse_dynamics(model, s.q, s.qd, np.zeros(len(joints)), s.gravity, s.f_ext)
    rounding = np.finfo(float).eps * largest(tau, rest, s.f_ext)
    magnified = np.linalg.norm(np.linalg.inv(trees.mass_matrix(model, s.q)), 2) * rounding
    assert largest(qdd - s.qdd) < min(100.0 * magnified, TOLERANCE * largest(s.qdd))


@cases
def test_inverse_after_forward_dynamics_returns_tau(name):
    """Relative to the largest torque that is put in."""
    _, model, s = case(name)
    qdd = trees.forward_dynamics(model, s.q, s.qd, s.tau, s.gravity, s.f_ext)
    tau = trees.inverse_dynamics(model, s.q, s.qd, qdd, s.gravity, s.f_ext)
    assert largest(tau - s.tau) < TOLERANCE * largest(s.tau)


# balances along a motion


@cases
def test_power_in_is_the_rate_of_energy(name):
    """Power of torques and wrenches = rate of kinetic and potential energy, as forward dynamics moves it."""
    joints, model, s = case(name)
    qdd = trees.forward_dynamics(model, s.q, s.qd, s.tau, s.gravity, s.f_ext)
    kinetic = slope(lambda q, qd: trees.kinetic_energy(model, q, qd), s.q, s.qd, s.qd, qdd)
    potential = slope(lambda q: trees.potential_energy(model, q, s.gravity), s.q, s.qd)
    torques = s.tau * s.qd
    wrenches = [v @ F for v, F in zip(naive.velocities(joints, s.q, s.qd), s.f_ext, strict=True)]
    power_in = np.sum(torques) + np.sum(wrenches)
    assert abs(power_in - kinetic - potential) < TOLERANCE * largest(torques, wrenches, kinetic, potential)


@cases
def test_momentum_rate_is_the_sum_of_wrenches(name):
    """Momentum of all links about the base's origin changes by gravity, all f_ext and row 0 of rnea's forces.

    So row 0 is what the ground does to the base: it carries the arm, less the wrench on the base itself.
    """
    joints, model, s = case(name)
    _, work = trees.inverse_dynamics(model, s.q, s.qd, s.qdd, s.gravity, s.f_ext, return_work=True)
    rate = slope(lambda q, qd: naive.momentum(joints, q, qd), s.q, s.qd, s.qd, s.qdd)
    wrenches = naive.total_wrench(joints, s.q, s.gravity, s.f_ext)
    assert largest(rate - work.f[0] - wrenches) < TOLERANCE * largest(rate, work.f[0], wrenches)


# special mechanisms


@pytest.mark.parametrize('name', ['all_prismatic', 'one_prismatic'])
def test_nothing_turns_in_a_prismatic_robot(name):
    """Mass matrix and gravity torque are the same everywhere, and there is no Coriolis torque at all."""
    joints, model, s = case(name)
    elsewhere = s.q + 0.7
    assert not np.array_equal(trees.link_poses(model, s.q), trees.link_poses(model, elsewhere))
    M = trees.mass_matrix(model, s.q)
    assert largest(M - trees.mass_matrix(model, elsewhere)) < TOLERANCE * largest(M)
    there = gravity_torque(joints, model, elsewhere, s.gravity)
    assert largest(gravity_torque(joints, model, s.q, s.gravity) - there) < TOLERANCE * largest(there)
    assert np.all(coriolis_torque(joints, model, s.q, s.qd) == 0.0)


@pytest.mark.parametrize('name', ['one_revolute', '1_joints'])
def test_one_revolute_joint(name):
    """M is the body's moment of inertia about the axis, constant; no Coriolis torque; FD is division by M."""
    joints, model, s = case(name)
    (joint,) = joints
    assert joint.kind == 'revolute'
    xx, xy, xz, yy, yz, zz = joint.inertia[4:]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    inertia = joint.axis @ J @ joint.axis + joint.rotor
    assert abs(trees.mass_matrix(model, s.q)[0, 0] - inertia) < TOLERANCE * inertia
    assert abs(coriolis_torque(joints, model, s.q, s.qd)[0]) < TOLERANCE * inertia * s.qd[0] ** 2
    qdd = trees.forward_dynamics(model, s.q, s.qd, s.tau, trees.no_gravity(), trees.no_wrenches(joints))
    assert abs(qdd[0] - s.tau[0] / inertia) < TOLERANCE * abs(qdd[0])


# A double pendulum in the x-y plane, gravity along -y: both axes along z, links along x at q = 0, angles from
# the x axis and from link 1. Lengths L, centres of mass at c from the joints, inertias I about those centres.

G = 9.81
L_1, L_2 = 0.7, 0.5
ROTORS = (0.3, 0.05)
PENDULUMS = {
    'point_masses': dict(m_1=2.0, m_2=1.5, c_1=L_1, c_2=L_2, I_1=0.0, I_2=0.0),
    'rods': dict(m_1=2.0, m_2=1.5, c_1=0.3, c_2=0.2, I_1=0.08, I_2=0.03),
}
DOWN = np.array([0.0, -G, 0.0])
pendulums = pytest.mark.parametrize('figures', PENDULUMS.values(), ids=PENDULUMS)


def double_pendulum(m_1, m_2, c_1, c_2, I_1, I_2):
    """Return its joints."""
    joints = []
    for i, m, c, inertia, length in ((1, m_1, c_1, I_1, 0.0), (2, m_2, c_2, I_2, L_1)):
        joints.append(
            Joint(
                name=f'joint_{i}',
                link=f'link_{i}',
                parent='base' if i == 1 else 'link_1',
                kind='revolute',
                axis=np.array([0.0, 0.0, 1.0]),
                rotation=np.eye(3),
                origin=np.array([length, 0.0, 0.0]),
                inertia=ten_parameters(m, [c, 0.0, 0.0], np.diag([0.0, inertia, inertia])),
                rotor=ROTORS[i - 1],
            )
        )
    return joints


def pendulum_equations(q, qd, m_1, m_2, c_1, c_2, I_1, I_2):
    """Return M, Coriolis torque, gravity torque, kinetic and potential energy as any textbook has them."""
    (q_1, q_2), (qd_1, qd_2) = q, qd
    M_12 = m_2 * (c_2**2 + L_1 * c_2 * np.cos(q_2)) + I_2
    M_11 = m_1 * c_1**2 + I_1 + m_2 * (L_1**2 + L_1 * c_2 * np.cos(q_2)) + M_12 + ROTORS[0]
    M = np.array([[M_11, M_12], [M_12, m_2 * c_2**2 + I_2 + ROTORS[1]]])
    h = m_2 * L_1 * c_2 * np.sin(q_2)
    coriolis = np.array([-h * (2.0 * qd_1 * qd_2 + qd_2**2), h * qd_1**2])
    weight_2 = m_2 * G * c_2 * np.cos(q_1 + q_2)
    gravity = np.array([(m_1 * c_1 + m_2 * L_1) * G * np.cos(q_1) + weight_2, weight_2])
    y_1, y_2 = c_1 * np.sin(q_1), L_1 * np.sin(q_1) + c_2 * np.sin(q_1 + q_2)
    return M, coriolis, gravity, 0.5 * qd @ M @ qd, m_1 * G * y_1 + m_2 * G * y_2


@pytest.mark.rounding
@pendulums
@pytest.mark.parametrize('q', [(0.0, 0.0), (0.4, -1.1), (2.5, 0.9), (-1.9, 2.8)])
def test_double_pendulum(figures, q):
    """Every quantity against its closed form."""
    joints = double_pendulum(**figures)
    model, none = trees.arrays_of(joints), trees.no_wrenches(joints)
    q, qd, qdd = np.array(q), np.array([1.3, -0.8]), np.array([-2.0, 3.0])
    M, coriolis, gravity, kinetic, potential = pendulum_equations(q, qd, **figures)
    tau = M @ qdd + coriolis + gravity
    close = dict(rtol=0.0, atol=bound(20, 4, scale=largest(M @ qdd, coriolis, gravity, kinetic, potential)))
    assert np.allclose(trees.mass_matrix(model, q), M, **close)
    assert np.allclose(coriolis_torque(joints, model, q, qd), coriolis, **close)
    assert np.allclose(gravity_torque(joints, model, q, DOWN), gravity, **close)
    assert np.allclose(trees.inverse_dynamics(model, q, qd, qdd, DOWN, none), tau, **close)
    assert np.allclose(trees.forward_dynamics(model, q, qd, tau, DOWN, none), qdd, rtol=0.0, atol=1e-12)
    assert np.allclose(trees.kinetic_energy(model, q, qd), kinetic, **close)
    assert np.allclose(trees.potential_energy(model, q, DOWN), potential, **close)
    elbow = trees.link_poses(model, q)[2]
    c_12, s_12 = np.cos(q[0] + q[1]), np.sin(q[0] + q[1])
    x, y = L_1 * np.cos(q[0]), L_1 * np.sin(q[0])
    expected = [[c_12, -s_12, 0.0, x], [s_12, c_12, 0.0, y], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    assert np.allclose(elbow, expected, **close)


@pytest.mark.rounding
@pendulums
def test_double_pendulum_signs(figures):
    """What needs no formula: stretched out it must be held up, and a hand under its tip helps."""
    joints = double_pendulum(**figures)
    model, none = trees.arrays_of(joints), trees.no_wrenches(joints)
    stretched, rest = np.zeros(2), np.zeros(2)
    assert np.all(gravity_torque(joints, model, stretched, DOWN) > 0.0)
    falling = trees.forward_dynamics(model, stretched, rest, np.zeros(2), DOWN, none)
    assert falling[0] < 0.0
    # 10 N upwards at the tip of link 2, as a wrench at link 2's origin: moment L_2 x 10 about z
    hand = none.copy()
    hand[2] = [0.0, 0.0, 10.0 * L_2, 0.0, 10.0, 0.0]
    held = trees.inverse_dynamics(model, stretched, rest, rest, DOWN, hand)
    unheld = gravity_torque(joints, model, stretched, DOWN)
    largest_error = bound(20, 2, scale=largest(held, unheld))
    assert largest(held - unheld - [-10.0 * (L_1 + L_2), -10.0 * L_2]) < largest_error
    # the ground carries the whole weight, and its moment about the base's origin
    _, work = trees.inverse_dynamics(model, stretched, rest, rest, DOWN, none, return_work=True)
    m_1, m_2, c_1, c_2 = (figures[key] for key in ('m_1', 'm_2', 'c_1', 'c_2'))
    ground = [0.0, 0.0, G * (m_1 * c_1 + m_2 * (L_1 + c_2)), 0.0, G * (m_1 + m_2), 0.0]
    assert largest(work.f[0] - ground) < bound(20, 2, scale=largest(ground))


@pytest.mark.rounding
@pytest.mark.parametrize('angle', [0.0, 0.5, np.pi / 2, -0.8])
def test_mass_on_an_incline(angle):
    """A prismatic joint up a slope: tau = (m + rotor) qdd + m g sin(angle), V = m g q sin(angle)."""
    m, rotor = 3.0, 0.4
    c, s = np.cos(angle), np.sin(angle)
    slide = Joint(
        'joint', 'link', 'base', 'prismatic', axis=np.array([1.0, 0.0, 0.0]),
        rotation=np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), origin=np.zeros(3),
        inertia=ten_parameters(m, [0.0, 0.0, 0.0], 0.01 * np.eye(3)), rotor=rotor,
    )  # fmt: skip
    model, none = trees.arrays_of([slide]), trees.no_wrenches([slide])
    q, qd, qdd = np.array([0.6]), np.array([-1.5]), np.array([2.0])
    tau = (m + rotor) * qdd + m * G * s
    close = dict(rtol=0.0, atol=bound(20, 2, scale=m * G))
    assert np.allclose(trees.mass_matrix(model, q), [[m + rotor]], **close)
    assert np.allclose(trees.inverse_dynamics(model, q, qd, qdd, DOWN, none), tau, **close)
    assert np.allclose(trees.forward_dynamics(model, q, qd, tau, DOWN, none), qdd, **close)
    assert np.allclose(trees.kinetic_energy(model, q, qd), 0.5 * (m + rotor) * 1.5**2, **close)
    assert np.allclose(trees.potential_energy(model, q, DOWN), m * G * 0.6 * s, **close)
    assert np.allclose(trees.link_poses(model, q)[1, :3, 3], [0.6 * c, 0.6 * s, 0.0], **close)
    # pushed up the slope with 7 N, in the link's frame
    pushed = none.copy()
    pushed[1, 3] = 7.0
    assert np.allclose(trees.inverse_dynamics(model, q, qd, qdd, DOWN, pushed), tau - 7.0, **close)
