"""Derivatives of inverse and forward dynamics: complex steps, the textbook's RNEA, identities (Pinocchio's elsewhere).

A difference is held against the largest entry of its matrix; of one that is zero up to rounding, against a millionth of
the largest of the three.
"""

from functools import cache, partial
from types import SimpleNamespace

from support.matrices import matrix
from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros.model.configuration import integrate

TOLERANCE = 1e-10
SEED = pytest.mark.parametrize('seed', matrix(range(1000, 1020), range(1000, 1006)))
BY_Q, BY_QD, BY_QDD = range(3)


@cache
def case(seed):
    """Return a random tree, every other one with joints of all kinds, and its state."""
    joints = trees.random_joints(seed, general=0.5 * (seed % 2))
    return SimpleNamespace(joints=joints, arrays=trees.arrays_of(joints), s=trees.random_state(joints, seed))


@cache
def inverse(seed):
    c = case(seed)
    return trees.inverse_dynamics_derivatives(c.arrays, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, c.s.f_ext)


@cache
def forward(seed):
    c = case(seed)
    return trees.forward_dynamics_derivatives(c.arrays, c.s.q, c.s.qd, c.s.tau, c.s.gravity, c.s.f_ext)


def test_tangents_are_those_of_integrate():
    """To the first order: central differences, whose best step is the cube root of eps."""
    c, h = case(1001), 6e-6
    for unit, tangent in zip(np.eye(len(c.s.qd)), naive.tangents(c.joints, c.s.q).T, strict=True):
        moved = integrate(c.arrays, c.s.q, h * unit) - integrate(c.arrays, c.s.q, -h * unit)
        assert np.allclose(moved / (2 * h), tangent, rtol=0.0, atol=1e-9)


def by_complex_step(function, seed, x):
    """Return the derivatives of ``function``, wrenches included, at a case's q and qd and a third vector."""
    c = case(seed)
    acting = {'gravity': c.s.gravity, 'f_ext': c.s.f_ext}
    return trees.complex_steps(partial(function, c.arrays, **acting), c.joints, c.s.q, c.s.qd, x)


@SEED
def test_of_inverse_dynamics_by_complex_step(seed):
    expected = by_complex_step(trees.inverse_dynamics, seed, case(seed).s.qdd)
    assert trees.worst_error(inverse(seed), expected) < TOLERANCE


@SEED
def test_of_forward_dynamics_by_complex_step(seed):
    """Of ``aba``, which shares no solve with them."""
    expected = by_complex_step(trees.forward_dynamics, seed, case(seed).s.tau)
    assert trees.worst_error(forward(seed), expected) < TOLERANCE


@pytest.mark.parametrize('seed', matrix([1000, 1001, 1003, 1004, 1005, 1009], [1001]))
def test_of_the_textbook_by_central_differences(seed):
    """Of the naive RNEA along ``integrate``; differences of a step of 1e-5 are good to 1e-7 or so."""
    c, h = case(seed), 1e-5

    def tau(q, qd, qdd):
        return naive.inverse_dynamics(c.joints, q, qd, qdd, c.s.gravity, c.s.f_ext)[0]

    def moved(place, step):
        q, qd, qdd = c.s.q, c.s.qd, c.s.qdd
        return (
            (integrate(c.arrays, q, step), qd, qdd),
            (q, qd + step, qdd),
            (q, qd, qdd + step),
        )[place]

    units = h * np.eye(len(c.s.qd))[:: 1 + len(c.s.qd) // 12]
    for place, D in enumerate(inverse(seed)):
        expected = [(tau(*moved(place, unit)) - tau(*moved(place, -unit))) / (2 * h) for unit in units]
        assert np.abs(D.T[:: 1 + len(c.s.qd) // 12] - expected).max() < 1e-6 * np.abs(D).max()


# identities


@SEED
def test_the_last_of_inverse_dynamics_is_the_mass_matrix(seed):
    c = case(seed)
    M = trees.mass_matrix(c.arrays, c.s.q)
    assert trees.relative_error(inverse(seed)[BY_QDD], M) < TOLERANCE
    assert trees.relative_error(forward(seed)[BY_QDD] @ M, np.eye(len(M))) < 1e-9


@SEED
def test_coriolis_torques_are_quadratic_in_the_velocity(seed):
    """Euler's theorem on c(q, qd): its derivative by qd times qd is 2 c."""
    c = case(seed)
    rest, none = np.zeros_like(c.s.qd), trees.no_wrenches(c.joints)
    bias, gravity = (trees.inverse_dynamics(c.arrays, c.s.q, qd, rest, c.s.gravity, none) for qd in (c.s.qd, rest))
    twice = inverse(seed)[BY_QD] @ c.s.qd
    assert trees.relative_error(twice, 2.0 * (bias - gravity)) < TOLERANCE


@pytest.mark.parametrize('seed', matrix(range(1000, 1020, 2), range(1000, 1006, 2)))
def test_gravity_torques_have_a_symmetric_derivative(seed):
    """They are a gradient, where velocities are derivatives of coordinates."""
    c = case(seed)
    rest, none = np.zeros_like(c.s.qd), trees.no_wrenches(c.joints)
    by_q, by_qd, _ = trees.inverse_dynamics_derivatives(c.arrays, c.s.q, rest, rest, c.s.gravity, none)
    assert trees.relative_error(by_q.T, by_q) < TOLERANCE
    assert not by_qd.any()
