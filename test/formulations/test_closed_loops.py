"""``closed_loops``: two ways of forward dynamics with loops against the kernels, each other, and a parallelogram."""

from support.robots import chains
from support.robots.mechanisms import four_bar, gears, ladder, parallelogram

import numpy as np
import pytest

from robot_dynamics_ros import LoopClosure, Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formulations import closed_loops, spatial
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree

AGREEMENT = 1e-9
MECHANISMS = {it.name: it for it in (*map(four_bar, ('point', 'planar_point', 'revolute', 'weld')), gears(), ladder(3))}
both = pytest.mark.parametrize('method', closed_loops.METHODS, ids=lambda method: method.__name__)


@pytest.mark.compiled
@both
@pytest.mark.parametrize('name', MECHANISMS)
def test_accelerations_agree_with_the_kernels(method, name):
    robot = MECHANISMS[name].robot
    for seed in range(3):
        q, qd, tau = MECHANISMS[name].state(seed)
        assert chains.disagreement(method(robot, q, qd, tau), robot.forward_dynamics(q, qd, tau)) < AGREEMENT


@pytest.mark.parametrize('name', MECHANISMS)
def test_the_equations_hold_and_no_force_of_a_loop_works(name):
    """Eq. 17 and 15: phi' qdd = c, and M qdd + C - tau does no work on any motion that the loops allow."""
    robot = MECHANISMS[name].robot
    q, qd, tau = MECHANISMS[name].state(7)
    tree = KinematicTree.of(robot.with_loops([]), 'test', serial=False)
    phi_q, c = closed_loops.constraints(robot, tree, q, qd)
    rows, K, _ = closed_loops.eliminated(phi_q, c)
    assert K.shape[1] == MECHANISMS[name].mobility == tree.n - len(rows)
    assert np.abs(phi_q @ K).max() < AGREEMENT and np.abs(phi_q @ qd).max() < AGREEMENT
    for method in closed_loops.METHODS:
        qdd = method(robot, q, qd, tau)
        assert np.abs(phi_q @ qdd - c).max() < AGREEMENT * max(1.0, np.abs(c).max())
        of_loops = spatial.inverse_dynamics(tree, q, qd, qdd) - tau
        assert np.abs(K.T @ of_loops).max() < AGREEMENT * np.abs(of_loops).max()


@both
def test_a_parallelogram_is_a_pendulum(method):
    """The coupler does not turn: phi'' = (sum of torques - weight) / (I_1 + I_3 + m_2 l^2) for cranks of length l."""
    robot, l, r, g = parallelogram().robot, 0.3, 0.01, 9.81
    m_1, m_2, m_3 = 0.4, 1.1, 0.8
    inertia = (m_1 + m_3) * (l**2 / 3.0 + r**2 / 4.0) + m_2 * l**2
    weight = g * l * (0.5 * m_1 + m_2 + 0.5 * m_3)
    for angle, rate in ((0.8, 0.0), (1.3, -2.0), (2.4, 3.0)):
        q, tau = np.array([angle, -angle, angle]), np.array([1.0, -0.4, 0.3])
        expected = (tau @ [1.0, -1.0, 1.0] - weight * np.cos(angle)) / inertia
        qdd = method(robot, q, rate * np.array([1.0, -1.0, 1.0]), tau)
        assert qdd == pytest.approx(expected * np.array([1.0, -1.0, 1.0]), rel=1e-10)


def test_dependent_rows_are_left_out():
    """A revolute closure in a plane has five rows, of which two are independent."""
    mechanism = MECHANISMS['four-bar, revolute']
    q, qd, _ = mechanism.state(1)
    tree = KinematicTree.of(mechanism.open, 'test', serial=False)
    phi_q, c = closed_loops.constraints(mechanism.robot, tree, q, qd)
    assert phi_q.shape == (5, 3)
    rows, K, qdd_0 = closed_loops.eliminated(phi_q, c)
    assert len(rows) == np.linalg.matrix_rank(phi_q, tol=1e-8) == 2
    assert np.abs(phi_q @ (K @ [0.7] + qdd_0) - c).max() < 1e-12 * max(1.0, np.abs(c).max())


@both
def test_without_loops_it_is_the_tree(method):
    robot = Robot.named('aubo_i5')
    q, qd, tau, _ = chains.random_motion(robot, 4)
    assert chains.disagreement(method(robot, q, qd, tau), spatial.forward_dynamics(robot, q, qd, tau)) < AGREEMENT


@both
def test_what_it_does_not_represent_is_refused_by_name(method):
    mechanism = MECHANISMS['four-bar, revolute']
    q, qd, tau = mechanism.state(1)
    loop = mechanism.loops[0]
    sprung = LoopClosure('hinge', loop.link_a, loop.pose_a, loop.link_b, loop.pose_b, 'revolute', stiffness=2.0)
    with pytest.raises(ModelError, match=r"^closed loops: closure 'hinge' has a spring or damper"):
        method(mechanism.open.with_loops([sprung]), q, qd, tau)
    with pytest.raises(ArgumentError, match=r'^tau: expected shape \(3,\)'):
        method(mechanism.robot, q, qd, tau[:2])
