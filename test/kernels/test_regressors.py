"""Regressors: times the links' inertial parameters they are torques and energies.

A difference is held against the largest number of its equation. Derivatives are complex steps.
"""

from functools import cache

from support.code.traces import trace
from support.matrices import matrix
from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.codegen.straight_line import count

TOLERANCE = 1e-10
STEP = 1e-30
SEEDS = pytest.mark.parametrize('seed', matrix(range(1, 25), (*range(1, 9), 12, 24)))
# the twin takes seconds for more joints
FEW_SEEDS = pytest.mark.parametrize('seed', matrix((1, 2, 3, 4, 5, 6, 7, 9, 12), (1, 2, 3, 4, 5)))


@cache
def case(seed):
    """Return joints, arrays, state and the stacked parameters (10 n) of a random tree of ``seed`` joints."""
    joints = trees.random_joints(seed, count=seed)
    arrays = trees.arrays_of(joints)
    return joints, arrays, trees.random_state(joints, seed), arrays.I[1:].ravel()


@cache
def torque_regressor(seed):
    _, arrays, s, _ = case(seed)
    return trees.torque_regressor(arrays, s.q, s.qd, s.qdd, s.gravity)


def slope(function, *args_and_directions):
    """Return the derivative of ``function`` where each argument x moves in its direction d: x, d, x, d."""
    pairs = zip(args_and_directions[::2], args_and_directions[1::2], strict=True)
    return function(*(x + 1j * STEP * direction for x, direction in pairs)).imag / STEP


# what they are for


@SEEDS
def test_torques_are_the_regressor_times_the_parameters_and_the_rotors(seed):
    joints, arrays, s, pi = case(seed)
    tau = trees.inverse_dynamics(arrays, s.q, s.qd, s.qdd, s.gravity, trees.no_wrenches(joints))
    assert (arrays.rotor > 0.0).any() or seed < 4
    assert trees.relative_error(torque_regressor(seed) @ pi + arrays.rotor[1:] * s.qdd, tau) < TOLERANCE


@SEEDS
def test_energies_are_their_regressors_times_the_parameters_and_the_rotors(seed):
    _, arrays, s, pi = case(seed)
    kinetic = trees.kinetic_energy(arrays, s.q, s.qd)
    of_rotors = 0.5 * arrays.rotor[1:] @ s.qd**2
    assert abs(trees.kinetic_energy_regressor(arrays, s.q, s.qd) @ pi + of_rotors - kinetic) < TOLERANCE * kinetic
    potential = trees.potential_energy(arrays, s.q, s.gravity)
    scale = 9.81 * arrays.I[:, 0].max()  # J, the heaviest link lifted by 1 m
    assert abs(trees.potential_energy_regressor(arrays, s.q, s.gravity) @ pi - potential) < TOLERANCE * scale


@SEEDS
def test_the_parameters_themselves_do_not_matter(seed):
    _, arrays, s, _ = case(seed)
    other = arrays._replace(I=np.full_like(arrays.I, np.nan), rotor=np.full_like(arrays.rotor, np.nan))
    assert (trees.torque_regressor(other, s.q, s.qd, s.qdd, s.gravity) == torque_regressor(seed)).all()
    for of in (arrays, other):
        assert np.isfinite(trees.kinetic_energy_regressor(of, s.q, s.qd)).all()
        assert np.isfinite(trees.potential_energy_regressor(of, s.q, s.gravity)).all()


# the slow twins


@FEW_SEEDS
def test_torque_regressor_column_by_column(seed):
    joints, _, s, _ = case(seed)
    expected = naive.torque_regressor(joints, s.q, s.qd, s.qdd, s.gravity)
    assert trees.relative_error(torque_regressor(seed), expected) < TOLERANCE


@FEW_SEEDS
def test_energy_regressors_column_by_column(seed):
    joints, arrays, s, _ = case(seed)
    robots = naive.unit_bodies(joints)
    kinetic = np.array([naive.kinetic_energy(bodies, s.q, s.qd) for bodies in robots])
    assert trees.relative_error(trees.kinetic_energy_regressor(arrays, s.q, s.qd), kinetic) < TOLERANCE
    potential = np.array([naive.potential_energy(bodies, s.q, s.gravity) for bodies in robots])
    assert trees.relative_error(trees.potential_energy_regressor(arrays, s.q, s.gravity), potential) < TOLERANCE


# identities, column by column


