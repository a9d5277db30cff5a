"""Derivatives of inverse and forward dynamics: complex steps, the textbook's RNEA, Pinocchio, identities.

A difference is held against the largest entry of its matrix; of one that is zero up to rounding, against a millionth of
the largest of the three.
"""

from functools import cache

import naive
import numpy as np
import pytest
import random_trees as trees
from scipy.spatial.transform import Rotation
from test_dynamics_pinocchio import SEEDS, case, pin

from robot_dynamics_ros.dynamics.configuration import integrate

TOLERANCE = 1e-10
STEP = 1e-30
FEW_SEEDS = pytest.mark.parametrize('seed', range(1000, 1040))
BY_Q, BY_QD, BY_QDD = range(3)


@cache
def inverse(seed):
    c = case(seed)
    return trees.inverse_dynamics_derivatives(c.arrays, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, c.s.f_ext)


@cache
def forward(seed):
    c = case(seed)
    return trees.forward_dynamics_derivatives(c.arrays, c.s.q, c.s.qd, c.s.tau, c.s.gravity, c.s.f_ext)


def tangents(joints, q):
    """Return how q moves with a unit of each velocity, (nq, nv): CONVENTIONS 23 and 24, and q' = q w/2 (RBDA 4.4)."""
    result = np.zeros((len(q), len(naive.rotors(joints))))
    for joint, (of_q, of_v) in zip(joints, naive.places(joints), strict=True):
        own, block = q[of_q], result[of_q, of_v]
        if joint.kind == 'planar':
            block[:2, :2] = [[np.cos(own[2]), -np.sin(own[2])], [np.sin(own[2]), np.cos(own[2])]]
            block[2, 2] = 1.0
        elif joint.kind in ('spherical', 'free'):
            x, y, z, w = own[-4:]
            block[-4:, :3] = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
            if joint.kind == 'free':
                block[:3, 3:] = Rotation.from_quat(own[-4:]).as_matrix()
        else:
            block[:] = np.eye(len(own))
    return result


def complex_steps(function, joints, *state):
    """Return the derivatives (3, nv, nv) of ``function`` of q, qd and a third vector."""
    directions = (tangents(joints, state[0]).T, np.eye(len(state[1])), np.eye(len(state[2])))
    columns = []
    for place, units in enumerate(directions):
        for unit in units:
            moved = [x + 1j * STEP * unit if k == place else x + 0j for k, x in enumerate(state)]
            columns.append(function(*moved).imag / STEP)
    nv = len(state[1])
    return np.reshape(columns, (3, nv, nv)).swapaxes(1, 2)


def worst(D, expected) -> float:
    """Return the largest relative error of three matrices."""
    least = 1e-6 * max(np.abs(matrix).max() for matrix in expected)
    scales = [max(np.abs(matrix).max(), least) for matrix in expected]
    return max(np.abs(a - b).max() / scale for a, b, scale in zip(D, expected, scales, strict=True))


def forward_by_complex_step(seed):
    c = case(seed)
    gravity, f_ext = c.s.gravity + 0j, c.s.f_ext + 0j

    def qdd(q, qd, tau):
        return trees.forward_dynamics(c.arrays, q, qd, tau, gravity, f_ext)

    return complex_steps(qdd, c.joints, c.s.q, c.s.qd, c.s.tau)


def test_tangents_are_those_of_integrate():
    """To the first order: central differences."""
    c, h = case(1001), 1e-6
    for unit, tangent in zip(np.eye(len(c.s.qd)), tangents(c.joints, c.s.q).T, strict=True):
        moved = integrate(c.arrays, c.s.q, h * unit) - integrate(c.arrays, c.s.q, -h * unit)
        assert np.allclose(moved / (2 * h), tangent, rtol=0.0, atol=1e-9)


@FEW_SEEDS
def test_of_inverse_dynamics_by_complex_step(seed):
    """Of ``rnea``, wrenches included."""
    c = case(seed)
    gravity, f_ext = c.s.gravity + 0j, c.s.f_ext + 0j

    def tau(q, qd, qdd):
        return trees.inverse_dynamics(c.arrays, q, qd, qdd, gravity, f_ext)

    assert worst(inverse(seed), complex_steps(tau, c.joints, c.s.q, c.s.qd, c.s.qdd)) < TOLERANCE


