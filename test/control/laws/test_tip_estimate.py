"""The estimate of the tip link against a slow twin, and that a body has it whatever the error."""

import numpy as np
import pytest

from robot_dynamics_ros.control.laws.tip_estimate import FLOOR, MEAN, RADIUS, TipEstimate
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.pseudo_inertia import (
    parameters_of_log_cholesky,
    parameters_of_pseudo_inertia,
    pseudo_inertia,
    violation,
)

MASS, GAIN, H = 5.0, 1.0, 0.002
ROOT = np.sqrt(MASS) * np.array([RADIUS, RADIUS, RADIUS, 1.0])
ROW = ten_parameters(2.0, [0.02, -0.03, 0.1], np.diag([0.01, 0.02, 0.015]))
REGRESSORS = np.random.default_rng(2).uniform(-10.0, 10.0, (200, 6, 10))
ERRORS = np.random.default_rng(3).uniform(-1.0, 1.0, (200, 6))


def begun(row=ROW, gain=GAIN):
    estimate = TipEstimate(MASS, 6, gain)
    estimate.restart(*estimate.nearest(row))
    return estimate


PLACES = [(j, k) for j in range(4) for k in range(j + 1)]
BASES = np.zeros((10, 4, 4))
for i, (j, k) in enumerate(PLACES):
    BASES[i, j, k] = BASES[i, k, j] = 1.0
TRACES = np.array([[np.trace(basis @ pseudo_inertia(pi)) for basis in BASES] for pi in np.eye(10)])


def gradient(b):
    """The symmetric matrix L with tr(L P(pi)) = b' pi for each of the ten parameters, by a linear system."""
    return np.tensordot(np.linalg.solve(TRACES, b), BASES, 1)


def twin(P, Y, s):
    """One step of the adaptation and its projection, in dense matrices."""
    P_r = np.diag(ROOT**2)
    Q = (P + GAIN * H * P_r @ gradient(Y.T @ s) @ P_r) / np.outer(ROOT, ROOT)
    Q[3, 3] = min(Q[3, 3], 1.0)
    values, vectors = np.linalg.eigh(Q)
    Q = (vectors * np.maximum(values, FLOOR)) @ vectors.T
    return Q / max(1.0, Q[3, 3]) * np.outer(ROOT, ROOT)


def test_each_step_is_that_of_the_slow_twin_also_where_it_is_projected():
    estimate, P, projected = begun(), pseudo_inertia(ROW), 0
    for Y, s in zip(REGRESSORS, ERRORS, strict=True):
        estimate.step(Y, s, H)
        P = twin(P, Y, s)
        projected += np.linalg.eigvalsh(P / np.outer(ROOT, ROOT))[0] < 1.001 * FLOOR
        np.testing.assert_allclose(pseudo_inertia(estimate.parameters), P, rtol=1e-9, atol=1e-10)
    assert 5 < projected < 195, projected


@pytest.mark.parametrize('size', [1.0, 1e3, 1e9])
def test_a_body_has_the_estimate_at_each_step_however_large_the_error(size):
    estimate = begun()
    for Y, s in zip(REGRESSORS, size * ERRORS, strict=True):
        estimate.step(Y, s, H)
        assert violation(estimate.parameters) is None
        assert violation(estimate.mean) is None
        assert estimate.parameters[0] <= MASS * (1.0 + 1e-12)


def test_the_projection_brings_the_estimate_no_further_from_any_body_within_the_bounds():
    rng = np.random.default_rng(4)

    def distance(one, other):
        return np.linalg.norm((one - other) / np.outer(ROOT, ROOT))

    checked, estimate = 0, begun()
    for Y, s in zip(REGRESSORS, 3.0 * ERRORS, strict=True):
        estimate.restart(*estimate.nearest(ROW))
        P_r = np.diag(ROOT**2)
        before = pseudo_inertia(ROW) + GAIN * H * P_r @ gradient(Y.T @ s) @ P_r
        estimate.step(Y, s, H)
        after = pseudo_inertia(estimate.parameters)
        coordinates = rng.normal(0.0, 0.5, 10)
        coordinates[1:4] -= 2.0
        body = pseudo_inertia(parameters_of_log_cholesky(coordinates))
        within = np.linalg.eigvalsh(body / np.outer(ROOT, ROOT))[0] > FLOOR and body[3, 3] < MASS
        if within and distance(before, after) > 1e-9:
            checked += 1
            assert distance(after, body) <= distance(before, body) * (1.0 + 1e-9)
    assert checked > 20


def test_the_nearest_estimate_of_a_body_is_that_body_and_of_others_one_within_the_bounds():
    estimate = TipEstimate(MASS, 6, GAIN)
    assert estimate.nearest(ROW)[0] == pytest.approx(ROW, rel=1e-12, abs=1e-15)
    point = ten_parameters(2.0, [0.1, 0.0, 0.0], np.zeros((3, 3)))
    for row in (point, np.zeros(10), 3.0 * ROW, ten_parameters(1.0, [0.0, 0.0, 0.0], np.diag([0.1, 0.01, 0.01]))):
        parameters = estimate.nearest(row)[0]
        assert violation(parameters) is None and parameters[0] <= MASS * (1.0 + 1e-12)
    # the floor is small: a point mass keeps its weight
    assert estimate.nearest(point)[0][:4] == pytest.approx(point[:4], abs=1e-4)


def test_the_mean_is_that_of_the_time_since_the_start_then_that_of_its_time_constant():
    estimate = begun(gain=1e-4)
    seen = []
    for Y, s in zip(REGRESSORS[:10], ERRORS[:10], strict=True):
        estimate.step(Y, s, H)
        seen.append(estimate.parameters.copy())
    assert estimate.mean == pytest.approx(np.mean(seen, axis=0), rel=1e-9, abs=1e-12)
    estimate.restart(*estimate.nearest(ROW))
    assert estimate.mean == pytest.approx(ROW, rel=1e-12, abs=1e-15)
    estimate.step(REGRESSORS[0], ERRORS[0], MEAN)
    after, changed = estimate.parameters.copy(), estimate.parameters + 0.0
    for _ in range(2):
        before = estimate.mean.copy()
        estimate.step(REGRESSORS[1], np.zeros(6), 0.1 * MEAN)
        changed = before + 0.1 * (after - before)
        assert estimate.mean == pytest.approx(changed, rel=1e-12, abs=1e-15)


def test_no_error_changes_nothing():
    estimate = begun()
    estimate.step(REGRESSORS[0], np.zeros(6), H)
    assert estimate.parameters == pytest.approx(ROW, rel=1e-12, abs=1e-15)
    assert parameters_of_pseudo_inertia(pseudo_inertia(ROW)) == pytest.approx(ROW, rel=1e-12, abs=1e-15)
