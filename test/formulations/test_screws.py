"""Twists, exponentials and adjoints by their identities; forward kinematics against the kernels' poses."""

from support.robots import chains
from support.rounding import bound

import numpy as np
import pytest
from scipy.linalg import expm

from robot_dynamics_ros.formulations import screws
from robot_dynamics_ros.formulations.screws import ScrewChain, ad, adjoint, exp, inverse, twist_matrix

RANDOM = np.random.default_rng(4)


def screw_axis(kind: str) -> np.ndarray:
    w, v = RANDOM.normal(size=(2, 3))
    return np.concatenate([np.zeros(3), v]) if kind == 'prismatic' else np.concatenate([w / np.linalg.norm(w), v])


def random_pose() -> np.ndarray:
    return exp(screw_axis('revolute'), 1.3) @ exp(screw_axis('prismatic'), 0.7)


@pytest.mark.rounding
@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_the_exponential_is_that_of_the_matrix_and_a_pose(kind):
    for q in RANDOM.uniform(-6.0, 6.0, 20):
        S = screw_axis(kind)
        T = exp(S, q)
        assert np.allclose(T, expm(twist_matrix(S) * q), rtol=0.0, atol=1e-12)
        assert np.abs(T[:3, :3].T @ T[:3, :3] - np.eye(3)).max() < bound(30, 3)
        assert abs(np.linalg.det(T[:3, :3]) - 1.0) < bound(30, 3)
        assert T[3].tolist() == [0.0, 0.0, 0.0, 1.0]
        assert np.abs(T @ exp(S, -q) - np.eye(4)).max() < bound(40, 4, scale=np.abs(T).max())


@pytest.mark.rounding
def test_adjoints_of_a_pose_and_its_inverse_cancel():
    """Ad_T Ad_T^-1 = 1, Ad_AB = Ad_A Ad_B, and T [V] T^-1 = [Ad_T V] (4-54, 4-55)."""
    A, B, V = random_pose(), random_pose(), RANDOM.normal(size=6)
    a, b = np.abs(adjoint(A)).max(), np.abs(adjoint(B)).max()
    assert np.abs(adjoint(A) @ adjoint(inverse(A)) - np.eye(6)).max() < bound(10, 6, scale=a**2)
    assert np.abs(adjoint(A @ B) - adjoint(A) @ adjoint(B)).max() < bound(10, 6, scale=a * b)
    moved = A @ twist_matrix(V) @ inverse(A)
    assert np.abs(moved - twist_matrix(adjoint(A) @ V)).max() < bound(10, 6, scale=a * np.abs(V).max())


@pytest.mark.rounding
def test_ad_is_the_lie_bracket_and_the_derivative_of_the_adjoint():
    V, W = RANDOM.normal(size=(2, 6))
    bracket = twist_matrix(V) @ twist_matrix(W) - twist_matrix(W) @ twist_matrix(V)
    largest = bound(10, 6, scale=np.abs(V).max() * np.abs(W).max())
    assert np.abs(twist_matrix(ad(V) @ W) - bracket).max() < largest
    assert np.abs(ad(V) @ V).max() < bound(10, 6, scale=np.abs(V).max() ** 2)
    assert np.abs(ad(V) @ W + ad(W) @ V).max() < largest
    S, h = screw_axis('revolute'), 1e-6
    difference = (adjoint(exp(S, h)) - adjoint(exp(S, -h))) / (2.0 * h)
    assert np.allclose(difference, ad(S), rtol=0.0, atol=1e-9)


def assert_poses(robot, q):
    expected = [robot.link_pose(q, name) for name in robot.link_names]
    error = np.abs(screws.forward_kinematics(robot, q) - expected).max()
    assert error < bound(10, 4 * (robot.nv + 1), scale=np.abs(expected).max())


@pytest.mark.rounding
@pytest.mark.parametrize('seed', range(20))
def test_products_of_exponentials_are_the_kernels_poses(seed):
    robot = chains.random_chain(seed)
    q, *_ = chains.random_motion(robot, seed)
    assert_poses(robot, q)


@pytest.mark.rounding
@pytest.mark.parametrize('name', chains.arms())
def test_poses_of_the_arms(name):
    robot = chains.arms()[name]
    q, *_ = chains.random_motion(robot, 3)
    assert_poses(robot, q)


@pytest.mark.rounding
def test_screw_axes_in_frames_at_the_centres():
    """A_i = (a, c x a) of revolute and (0, a) of prismatic joints, whatever the links before; kinetic energy by G."""
    robot = chains.random_chain(9)
    chain = ScrewChain.of(robot, 'test')
    tree = chain.tree
    assert set(tree.revolute[1:]) == {True, False}
    for i in range(1, chain.n + 1):
        a, c = tree.axis[i], tree.com[i]
        # velocity of the centre of mass: a x c
        expected = [*a, *np.cross(a, c)] if tree.revolute[i] else [0.0, 0.0, 0.0, *a]
        assert np.abs(chain.A[i] - expected).max() < bound(20, 6, scale=np.abs(expected).max())
    q, qd, *_ = chains.random_motion(robot, 9)
    V, energy = np.zeros(6), tree.rotor[1:] @ qd**2 / 2.0
    for i, T in enumerate(chain.transforms(q)[1:], start=1):
        V = chain.A[i] * qd[i - 1] + adjoint(T) @ V
        energy += V @ chain.G[i] @ V / 2.0
    assert energy == pytest.approx(robot.kinetic_energy(q, qd), rel=1e-12)