@FEW_SEEDS
def test_of_forward_dynamics_by_complex_step(seed):
    """Of ``aba``, which shares no solve with them."""
    assert worst(forward(seed), forward_by_complex_step(seed)) < TOLERANCE


@pytest.mark.parametrize('seed', [1000, 1001, 1003, 1004, 1005, 1009])
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


@pytest.mark.parametrize('seed', SEEDS)
def test_of_inverse_dynamics_against_pinocchio(seed):
    c = case(seed)
    by_q, by_qd, M = pin.computeRNEADerivatives(c.pin_model, c.pin_data, c.pin_q, c.pin_qd, c.pin_qdd, c.pin_f_ext)
    own = [D[np.ix_(c.order, c.order)] for D in inverse(seed)]
    M = np.triu(M) + np.triu(M, 1).T
    assert worst(own, (by_q, by_qd, M)) < 1e-9


@cache
def forward_of_pinocchio(seed):
    c = case(seed)
    state = c.pin_q, c.pin_qd, c.pin_tau, c.pin_f_ext
    by_q, by_qd, upper = pin.computeABADerivatives(c.pin_model, c.pin_data, *state)
    return [by_q.copy(), by_qd.copy(), np.triu(upper) + np.triu(upper, 1).T]


ILL_CONDITIONED = (1169, 1277)
"""Trees of which Pinocchio's derivatives of forward dynamics lose more digits than 1e-9 leaves."""


@pytest.mark.parametrize('seed', [seed for seed in SEEDS if seed not in ILL_CONDITIONED])
def test_of_forward_dynamics_against_pinocchio(seed):
    order = case(seed).order
    assert worst([D[np.ix_(order, order)] for D in forward(seed)], forward_of_pinocchio(seed)) < 1e-9


@pytest.mark.parametrize('seed', ILL_CONDITIONED)
def test_of_forward_dynamics_where_pinocchio_is_further_off(seed):
    """Complex steps decide: these are within 1e-10, Pinocchio's a hundred times further off."""
    order, exact = case(seed).order, forward_by_complex_step(seed)
    error = worst(forward(seed), exact)
    assert error < TOLERANCE
    assert worst(forward_of_pinocchio(seed), [D[np.ix_(order, order)] for D in exact]) > 100 * error


# identities


@FEW_SEEDS
def test_the_last_of_inverse_dynamics_is_the_mass_matrix(seed):
    c = case(seed)
    M = trees.mass_matrix(c.arrays, c.s.q)
    assert trees.relative_error(inverse(seed)[BY_QDD], M) < TOLERANCE
    assert trees.relative_error(forward(seed)[BY_QDD] @ M, np.eye(len(M))) < 1e-9


@FEW_SEEDS
def test_coriolis_torques_are_quadratic_in_the_velocity(seed):
    """Euler's theorem on c(q, qd): its derivative by qd times qd is 2 c."""
    c = case(seed)
    rest, none = np.zeros_like(c.s.qd), trees.no_wrenches(c.joints)
    bias, gravity = (trees.inverse_dynamics(c.arrays, c.s.q, qd, rest, c.s.gravity, none) for qd in (c.s.qd, rest))
    twice = inverse(seed)[BY_QD] @ c.s.qd
    assert trees.relative_error(twice, 2.0 * (bias - gravity)) < TOLERANCE


@pytest.mark.parametrize('seed', range(1000, 1040, 2))
def test_gravity_torques_have_a_symmetric_derivative(seed):
    """They are a gradient, where velocities are derivatives of coordinates."""
    c = case(seed)
    rest, none = np.zeros_like(c.s.qd), trees.no_wrenches(c.joints)
    by_q, by_qd, _ = trees.inverse_dynamics_derivatives(c.arrays, c.s.q, rest, rest, c.s.gravity, none)
    assert trees.relative_error(by_q.T, by_q) < TOLERANCE
    assert not by_qd.any()
