"""Kernels against Pinocchio on 300 random trees of all kinds of joints, quantity by quantity.

Pinocchio's spatial vectors have the linear part first, and its joints are numbered depth first (``order``).
"""

from collections import Counter
from functools import cache, partial
from types import SimpleNamespace

from support.matrices import matrix
from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros.model.joint_types import KINDS

pin = pytest.importorskip(
    'pinocchio',
    minversion='3.4',  # 2.6 knows no rotors
    reason='the second oracle, Pinocchio (package pin), is not installed',
)

TOLERANCE = 1e-9  # of the largest magnitude in the quantity
SEEDS = (*range(1000, 1100), 1169, 1177, 1277)
FEW = (*range(1000, 1012), 1169, 1177, 1277)  # with those of the largest condition
SEED = pytest.mark.parametrize('seed', matrix(SEEDS, FEW))
DRAWN = pytest.mark.parametrize('seeds', [FEW, pytest.param(SEEDS, marks=pytest.mark.slow)], ids=['few', 'all'])


@cache
def case(seed):
    """Return one random tree and state for us, and for Pinocchio (fields ``pin_``, in its joint order)."""
    joints = trees.with_planar_about_z(trees.random_joints(seed, general=0.5 * (seed % 2)))
    s = trees.random_state(joints, seed)
    pin_model, links, order = trees.pinocchio_tree(joints)
    pin_model.gravity.linear = s.gravity
    pin_f_ext = pin.StdVec_Force()
    for wrench in s.f_ext[[0, *(links + 1)]]:
        pin_f_ext.append(pin.Force(wrench[3:], wrench[:3]))
    return SimpleNamespace(
        joints=joints, arrays=trees.arrays_of(joints), s=s, links=links, order=order,
        pin_model=pin_model, pin_data=pin_model.createData(), pin_f_ext=pin_f_ext,
        pin_q=trees.pinocchio_positions(joints, links, s.q),
        pin_qd=s.qd[order], pin_qdd=s.qdd[order], pin_tau=s.tau[order],
    )  # fmt: skip


@DRAWN
def test_the_trees_need_reordering(seeds):
    """Else ``order`` would be untested: in many trees Pinocchio numbers joints otherwise, in many not."""
    same = [np.array_equal(case(seed).links, np.arange(len(case(seed).links))) for seed in seeds]
    assert 0.25 < np.mean(same) < 0.75


@DRAWN
def test_every_kind_of_joint_is_there(seeds):
    kinds = Counter(joint.kind for seed in seeds for joint in case(seed).joints)
    assert set(kinds) == set(KINDS) and min(kinds.values()) > len(seeds) // 3


@SEED
def test_link_poses(seed):
    """Poses of all links."""
    c = case(seed)
    pin.forwardKinematics(c.pin_model, c.pin_data, c.pin_q)
    expected = np.array([pose.homogeneous for pose in c.pin_data.oMi])
    assert trees.relative_error(trees.link_poses(c.arrays, c.s.q)[[0, *(c.links + 1)]], expected) < TOLERANCE


@SEED
def test_rnea(seed):
    """Inverse dynamics with a wrench on every link."""
    c = case(seed)
    tau = trees.inverse_dynamics(c.arrays, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, c.s.f_ext)
    expected = pin.rnea(c.pin_model, c.pin_data, c.pin_q, c.pin_qd, c.pin_qdd, c.pin_f_ext)
    assert trees.relative_error(tau[c.order], expected) < TOLERANCE


@SEED
def test_mass_matrix(seed):
    """The mass matrix, rotors included (of Pinocchio's, only the upper triangle is relied on)."""
    c = case(seed)
    upper = np.triu(pin.crba(c.pin_model, c.pin_data, c.pin_q))
    expected = upper + np.triu(upper, 1).T
    M = trees.mass_matrix(c.arrays, c.s.q)
    assert trees.relative_error(M[np.ix_(c.order, c.order)], expected) < TOLERANCE


@SEED
def test_accelerations(seed):
    """Forward dynamics with a wrench on every link."""
    c = case(seed)
    qdd = trees.forward_dynamics(c.arrays, c.s.q, c.s.qd, c.s.tau, c.s.gravity, c.s.f_ext)
    expected = pin.aba(c.pin_model, c.pin_data, c.pin_q, c.pin_qd, c.pin_tau, c.pin_f_ext)
    assert trees.relative_error(qdd[c.order], expected) < TOLERANCE


@SEED
def test_gravity_torque(seed):
    """The torque that holds the robot still."""
    c = case(seed)
    rest = np.zeros_like(c.s.qd)
    tau = trees.inverse_dynamics(c.arrays, c.s.q, rest, rest, c.s.gravity, trees.no_wrenches(c.joints))
    expected = pin.computeGeneralizedGravity(c.pin_model, c.pin_data, c.pin_q)
    assert trees.relative_error(tau[c.order], expected) < TOLERANCE


