"""Least squares under physical consistency: the pseudo-inertia of every link stays positive definite (NumPy).

The problem is convex, with a unique minimum::

    minimise  x' H x / 2 - b' x + sum_i w_i D(P_i || P_i0),    x = [ten parameters of each link, further parameters]

D(P || P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4 is the log-det divergence of pseudo-inertias (4, 4), which is 0 for
P = P0, infinite for an inconsistent P, and does not depend on frames or units. Lee, Wensing & Park 2020; Wensing, Kim &
Slotine 2018.
"""

from typing import NamedTuple

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

_PAIRS = np.triu_indices(4)
_SCALE = np.where(_PAIRS[0] == _PAIRS[1], 1.0, np.sqrt(2.0))
_ROWS = np.array([pseudo_inertia(row) for row in np.eye(10)])  # P = sum_k pi_k _ROWS[k]
_BASIS = np.zeros((10, 4, 4))  # orthonormal for symmetric matrices: Z = sum_k z_k _BASIS[k]
_BASIS[np.arange(10), _PAIRS[0], _PAIRS[1]] = _BASIS[np.arange(10), _PAIRS[1], _PAIRS[0]] = 1.0 / _SCALE
_ONE = np.eye(4)[_PAIRS]


class Minimum(NamedTuple):
    """Minimum of ``minimise``: x (10 n + k,), the objective there, its Hessian, and the number of Newton steps."""

    x: np.ndarray
    objective: float
    hessian: np.ndarray  # (10 n + k, 10 n + k), divergence included
    steps: int


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


def minimise(H, b, prior, weights, at_least_zero=False) -> Minimum:
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
    Minimum

    Raises
    ------
    ArgumentError
        For a prior that is not consistent, naming its row, for weights that are not positive, and where ``H`` leaves a
        further parameter undetermined.
    """
    prior, b = np.reshape(np.asarray(prior, float), (-1, 10)), np.asarray(b, float)
    n = len(prior)
    for i, row in enumerate(prior):
        if fault := violation(row):
            raise ArgumentError(f'prior[{i}]: {fault}')
    weights = np.broadcast_to(np.asarray(weights, float), n)
    if not (weights > 0.0).all():
        raise ArgumentError(f'weights: expected numbers above 0, got {weights.tolist()}')
    to_x = _coordinates(prior, np.diag(H)[10 * n :])
    bounded = 10 * n + np.flatnonzero(np.broadcast_to(at_least_zero, len(b) - 10 * n))
    problem = _Problem(to_x.T @ H @ to_x, to_x.T @ b, weights, bounded)
    try:
        z, steps = _minimum(problem)
    except np.linalg.LinAlgError:
        raise ArgumentError(
            'H, b: numbers of too different size, such as one wrong sample of a log; no minimum'
        ) from None
    x, from_x = to_x @ z, np.linalg.inv(to_x)
    return Minimum(x, problem.objective(z), from_x.T @ problem.hessian(z) @ from_x, steps)


class _Problem(NamedTuple):
    """The problem in coordinates z, in which every prior pseudo-inertia is the identity."""

    H: np.ndarray
    b: np.ndarray
    weights: np.ndarray
    bounded: np.ndarray  # places of further parameters that are at least 0

    def matrices(self, z) -> np.ndarray:
        """Return Z (n, 4, 4), the links' pseudo-inertias L^-1 P L^-T with the prior's P0 = L L'."""
        return np.tensordot(z[: 10 * len(self.weights)].reshape(-1, 10), _BASIS, 1)

    def objective(self, z) -> float:
        """Return the objective."""
        Z = self.matrices(z)
        # tr Z - log det Z - 4
        divergence = np.trace(Z, axis1=1, axis2=2) - np.linalg.slogdet(Z)[1] - 4.0
        return float(0.5 * z @ self.H @ z - self.b @ z + self.weights @ divergence)

    def hessian(self, z) -> np.ndarray:
        """Return the objective's Hessian."""
        inverse = np.linalg.inv(self.matrices(z)) * np.sqrt(self.weights)[:, None, None]
        return self.with_blocks(inverse, np.zeros(len(self.bounded)))

    def with_blocks(self, W, of_bounds) -> np.ndarray:
        """Return H plus the matrices of dZ -> W dZ W of each link (n, 4, 4), and diagonal entries of the bounds."""
        hessian, products = self.H.copy(), W[:, None] @ _BASIS
        # tr(W B_j W B_k)
        blocks = products.reshape(-1, 10, 16) @ products.transpose(0, 1, 3, 2).reshape(-1, 10, 16).transpose(0, 2, 1)
        for i, block in enumerate(blocks):
            hessian[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] += block
        hessian[self.bounded, self.bounded] += of_bounds
        return hessian


