"""Least squares under physical consistency: the pseudo-inertia of every link stays positive definite (NumPy).

The problem is convex, with a unique minimum::

    minimise  x' H x / 2 - b' x + sum_i w_i D(P_i || P_i0),    x = [ten parameters of each link, further parameters]

D(P || P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4 is the log-det divergence of pseudo-inertias (4, 4), which is 0 for
P = P0, infinite for an inconsistent P, and does not depend on frames or units. Lee, Wensing & Park 2020; Wensing, Kim &
Slotine 2018.
"""

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.inertial_parameters import central_parameters, ten_parameters
from robot_dynamics_ros.model.pseudo_inertia import pseudo_inertia, violation

TOLERANCE = 1e-10
"""Distance to the minimum at which the steps end, as a share of the smallest weight: half a squared Newton decrement,
and the complementarity of a bound."""
ROUNDING = 1e-14
"""Of the size of the objective's terms: no distance to the minimum is told below."""
STEPS = 300
LEAST_CENTRING = 0.02
"""Least target of a step as a share of the mean complementarity; a step of length t is followed by 1 - t."""
FRACTION = 0.9
"""Largest step, as a share of the way to a matrix or number that is no longer positive."""
RADIUS = 0.01
"""Least extent of a link of a prior about its centre in every direction, root mean square, m."""
LEAST_MASS = 0.01
"""Least mass of a link of a prior, kg."""

_ROWS = np.array([pseudo_inertia(row) for row in np.eye(10)])
"""Pseudo-inertias of unit parameters: P = sum_k pi_k _ROWS[k]."""


def consistent_prior(rows) -> np.ndarray:
    """Return ten parameters (n, 10) of links as a prior: mass and extents that are too small for a body are enlarged.

    Descriptions have links without mass, point masses, and inertias that break the triangle inequality.
    """
    result = []
    for row in np.reshape(rows, (-1, 10)):
        mass, centre, inertia = central_parameters(row)
        mass = max(mass, LEAST_MASS)
        # P = tr(I)/2 1 - I has eigenvalues of at least m RADIUS^2
        moments, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
        P = (axes * np.maximum(moments, mass * RADIUS**2)) @ axes.T
        result.append(ten_parameters(mass, centre, np.trace(P) * np.eye(3) - P))
    return np.array(result)


def minimise(H, b, prior, weights, at_least_zero=False) -> tuple[np.ndarray, np.ndarray]:
    """Return the minimum of x' H x / 2 - b' x + sum_i w_i D(P_i || P_i0) by a primal-dual Newton method.

    Parameters
    ----------
    H : array_like, (10 n + k, 10 n + k)
        Symmetric, positive semidefinite; positive definite on the k further parameters.
    b : array_like, (10 n + k,)
    prior : array_like, (n, 10)
        Ten parameters of each link (kg, kg m, kg m^2), with a positive definite pseudo-inertia.
    weights : array_like, (n,), or a number
        Weights w_i > 0, in the unit of the objective.
    at_least_zero : array_like of bool, (k,), or bool
        Which further parameters are at least 0.

    Returns
    -------
    tuple of two ndarray
        x (10 n + k,), and the Hessian of the objective there (10 n + k, 10 n + k), with that of the divergence.

    Raises
    ------
    ArgumentError
        For a prior that is not consistent, naming its row, for weights that are not positive, and where there is no
        minimum: ``H`` leaves a further parameter undetermined, or numbers are of too different size.
    """
    prior, b = np.reshape(np.asarray(prior, float), (-1, 10)), np.asarray(b, float)
    n = len(prior)
    for i, row in enumerate(prior):
        if fault := violation(row):
            raise ArgumentError(f'prior[{i}]: {fault}')
    weights = np.broadcast_to(np.asarray(weights, float), n)
    if not (weights > 0.0).all():
        raise ArgumentError(f'weights: expected numbers above 0, got {weights.tolist()}')
    bounded = 10 * n + np.flatnonzero(np.broadcast_to(at_least_zero, len(b) - 10 * n))
    H, inverses = np.asarray(H, float), np.linalg.inv([pseudo_inertia(row) for row in prior])
    try:
        x = _minimum(H, b, prior, inverses, weights, bounded)
    except np.linalg.LinAlgError:
        why = 'a further parameter is undetermined, or numbers are of too different size, as by a wrong sample of a log'
        raise ArgumentError(f'H, b: no minimum: {why}') from None
    return x, _with_blocks(H, np.linalg.inv(_matrices(x, n)) * np.sqrt(weights)[:, None, None])


