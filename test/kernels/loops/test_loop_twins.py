"""Closed loops against textbook twins: random trees with random loops, and mechanisms."""

from functools import cache

from support.matrices import matrix
from support.robots import random_trees as trees
from support.robots.mechanisms import MECHANISMS, projected
from support.rounding import bound
from support.twins import closed_chains as chains

import numpy as np
import pytest

from robot_dynamics_ros import Payload

SEED = pytest.mark.parametrize('seed', matrix([*range(40), 41, 89, 150], [*range(5), 41, 89, 150]))
MECHANISM = pytest.mark.parametrize('name', list(MECHANISMS))


@cache
def case(seed, apart=0.0):
    """Return joints, loops, robot and state of a random tree with loops."""
    joints, loops, state = chains.random_closed_tree(seed, apart=apart)
    return joints, loops, chains.robot_of(joints, loops, state.gravity), state


def rank_of(J) -> int:
    return int(np.linalg.matrix_rank(J / chains.row_lengths(J)[:, None], chains.RANK))


def check(robot, q, qd, tau, closing_torques=0.0):
    """Compare forward dynamics with both twins."""
    qdd, largest = robot.forward_dynamics(q, qd, tau), chains.rounding(robot, q, qd, tau)
    for way in (chains.by_kkt, chains.by_elimination):
        assert np.abs(qdd - way(robot, q, qd, tau + closing_torques)).max() < largest, way.__name__


@pytest.mark.rounding
@SEED
def test_errors_are_those_of_the_poses(seed):
    joints, loops, robot, state = case(seed, 0.3)
    errors = robot.loop_errors(state.q)
    # sums along the tree of lengths of some metres
    most = bound(20, len(joints), scale=max(1.0, np.abs(robot.model.arrays.r0).max(), np.abs(state.q).max()))
    assert np.abs(errors - chains.errors(joints, loops, state.q)).max() < most
    assert np.abs(errors).max() > 0.01
    _, _, shut, state = case(seed)
    assert np.abs(shut.loop_errors(state.q)).max() < most


@SEED
def test_jacobian_is_the_derivative_of_the_errors_also_where_loops_are_open(seed):
    _, _, robot, state = case(seed, 0.3)
    expected = chains.by_velocities(robot.loop_errors, robot, state.q)
    assert trees.relative_error(robot.loop_jacobian(state.q), expected) < 1e-10


@SEED
def test_rates_and_accelerations_are_time_derivatives_of_the_errors(seed):
    _, _, robot, (q, qd, qdd, *_) = case(seed, 0.3)
    rates, accelerations = chains.derivatives_along(robot.loop_errors, robot, q, qd, qdd, step=0.01)
    assert trees.relative_error(robot.loop_rates(q, qd), rates) < 1e-9
    assert trees.relative_error(robot.loop_accelerations(q, qd, qdd), accelerations) < 1e-7
    J = robot.loop_jacobian(q)
    assert np.allclose(robot.loop_rates(q, qd), J @ qd, rtol=0.0, atol=1e-12 * np.abs(J).max())
    bias = robot.loop_accelerations(q, qd, np.zeros_like(qd))
    assert trees.relative_error(robot.loop_accelerations(q, qd, qdd), J @ qdd + bias) < 1e-12


@pytest.mark.rounding
@SEED
def test_accelerations_of_random_trees(seed):
    """Open loops and any velocity where rows are independent; closed ones and velocities that keep them otherwise."""
    for apart in (0.0, 0.3):
        _, _, robot, (q, qd, _, tau, *_) = case(seed, apart)
        J = robot.loop_jacobian(q)
        if rank_of(J) < len(J):
            qd = projected(robot, q, qd)
        if rank_of(J) == len(J) or not apart:
            # where A and B are apart, a spring about the axis of one is no spring about that of the other
            torques = robot._evaluate('spring_torque', robot._inputs, None, q, qd)
            if not apart:
                expected = chains.spring_torques(robot, q, qd)
                assert np.abs(torques - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())
            check(robot, q, qd, tau, torques)


@pytest.mark.rounding
@MECHANISM
def test_accelerations_of_mechanisms(name):
    for seed in range(4):
        check(MECHANISMS[name].robot, *MECHANISMS[name].state(seed))


@MECHANISM
def test_mechanisms_are_what_they_claim(name):
    """Mobility by the facade, and by the rank of the Jacobian."""
    mechanism = MECHANISMS[name]
    q, qd, _ = mechanism.state(0)
    J = mechanism.robot.loop_jacobian(q)
    assert np.abs(mechanism.robot.loop_errors(q)).max() < 1e-13 and np.abs(J @ qd).max() < 1e-13
    assert mechanism.robot.nv - rank_of(J) == mechanism.mobility == mechanism.robot.mobility(q)
    assert np.abs(qd).max() > 0.1


@pytest.mark.rounding
def test_a_payload_on_any_link():
    for name in ('delta of parallelograms', 'Stewart platform on a leg'):
        mechanism = MECHANISMS[name]
        for link in ('platform', mechanism.joints[-1].link):
            robot = mechanism.robot.with_payload(Payload(mass=3.0, com=(0.05, 0.02, 0.1)), link)
            state = mechanism.state(5)
            check(robot, *state)
            assert not np.allclose(robot.forward_dynamics(*state), mechanism.robot.forward_dynamics(*state), rtol=1e-3)


@pytest.mark.parametrize('seed', range(8))
def test_wrenches_act_as_their_joint_torques(seed):
    _, _, robot, (q, qd, _, tau, _, wrenches) = case(seed)
    qd, tree = projected(robot, q, qd), robot.with_loops([])
    none = np.zeros(robot.nv)
    torques = tree.gravity_torque(q) - tree.inverse_dynamics(q, none, none, wrenches, reference_frame='local')
    found = robot.forward_dynamics(q, qd, tau, wrenches, reference_frame='local')
    expected = robot.forward_dynamics(q, qd, tau + torques)
    assert np.abs(found - expected).max() < 1e-9 * max(np.abs(expected).max(), np.abs(torques).max())
    assert np.abs(torques).max() > 1.0
