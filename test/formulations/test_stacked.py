"""The closed form by stacked matrices: its terms against the kernels, and their identities."""

from support.robots import chains
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formulations import stacked
from robot_dynamics_ros.formulations.screws import ScrewChain

AGREED = 1e-11  # relative
ROBOTS = {**chains.arms(), **{f'chain {seed}': chains.random_chain(seed) for seed in range(20)}}
every_robot = pytest.mark.parametrize('name', ROBOTS)


@pytest.mark.rounding
@every_robot
def test_terms_are_those_of_the_kernels(name):
    """M symmetric and positive definite, c, g, J, and J' F_tip of what the last link exerts."""
    robot = ROBOTS[name]
    q, qd, _, wrench = chains.random_motion(robot, 1)
    M, c, g, tip = stacked.closed_form(robot, q, qd, wrench)
    J = robot.jacobian(q, robot.link_names[-1])
    assert chains.disagreement(M, robot.mass_matrix(q)) < AGREED
    assert chains.disagreement(M, M.T) < bound(10, 6 * robot.nv)
    assert (np.linalg.eigvalsh(M) > 0.0).all()
    # of the terms' sum: c and g of a short chain may be rounding
    scale = np.abs(c).max() + np.abs(g).max() + np.abs(tip).max()
    assert np.abs(c - robot.coriolis_torque(q, qd)).max() < AGREED * scale
    assert np.abs(g - robot.gravity_torque(q)).max() < AGREED * scale
    assert np.abs(tip + J.T @ wrench).max() < AGREED * scale
    assert chains.disagreement(stacked.jacobian(robot, q), J) < AGREED


@every_robot
def test_coriolis_torques_do_no_work(name):
    """qd' (Mdot qd - 2 c) = 0; Mdot by differences."""
    robot = ROBOTS[name]
    q, qd, *_ = chains.random_motion(robot, 2)
    h = 1e-5
    M_1, M_2 = (stacked.closed_form(robot, q + step * qd, qd).M for step in (-h, h))
    stored = qd @ ((M_2 - M_1) / (2.0 * h)) @ qd
    c = stacked.closed_form(robot, q, qd).c
    assert stored == pytest.approx(2.0 * qd @ c, rel=1e-6, abs=1e-7 * np.abs(qd) @ np.abs(M_1) @ np.abs(qd))


@every_robot
def test_stacked_matrices(name):
    """W^n = 0, L = (1 - W)^-1 is block lower triangular with identities on its diagonal."""
    chain = ScrewChain.of(ROBOTS[name], 'test')
    q, *_ = chains.random_motion(ROBOTS[name], 3)
    stack, n = stacked.stack(chain, q), chain.n
    assert not np.linalg.matrix_power(stack.W, n).any()
    assert np.allclose(stack.L @ (np.eye(6 * n) - stack.W), np.eye(6 * n), rtol=0.0, atol=1e-12)
    for i in range(n):
        rows = stack.L[6 * i : 6 * i + 6]
        assert (rows[:, 6 * i : 6 * i + 6] == np.eye(6)).all()
        assert not rows[:, 6 * i + 6 :].any()


def test_without_gravity_motion_or_wrench_the_terms_vanish():
    robot = Robot.named('aubo_i5').with_gravity((0.0, 0.0, 0.0))
    _, c, g, tip = stacked.closed_form(robot, np.ones(6), np.zeros(6))
    assert not c.any() and not g.any() and not tip.any()