@SEEDS
def test_power_in_is_the_rate_of_both_energies(seed):
    _, arrays, s, _ = case(seed)
    kinetic = slope(lambda q, qd: trees.kinetic_energy_regressor(arrays, q, qd), s.q, s.qd, s.qd, s.qdd)
    potential = slope(lambda q: trees.potential_energy_regressor(arrays, q, s.gravity), s.q, s.qd)
    assert trees.relative_error(s.qd @ torque_regressor(seed), kinetic + potential) < TOLERANCE


@SEEDS
def test_gravity_torques_are_the_gradient_of_the_potential_energy(seed):
    _, arrays, s, _ = case(seed)
    rest = 0.0 * s.q
    Y = trees.torque_regressor(arrays, s.q, rest, rest, s.gravity)
    rows = [slope(lambda q: trees.potential_energy_regressor(arrays, q, s.gravity), s.q, e) for e in np.eye(seed)]
    assert np.abs(Y - rows).max() < TOLERANCE * np.abs(Y).max()


@SEEDS
def test_kinetic_energy_is_half_the_velocity_times_the_momentum(seed):
    _, arrays, s, _ = case(seed)
    momentum = trees.torque_regressor(arrays, s.q, 0.0 * s.q, s.qd, trees.no_gravity())
    kinetic = trees.kinetic_energy_regressor(arrays, s.q, s.qd)
    assert trees.relative_error(0.5 * s.qd @ momentum, kinetic) < TOLERANCE


@SEEDS
def test_a_joint_feels_the_links_that_it_carries_and_no_others(seed):
    joints, _, _, _ = case(seed)
    parent = naive.parents(joints)
    for i in range(1, seed + 1):
        carriers, j = [], i
        while j > 0:
            carriers.append(j - 1)
            j = parent[j]
        columns = torque_regressor(seed)[:, 10 * (i - 1) : 10 * i]
        others = np.setdiff1d(np.arange(seed), carriers)
        assert (columns[others] == 0.0).all() and columns[carriers].any(axis=1).all()


# the outside source


@pytest.mark.parametrize('seed', matrix(range(1000, 1060), range(1000, 1020)))
def test_regressors_of_pinocchio(seed):
    pin = pytest.importorskip('pinocchio', minversion='3.4', reason='Pinocchio (package pin) is not installed')
    joints = trees.random_joints(seed)
    s, arrays = trees.random_state(joints, seed), trees.arrays_of(joints)
    model, order, _ = trees.pinocchio_tree(joints)
    model.gravity.linear = s.gravity
    data = model.createData()
    state = [vector[order] for vector in (s.q, s.qd, s.qdd)]
    # its joints in its order, and xx, xy, yy, xz, yz, zz of each link
    columns = (10 * order[:, None] + [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]).ravel()
    Y = trees.torque_regressor(arrays, s.q, s.qd, s.qdd, s.gravity)[order][:, columns]
    assert trees.relative_error(Y, pin.computeJointTorqueRegressor(model, data, *state)) < TOLERANCE
    y = trees.kinetic_energy_regressor(arrays, s.q, s.qd)[columns]
    assert trees.relative_error(y, pin.computeKineticEnergyRegressor(model, data, *state[:2])) < TOLERANCE
    y = trees.potential_energy_regressor(arrays, s.q, s.gravity)[columns]
    assert trees.relative_error(y, pin.computePotentialEnergyRegressor(model, data, state[0])) < TOLERANCE


# the facade and the specialised code


def test_a_payload_changes_the_parameters_and_not_the_regressor():
    bare = Robot.named('aubo_i5')
    robot = bare.with_payload(Payload(3.0, (0.1, 0.02, 0.3), 0.01 * np.eye(3)), 'ee_link')
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, 6))
    Y = robot.torque_regressor(q, qd, qdd)
    assert (bare.torque_regressor(q, qd, qdd) == Y).all()
    for arm in (bare, robot):
        tau = arm.inverse_dynamics(q, qd, qdd) - arm.rotor_inertia * qdd
        assert np.abs(Y @ arm.inertial_parameters - tau).max() < TOLERANCE * np.abs(tau).max()
    assert np.abs(robot.inertial_parameters - bare.inertial_parameters)[:50].max() == 0.0
    assert robot.inertial_parameters[50] == bare.inertial_parameters[50] + 3.0


def test_specialised_code_leaves_out_what_is_zero():
    arrays = Robot.named('aubo_i5')._model.arrays
    results = np.array(trace(arrays, 'torque_regressor'), object).reshape(6, 60)
    zero = np.array([[isinstance(value, float) and value == 0.0 for value in row] for row in results])
    for j in range(6):
        assert zero[j, : 10 * j].all() and not zero[j, 10 * j :].all()
    operations = count(results.ravel())
    assert operations.multiplications <= 489 and operations.additions <= 370