@SEED
def test_bias_torque(seed):
    """Gravity, Coriolis and centrifugal torque."""
    c = case(seed)
    rest = np.zeros_like(c.s.qd)
    tau = trees.inverse_dynamics(c.arrays, c.s.q, c.s.qd, rest, c.s.gravity, trees.no_wrenches(c.joints))
    expected = pin.nonLinearEffects(c.pin_model, c.pin_data, c.pin_q, c.pin_qd)
    assert trees.relative_error(tau[c.order], expected) < TOLERANCE


@SEED
def test_kinetic_energy(seed):
    """Kinetic energy of the bodies, and of the rotors by hand.

    Pinocchio 4.1.0 leaves the rotor of an unaligned revolute joint out of this energy, not out of rnea, crba
    and aba (and a prismatic joint's counts), so its model gets none here.
    """
    c = case(seed)
    bodies_only = c.pin_model.copy()
    bodies_only.armature = np.zeros(len(c.order))
    expected = pin.computeKineticEnergy(bodies_only, c.pin_data, c.pin_q, c.pin_qd)
    expected += 0.5 * naive.rotors(c.joints) @ c.s.qd**2
    assert abs(trees.kinetic_energy(c.arrays, c.s.q, c.s.qd) - expected) < TOLERANCE * expected


@SEED
def test_potential_energy(seed):
    """Potential energy, relative to a lift by 1 m since it may be near zero."""
    c = case(seed)
    expected = pin.computePotentialEnergy(c.pin_model, c.pin_data, c.pin_q)
    scale = 9.81 * max(joint.inertia[0] for joint in c.joints)  # J, the heaviest link lifted by 1 m
    assert abs(trees.potential_energy(c.arrays, c.s.q, c.s.gravity) - expected) < TOLERANCE * scale


@cache
def inverse_derivatives(seed):
    c = case(seed)
    D = trees.inverse_dynamics_derivatives(c.arrays, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, c.s.f_ext)
    return D[:, c.order[:, None], c.order]


@cache
def forward_derivatives(seed):
    c = case(seed)
    D = trees.forward_dynamics_derivatives(c.arrays, c.s.q, c.s.qd, c.s.tau, c.s.gravity, c.s.f_ext)
    return D[:, c.order[:, None], c.order]


def of_pinocchio(derive, c, x):
    by_q, by_qd, upper = derive(c.pin_model, c.pin_data, c.pin_q, c.pin_qd, x, c.pin_f_ext)
    return by_q.copy(), by_qd.copy(), np.triu(upper) + np.triu(upper, 1).T


@SEED
def test_derivatives_of_inverse_dynamics(seed):
    """By q, qd and qdd, with a wrench on every link."""
    c = case(seed)
    expected = of_pinocchio(pin.computeRNEADerivatives, c, c.pin_qdd)
    assert trees.worst_error(inverse_derivatives(seed), expected) < TOLERANCE


def rounding(c):
    """Return the relative error that a linear system of M may have by rounding: it grows with M's condition."""
    return np.finfo(float).eps * np.linalg.cond(trees.mass_matrix(c.arrays, c.s.q))


@SEED
def test_derivatives_of_forward_dynamics(seed):
    """By q, qd and tau, with a wrench on every link: those of inverse dynamics at qdd, solved for by M.

    By Pinocchio's qdd, M and derivatives of inverse dynamics: its computeABADerivatives lose up to four digits more
    where M's condition is 1e5, as complex steps show.
    """
    c = case(seed)
    qdd = pin.aba(c.pin_model, c.pin_data, c.pin_q, c.pin_qd, c.pin_tau, c.pin_f_ext).copy()
    by_q, by_qd, M = of_pinocchio(pin.computeRNEADerivatives, c, qdd)
    expected = -np.linalg.solve(M, by_q), -np.linalg.solve(M, by_qd), np.linalg.inv(M)
    assert trees.worst_error(forward_derivatives(seed), expected) < TOLERANCE + rounding(c)


@SEED
def test_derivatives_of_forward_dynamics_by_complex_step(seed):
    c = case(seed)
    qdd = partial(trees.forward_dynamics, c.arrays, gravity=c.s.gravity, f_ext=c.s.f_ext)
    exact = trees.complex_steps(qdd, c.joints, c.s.q, c.s.qd, c.s.tau)[:, c.order[:, None], c.order]
    assert trees.worst_error(forward_derivatives(seed), exact) < 0.1 * TOLERANCE + rounding(c)