def _minimum(problem: _Problem) -> tuple[np.ndarray, int]:
    """Return the minimum z and the number of steps.

    Optimal are H z - b + w 1 = S and Z S = w 1 for links, H z - b = s and z s = 0 for bounds. Directions are those of
    Nesterov & Todd 1998, towards Z S = mu 1 with mu decreasing to w, from the prior Z = 1.
    """
    H, b, weights, bounded = problem
    links, least = 10 * len(weights), weights.min()
    linear = b - np.concatenate([np.outer(weights, _ONE).ravel(), np.zeros(len(b) - links)])
    z = np.concatenate([np.tile(_ONE, len(weights)), np.zeros(len(b) - links)])
    z[bounded] = np.maximum(1.0, np.abs(b[bounded]))
    slope = H @ z - linear
    # begin where all complementarities are the same multiple of the weights
    multiple, centring = max(1.0, np.abs(slope).max() / weights.max()), 1.0
    S = multiple * weights[:, None, None] * np.eye(4)
    s = multiple * weights.mean() / z[bounded]
    for step in range(STEPS):
        Z = problem.matrices(z)
        L, R = np.linalg.cholesky(Z), np.linalg.cholesky(S)
        U, sizes, _ = np.linalg.svd(R.transpose(0, 2, 1) @ L)
        # W^-1 = G G' with G = R U D^-1/2, the mean of S and Z^-1: W^-1 Z W^-1 = S
        G = R @ U / np.sqrt(sizes)[:, None, :]
        scaling = G @ G.transpose(0, 2, 1)
        inverse = np.linalg.inv(Z)
        of_bounds, multiple = s * z[bounded], float((sizes**2 / weights[:, None]).mean())
        target = max(1.0, centring * multiple) * weights
        aim = centring * of_bounds.mean() if len(s) else 0.0
        # (H + W^-1 x W^-1) dz = -(H z - b + w 1) + mu Z^-1
        residual = linear - H @ z
        residual[:links] += _vectors(target[:, None, None] * inverse).ravel()
        residual[bounded] += aim / z[bounded]
        hessian = problem.with_blocks(scaling, s / z[bounded])
        try:
            dz = np.linalg.solve(hessian, residual)
        except np.linalg.LinAlgError:
            raise ArgumentError('H: a further parameter is undetermined: H is not positive definite') from None
        size = abs(float(z @ H @ z)) + abs(float(b @ z))
        accuracy = max(TOLERANCE * least, ROUNDING * size)
        if (target == weights).all() and residual @ dz <= 2.0 * accuracy and of_bounds.sum() <= accuracy:
            return z, step
        # dS = mu Z^-1 - S - W^-1 dZ W^-1
        dZ = problem.matrices(dz)
        dS = target[:, None, None] * inverse - S - scaling @ dZ @ scaling
        ds = (aim - s * dz[bounded]) / z[bounded] - s
        t = min(1.0, FRACTION * min(_way(L, dZ), _ratio(z[bounded], dz[bounded]), _way(R, dS), _ratio(s, ds)))
        z, S, s = z + t * dz, S + t * dS, s + t * ds
        centring = max(LEAST_CENTRING, 1.0 - t)
    raise ArgumentError(f'H: no minimum in {STEPS} steps; H may not be positive semidefinite')


def _way(factor: np.ndarray, change: np.ndarray) -> float:
    """Return the largest t for which all L L' + t change (n, 4, 4) are positive semidefinite, of L (n, 4, 4)."""
    inverse = np.linalg.inv(factor)
    least = np.linalg.eigvalsh(inverse @ change @ inverse.transpose(0, 2, 1)).min(initial=0.0)
    return -1.0 / least if least < 0.0 else np.inf


def _ratio(values: np.ndarray, change: np.ndarray) -> float:
    """Return the largest t for which all values + t change are at least 0."""
    least = (change / values).min(initial=0.0)
    return -1.0 / least if least < 0.0 else np.inf


def _coordinates(prior: np.ndarray, further: np.ndarray) -> np.ndarray:
    """Return the matrix of x = matrix z; ``further`` are diagonal entries of H, which become 1."""
    size = 10 * len(prior) + len(further)
    matrix = np.zeros((size, size))
    for i, row in enumerate(prior):
        inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(row)))
        # z = L^-1 P L^-T
        matrix[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = np.linalg.inv(_vectors(inverse @ _ROWS @ inverse.T).T)
    places = np.arange(10 * len(prior), size)
    matrix[places, places] = 1.0 / np.sqrt(np.where(further > 0.0, further, 1.0))
    return matrix


def _vectors(matrices: np.ndarray) -> np.ndarray:
    """Return the coordinates (..., 10) of symmetric matrices (..., 4, 4)."""
    return matrices[..., _PAIRS[0], _PAIRS[1]] * _SCALE
