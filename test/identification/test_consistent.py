"""Least squares under physical consistency: Clarabel's optimum, identities at the minimum, limits and errors."""

from support.matrices import matrix
from support.robots import random_trees as trees

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.consistent import consistent_prior, minimise
from robot_dynamics_ros.model.inertial_parameters import moved, ten_parameters
from robot_dynamics_ros.model.pseudo_inertia import pseudo_inertia, violation

LINKS, FURTHER = 3, 4
BOUNDED = np.array([True, True, False, False])
SEEDS = pytest.mark.parametrize('seed', matrix(range(20), range(3)))


def problem(seed, noise=1.0, rows=20):
    """A square root of H and the measured side, with fewer rows than unknowns, and a prior that is not the truth."""
    random = np.random.default_rng(seed)
    truth, prior = (np.array([trees.random_body(random) for _ in range(LINKS)]) for _ in range(2))
    A = random.normal(size=(rows, 10 * LINKS + FURTHER)) * np.exp(random.normal(size=10 * LINKS + FURTHER))
    A = np.vstack([A, np.eye(10 * LINKS + FURTHER)[10 * LINKS :]])
    measured = A @ np.concatenate([truth.ravel(), [0.0, 2.0, -3.0, 0.0]]) + noise * random.normal(size=len(A))
    return A, measured, prior, np.exp(random.uniform(-5, 1, LINKS))


def solved(A, measured, prior, weights, **more):
    return minimise(A.T @ A, A.T @ measured, prior, weights, BOUNDED, **more)


def objective(A, measured, prior, weights, x) -> float:
    """The definition, with half of the squared measured side as constant."""
    total = 0.5 * np.sum((A @ x - measured) ** 2)
    for w, row, before in zip(weights, np.reshape(x[: 10 * LINKS], (-1, 10)), prior, strict=True):
        ratio = np.linalg.solve(pseudo_inertia(before), pseudo_inertia(row))
        total += w * (np.trace(ratio) - np.log(np.linalg.det(ratio)) - 4.0)
    return total


@SEEDS
def test_the_minimum_is_that_of_clarabel(seed):
    cvxpy = pytest.importorskip('cvxpy', reason='the outside source, CVXPY (package cvxpy), is not installed')
    A, measured, prior, weights = problem(seed, noise=10.0 ** (seed % 3 - 1))
    x = cvxpy.Variable(A.shape[1])
    total = 0.5 * cvxpy.sum_squares(A @ x - measured)
    for i, (w, before) in enumerate(zip(weights, prior, strict=True)):
        inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(before)))
        P = sum(x[10 * i + k] * (inverse @ pseudo_inertia(row) @ inverse.T) for k, row in enumerate(np.eye(10)))
        total += w * (cvxpy.trace(P) - cvxpy.log_det(P) - 4.0)
    oracle = cvxpy.Problem(cvxpy.Minimize(total), [x[10 * LINKS :][np.flatnonzero(BOUNDED)] >= 0.0])
    tight = {name: 1e-10 for name in ('tol_gap_abs', 'tol_gap_rel', 'tol_feas')}
    expected = oracle.solve(solver='CLARABEL', **tight)
    found, _ = solved(A, measured, prior, weights)
    assert objective(A, measured, prior, weights, found) == pytest.approx(expected, rel=1e-8)
    assert (found[10 * LINKS :][BOUNDED] >= 0.0).all()


@SEEDS
def test_no_neighbour_is_lower_and_the_hessian_is_the_second_difference(seed):
    A, measured, prior, weights = problem(seed)
    found, hessian = solved(A, measured, prior, weights)
    random = np.random.default_rng(seed)
    scale = 1.0 / np.sqrt(np.diag(hessian))
    for direction in random.normal(size=(5, A.shape[1])) * scale:
        direction[10 * LINKS :][BOUNDED] = 0.0
        at = [objective(A, measured, prior, weights, found + t * direction) for t in (-1e-3, 0.0, 1e-3)]
        assert at[1] < min(at[0], at[2])
        second = (at[0] - 2.0 * at[1] + at[2]) / 1e-6
        assert second == pytest.approx(direction @ hessian @ direction, rel=1e-2)


def test_a_bound_holds_only_what_it_has_to():
    A, measured, prior, weights = problem(3)
    measured[-FURTHER:] += 50.0 * np.array([-1.0, 0.0, -1.0, 0.0])
    found, _ = solved(A, measured, prior, weights)
    slope = A.T @ (A @ found - measured)
    at_bound, positive, negative, _ = found[10 * LINKS :]
    assert 0.0 <= at_bound < 1e-8 and slope[10 * LINKS] > 1.0
    assert positive > 0.0 and negative < -1.0
    assert np.abs(slope[10 * LINKS + 1 :]).max() < 1e-6


def test_heavy_weights_return_the_prior_and_light_ones_consistent_data():
    random = np.random.default_rng(4)
    A, measured, prior, _ = problem(4)
    held, _ = solved(A, measured, prior, 1e12 * np.ones(LINKS))
    assert held[: 10 * LINKS] == pytest.approx(prior.ravel(), rel=1e-6)
    body = trees.random_body(random)
    found, _ = minimise(np.eye(10), body, prior[:1], 1e-12)
    assert found == pytest.approx(body, rel=1e-6, abs=1e-6)


def test_the_frame_of_a_link_does_not_matter():
    A, _, prior, weights = problem(5)
    rotation = np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 0.8, -0.6]])
    to_other = np.array([moved(row, rotation, np.array([0.3, -0.2, 0.5])) for row in np.eye(10)]).T
    H, b = A.T @ A, A.T @ A @ np.concatenate([prior[::-1].ravel(), np.zeros(FURTHER)])
    back = np.eye(A.shape[1])
    back[:10, :10] = np.linalg.inv(to_other)
    other = prior.copy()
    other[0] = to_other @ prior[0]
    here, _ = minimise(H, b, prior, weights)
    there, _ = minimise(back.T @ H @ back, back.T @ b, other, weights)
    assert back @ there == pytest.approx(here, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ('changed', 'message'),
    [
        ({'prior': [ten_parameters(1.0, np.zeros(3), np.diag([1.0, 2.0, 4.0]))]}, r'prior\[0\].*triangle inequality'),
        ({'weights': 0.0}, 'weights: expected numbers above 0'),
        ({'H': np.diag([1.0] * 10 + [0.0])}, 'H, b: no minimum: a further parameter is undetermined'),
    ],
)
def test_what_has_no_minimum_is_rejected(changed, message):
    prior = [trees.random_body(np.random.default_rng(0))]
    arguments = {'H': np.eye(11), 'b': np.ones(11), 'prior': prior, 'weights': 1.0}
    with pytest.raises(ArgumentError, match=message):
        minimise(**{**arguments, **changed})


BODIES = {
    'no mass': ten_parameters(0.0, np.zeros(3), np.zeros((3, 3))),
    'point': ten_parameters(2.0, np.array([0.1, 0.0, -0.2]), np.zeros((3, 3))),
    'broken triangle inequality': ten_parameters(1.0, np.ones(3), np.diag([0.01, 0.02, 0.05])),
}


@pytest.mark.parametrize('name', BODIES)
def test_a_prior_that_no_body_has_becomes_one(name):
    row = BODIES[name]
    (prior,) = consistent_prior(row)
    assert violation(prior) is None
    assert prior[:4] == pytest.approx(row[:4], abs=0.011)
    body = trees.random_body(np.random.default_rng(1))
    assert consistent_prior(body)[0] == pytest.approx(body, rel=1e-12, abs=1e-12)
