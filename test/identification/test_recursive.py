"""Recursive least squares: the estimate of all samples at once, with weights; parameters that nothing excites stay."""

from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import RecursiveLeastSquares

NOISE = np.array([0.1, 0.3, 1.0])
DEVIATION = np.array([1.0, 0.5, 2.0, 10.0, 0.1])
PRIOR = np.array([3.0, -1.0, 0.5, 20.0, 0.0])
P, M = len(PRIOR), len(NOISE)


def samples(count, seed=1, excited=P):
    random = np.random.default_rng(seed)
    truth = PRIOR + DEVIATION * random.normal(size=P)
    rows = random.normal(size=(count, M, P))
    rows[..., excited:] = 0.0
    return truth, rows, rows @ truth + NOISE * random.normal(size=(count, M))


def fed(rows, values, forgetting=1.0):
    recursive = RecursiveLeastSquares(PRIOR, DEVIATION, NOISE, forgetting)
    for row, value in zip(rows, values, strict=True):
        recursive.update(row, value)
    return recursive


def test_before_the_first_sample_there_is_the_prior():
    recursive = RecursiveLeastSquares(PRIOR, DEVIATION, NOISE)
    assert recursive.estimate.tolist() == PRIOR.tolist()
    assert recursive.standard_deviation.tolist() == DEVIATION.tolist()


@pytest.mark.rounding
@pytest.mark.parametrize('forgetting', [1.0, 0.9, 0.99])
def test_estimate_and_deviation_are_those_of_weighted_least_squares(forgetting):
    """The slow twin: normal equations of all samples, weights, and prior, solved at once."""
    _, rows, values = samples(60)
    recursive = fed(rows, values, forgetting)
    information, vector = np.diag(DEVIATION**-2.0), PRIOR / DEVIATION**2
    for k, (row, value) in enumerate(zip(rows, values, strict=True)):
        restored = (1.0 - forgetting**P) * np.diag((np.arange(P) == k % P) / DEVIATION**2)
        information = forgetting * information + row.T @ (row / NOISE[:, None] ** 2) + restored
        vector = forgetting * vector + row.T @ (value / NOISE**2) + restored @ PRIOR
    condition = np.linalg.cond(information)
    estimate = np.linalg.solve(information, vector)
    assert np.abs(recursive.estimate - estimate).max() < bound(10, 60 * P, condition, np.abs(PRIOR).max())
    deviation = np.sqrt(np.diag(np.linalg.inv(information)))
    assert np.abs(recursive.standard_deviation - deviation).max() < bound(10, 60 * P, condition, deviation.max())


def test_deviations_say_how_far_estimates_are_from_the_truth():
    """Normalised errors of 200 draws have a mean square of 1, up to 5 deviations of that mean."""
    squares = []
    for seed in range(200):
        truth, rows, values = samples(4, seed)
        recursive = fed(rows, values)
        squares.append(((recursive.estimate - truth) / recursive.standard_deviation) ** 2)
    assert np.mean(squares) == pytest.approx(1.0, abs=5.0 * np.sqrt(2.0 / 200))


def test_with_forgetting_parameters_that_change_are_followed():
    truth, rows, values = samples(400)
    other = truth + 2.0 * DEVIATION
    values[200:] = rows[200:] @ other
    recursive = fed(rows, values, 0.95)
    assert (np.abs(recursive.estimate - other) < 0.05 * DEVIATION + 4.0 * recursive.standard_deviation).all()
    assert (np.abs(fed(rows, values).estimate - other) > 0.3 * DEVIATION).all()


def test_what_is_not_excited_keeps_the_information_of_the_prior():
    """Otherwise that information decays by 0.9^5000, a number below the smallest double."""
    _, rows, values = samples(5000, excited=2)
    recursive = fed(rows, values, 0.9)
    assert recursive.estimate[2:] == pytest.approx(PRIOR[2:], rel=1e-9)
    limit = DEVIATION * 0.9 ** (-P / 2)
    assert (recursive.standard_deviation <= limit * (1.0 + 1e-9)).all()
    assert (recursive.standard_deviation[2:] >= 0.99 * DEVIATION[2:]).all()
    # and what is excited anew is found at once
    truth, rows, values = samples(100)
    for row, value in zip(rows, values, strict=True):
        recursive.update(row, value)
    assert (np.abs(recursive.estimate - truth) < 6.0 * recursive.standard_deviation).all()


def test_nearly_dependent_rows_of_any_size_leave_the_estimate_finite():
    random = np.random.default_rng(5)
    recursive = RecursiveLeastSquares(PRIOR, DEVIATION, NOISE, 0.99)
    for _ in range(1000):
        row = random.normal(size=(M, 1)) * np.ones(P) * 10.0 ** random.uniform(-12, 8)
        recursive.update(row * (1.0 + 1e-14 * random.normal(size=P)), random.normal(size=M))
        assert np.isfinite(recursive.estimate).all() and (recursive.standard_deviation > 0.0).all()


@pytest.mark.parametrize('wrong', [np.nan, np.inf, -np.inf])
def test_a_sample_that_is_not_finite_is_refused_and_changes_nothing(wrong):
    _, rows, values = samples(3)
    recursive = fed(rows[:2], values[:2])
    before = recursive.estimate.tolist()
    bad = rows[2].copy()
    bad[1, 3] = wrong
    with pytest.raises(ArgumentError, match=r'rows\[1, 3\]'):
        recursive.update(bad, values[2])
    with pytest.raises(ArgumentError, match=r'values\[0\]'):
        recursive.update(rows[2], [wrong, 0.0, 0.0])
    assert recursive.estimate.tolist() == before


@pytest.mark.parametrize(
    ('name', 'arguments'),
    [
        ('prior', ([], 1.0, NOISE)),
        ('prior', ([[1.0]], 1.0, NOISE)),
        ('prior', ([np.nan], 1.0, NOISE)),
        ('deviation', (PRIOR, [1.0, 2.0], NOISE)),
        ('deviation', (PRIOR, 0.0, NOISE)),
        ('noise', (PRIOR, DEVIATION, [1.0, -1.0])),
        ('forgetting', (PRIOR, DEVIATION, NOISE, 0.0)),
        ('forgetting', (PRIOR, DEVIATION, NOISE, 1.001)),
        ('forgetting', (PRIOR, DEVIATION, NOISE, np.nan)),
    ],
)
def test_arguments_are_refused_by_name(name, arguments):
    with pytest.raises(ArgumentError, match=f'^{name}'):
        RecursiveLeastSquares(*arguments)


@pytest.mark.parametrize(('rows', 'values'), [(np.zeros((M, P + 1)), np.zeros(M)), (np.zeros((M, P)), np.zeros(M + 1))])
def test_a_sample_of_another_shape_is_refused(rows, values):
    with pytest.raises(ArgumentError, match='expected shape'):
        RecursiveLeastSquares(PRIOR, DEVIATION, NOISE).update(rows, values)