def _minimum(H, b, prior, inverses, weights, bounded) -> np.ndarray:
    """Return the minimum x, from ``inverses`` (n, 4, 4) of the prior's pseudo-inertias.

    ``bounded`` are the places of further parameters that are at least 0. Optimal are H x - b + w P0^-1 = S and P S = w
    1 for links, H x - b = s and x s = 0 for bounds. Directions are those of Nesterov & Todd 1998, towards P S = mu 1
    with mu decreasing to w, from the prior.
    """
    n, links, least = len(prior), prior.size, weights.min()
    linear, further = b.copy(), np.diag(H)[bounded]
    linear[:links] -= _traces(weights[:, None, None] * inverses)
    x = np.concatenate([prior.ravel(), np.zeros(len(b) - links)])
    further = np.where(further > 0.0, further, 1.0)
    x[bounded] = np.maximum(1.0 / np.sqrt(further), np.abs(b[bounded]) / further)
    # begin where all complementarities are the same multiple of the weights
    multiple, centring = max(1.0, np.abs(x * (H @ x - linear)).max() / weights.max()), 1.0
    S, s = multiple * weights[:, None, None] * inverses, multiple * weights.mean() / x[bounded]
    for _ in range(STEPS):
        P = _matrices(x, n)
        L, R = np.linalg.cholesky(P), np.linalg.cholesky(S)
        U, sizes, _ = np.linalg.svd(R.transpose(0, 2, 1) @ L)
        # W^-1 = G G' with G = R U D^-1/2, the mean of S and P^-1: W^-1 P W^-1 = S
        G = R @ U / np.sqrt(sizes)[:, None, :]
        scaling, inverse = G @ G.transpose(0, 2, 1), np.linalg.inv(P)
        of_bounds, multiple = s * x[bounded], float((sizes**2 / weights[:, None]).mean())
        target = max(1.0, centring * multiple) * weights
        aim = centring * of_bounds.mean() if len(s) else 0.0
        # (H + W^-1 x W^-1) dx = -(H x - b + w P0^-1) + mu P^-1
        residual = linear - H @ x
        residual[:links] += _traces(target[:, None, None] * inverse)
        residual[bounded] += aim / x[bounded]
        hessian = _with_blocks(H, scaling)
        hessian[bounded, bounded] += s / x[bounded]
        dx = np.linalg.solve(hessian, residual)
        size = abs(float(x @ H @ x)) + abs(float(b @ x))
        accuracy = max(TOLERANCE * least, ROUNDING * size)
        if (target == weights).all() and residual @ dx <= 2.0 * accuracy and of_bounds.sum() <= accuracy:
            return x
        # dS = mu P^-1 - S - W^-1 dP W^-1
        dP = _matrices(dx, n)
        dS = target[:, None, None] * inverse - S - scaling @ dP @ scaling
        ds = (aim - s * dx[bounded]) / x[bounded] - s
        least_change = min(_least_change(L, dP), _least_change(R, dS), *(dx[bounded] / x[bounded]), *(ds / s))
        t = FRACTION / max(FRACTION, -least_change)
        x, S, s = x + t * dx, S + t * dS, s + t * ds
        centring = max(LEAST_CENTRING, 1.0 - t)
    raise ArgumentError(f'H: no minimum in {STEPS} steps; H may not be positive semidefinite')


def _matrices(x: np.ndarray, n: int) -> np.ndarray:
    """Return the pseudo-inertias of the links, (n, 4, 4)."""
    return np.tensordot(x[: 10 * n].reshape(n, 10), _ROWS, 1)


def _with_blocks(H: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return H plus the matrices of dP -> W dP W of each link (n, 4, 4)."""
    hessian, products = H.copy(), W[:, None] @ _ROWS
    # tr(W P_j W P_k)
    blocks = products.reshape(-1, 10, 16) @ products.transpose(0, 1, 3, 2).reshape(-1, 10, 16).transpose(0, 2, 1)
    for i, block in enumerate(blocks):
        hessian[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] += block
    return hessian


def _traces(matrices: np.ndarray) -> np.ndarray:
    """Return the traces of symmetric matrices (n, 4, 4) times those of the unit parameters, (10 n,)."""
    return np.tensordot(matrices, _ROWS, ((1, 2), (1, 2))).ravel()


def _least_change(factor: np.ndarray, change: np.ndarray) -> float:
    """Return the least eigenvalue of a change of L L' relative to it, (n, 4, 4) each; at -1 one becomes singular."""
    inverse = np.linalg.inv(factor)
    return np.linalg.eigvalsh(inverse @ change @ inverse.transpose(0, 2, 1)).min(initial=0.0)
