"""Base parameters: the minimal set of identifiable combinations of a robot's inertial parameters.

Two independent methods: ``base_parameters`` applies grouping rules to the geometry, ``base_parameters_of_regressors``
finds the linearly dependent columns of sampled torque regressors.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.inertial_parameters import moved

TOLERANCE = 1e-9
"""Relative size of a vector's component orthogonal to others below which it counts as linearly dependent on them.

With 1e-4, axes that a description rotates by 1.5708 count as perpendicular; torques then agree to about 1e-4.
"""


class BaseParameters(NamedTuple):
    """Base parameters beta = regrouping pi: Y pi = Y[:, independent] beta.

    Y (nv, 10 n) is the torque regressor, pi (10 n,) the inertial parameters of the links.
    """

    independent: np.ndarray  # (b,) int64        columns of Y, ascending
    regrouping: np.ndarray  # (b, 10 n)          [1 K] with the columns in the order of pi


def base_parameters(arrays: ModelArrays, gravity, tolerance: float = TOLERANCE) -> BaseParameters:
    """Return the base parameters of a robot under ``gravity`` (3, m/s^2, base frame) by grouping rules.

    Combinations of a link's parameters without effect on its joint's torque are grouped with the parent's, as in
    ``regrouping``: 3 of the ten for a revolute joint, 6 for a prismatic one, more where the joints towards the base
    restrict the parent's motion (Gautier & Khalil 1990). They are found from energies without special cases, similar to
    Wensing, Niemeyer & Slotine 2017: parameters are grouped if their kinetic energy does not depend on the joint's own
    velocity, and if for every joint position the energy equals that of the grouped parameters on the parent.
    """
    joints = arrays.n
    for i in range(1, joints + 1):
        if not arrays.is_revolute_or_prismatic(i):
            raise ModelError(f'base parameters: joint {i} is neither revolute nor prismatic')
    unidentifiable: list[np.ndarray] = []
    dependent: list[int] = []
    reach = [_Reach(np.zeros((0, 6)), np.zeros((0, 10)), np.atleast_2d(np.asarray(gravity, float)))]
    for i in range(1, joints + 1):
        p = arrays.parent[i]
        transforms = _transforms(arrays, i)
        grouped = _null_space(_energy_changes(transforms, arrays.S[arrays.first[i]], reach[p]), tolerance)
        dependent += (10 * (i - 1) + _pivoted(grouped, tolerance)[0][: len(grouped)]).tolist()
        for row in grouped:
            parameters = np.zeros((joints + 1, 10))
            parameters[i], parameters[p] = row, -_to_parent(transforms[0]) @ row
            unidentifiable.append(parameters[1:].ravel())
        reach.append(_reach_of_link(transforms, arrays.S[arrays.first[i]], reach[p], tolerance))
    rows = np.reshape(unidentifiable, (len(unidentifiable), 10 * joints))
    return _without_dependent(np.array(dependent, int), rows)


def base_parameters_of_regressors(Y, tolerance: float = TOLERANCE) -> BaseParameters:
    """Return the base parameters of a robot from torque regressors Y (..., n, 10 n) at many random states.

    By QR decomposition with column pivoting (Gautier 1991).
    """
    rows = Y.reshape(-1, Y.shape[-1])
    order, R = _pivoted(rows, tolerance)
    rank = len(R)
    regrouping = np.zeros((rank, len(order)))
    # Y P = Q [R_1 R_2] = Y_1 [1 R_1^-1 R_2]
    regrouping[:, order[:rank]] = np.eye(rank)
    regrouping[:, order[rank:]] = np.linalg.solve(R[:, :rank], R[:, rank:])
    ascending = np.argsort(order[:rank])
    return BaseParameters(order[:rank][ascending], regrouping[ascending])


class _Reach(NamedTuple):
    """Bases, as rows, of what occurs at a link over all positions and velocities of the joints before; link frame."""

    motions: np.ndarray  # (., 6)    velocities
    energies: np.ndarray  # (., 10)  kinetic energy regressors of one link
    gravities: np.ndarray  # (., 3)  gravity vectors


def _transforms(arrays: ModelArrays, i: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return E (3, 3) and r (3, m) of joint ``i`` at 0 and at four more positions.

    Five positions are enough: E and r are linear in sin q and cos q, or in q, and all expressions are at most quadratic
    in them.
    """
    turns = arrays.angle[i] >= 0
    positions = np.arange(5) * (2.0 * np.pi / 5.0 if turns else 0.25)
    return [
        (arrays.E0[i] + arrays.Ec[i] * np.cos(q) + arrays.Es[i] * np.sin(q), arrays.r0[i] + arrays.r1[i, 0] * q)
        for q in positions
    ]


def _energy_changes(transforms, S, reach: _Reach) -> np.ndarray:
    """Return rows (., 10) whose null space are the parameters without effect on the joint's torque.

    ``reach`` is the parent's.
    """
    motions = _to_link(transforms, reach.motions)
    rows = [_energy(S, S)[None], *(_energy(S, v)[None] for v in motions)]
    at_zero = _to_parent(transforms[0])
    for transform in transforms[1:]:
        difference = _to_parent(transform) - at_zero
        rows += [reach.energies @ difference, reach.gravities @ difference[1:4]]
    return np.concatenate(rows)


def _reach_of_link(transforms, S, reach: _Reach, tolerance: float) -> _Reach:
    """Return the reach of a link from that of its parent."""
    motions = _to_link(transforms, reach.motions)
    energies = [_energy(S, S)[None], *(_energy(S, v)[None] for v in motions)]
    energies += [reach.energies @ _to_parent(transform) for transform in transforms]
    gravities = [reach.gravities @ E.T for E, _ in transforms]
    spanning = np.vstack([motions, S]), np.concatenate(energies), np.concatenate(gravities)
    return _Reach(*(_span(rows, tolerance) for rows in spanning))


def _to_link(transforms, motions: np.ndarray) -> np.ndarray:
    """Return X v (., 6) for each velocity v of the parent and each transform X."""
    w, v = motions[:, :3], motions[:, 3:]
    return np.concatenate([np.hstack([w @ E.T, (v - np.cross(r, w)) @ E.T]) for E, r in transforms])


def _energy(v, u) -> np.ndarray:
    """Return the regressor (10,) of v' I u for velocities v and u (6): its coefficients of the ten parameters of I."""
    w, z = v[:3], u[:3]
    across = np.outer(w, z) + np.outer(z, w)
    h = np.cross(v[3:], z) + np.cross(u[3:], w)
    halves = [0.5 * across[0, 0], across[0, 1], across[0, 2], 0.5 * across[1, 1], across[1, 2], 0.5 * across[2, 2]]
    return np.array([v[3:] @ u[3:], *h, *halves])


def _to_parent(transform) -> np.ndarray:
    """Return the matrix (10, 10) that transforms ten parameters of a link to the parent's frame."""
    E, r = transform
    return np.array([moved(unit, E.T, r) for unit in np.eye(10)]).T


def _without_dependent(dependent: np.ndarray, unidentifiable: np.ndarray) -> BaseParameters:
    """Return base parameters without ``dependent`` columns (d,); ``unidentifiable`` (d, 10 n) spans Y's null space."""
    independent = np.setdiff1d(np.arange(unidentifiable.shape[1]), dependent)
    # Y_1 N_1 + Y_2 N_2 = 0: Y_2 = Y_1 K with K = -N_1 N_2^-1
    regrouping = np.zeros((len(independent), unidentifiable.shape[1]))
    regrouping[:, independent] = np.eye(len(independent))
    regrouping[:, dependent] = -np.linalg.solve(unidentifiable[:, dependent], unidentifiable[:, independent]).T
    return BaseParameters(independent, regrouping)


def _pivoted(rows: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the column order of a QR decomposition with pivoting, independent columns first, and R (rank, columns).

    R's columns are in that order. Modified Gram-Schmidt, twice (Golub & Van Loan 2013, section 5.4.2).
    """
    remainder = np.array(rows, float)
    order = np.arange(remainder.shape[1])
    smallest = tolerance * np.linalg.norm(remainder, axis=0).max(initial=0.0)
    directions: list[np.ndarray] = []
    for k in range(min(remainder.shape)):
        sizes = np.linalg.norm(remainder, axis=0)
        if sizes[k:].max() <= smallest:
            break
        # the last of nearly equal columns, so that rounding does not decide: J_yy is dropped and J_xx kept
        chosen = k + int(np.flatnonzero(sizes[k:] > 0.99 * sizes[k:].max())[-1])
        order[k : chosen + 1] = np.roll(order[k : chosen + 1], 1)
        remainder[:, k : chosen + 1] = np.roll(remainder[:, k : chosen + 1], 1, axis=1)
        direction = remainder[:, k].copy()
        for other in directions:
            direction -= (other @ direction) * other
        direction /= np.linalg.norm(direction)
        directions.append(direction)
        remainder[:, k:] -= np.outer(direction, direction @ remainder[:, k:])
    basis = np.reshape(directions, (len(directions), len(remainder)))
    return order, basis @ np.asarray(rows, float)[:, order]


def _span(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Return an orthonormal basis, as rows, of the row space."""
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    return basis[sizes > tolerance * sizes.max(initial=0.0)]


def _null_space(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Return an orthonormal basis, as rows, of the null space."""
    _, sizes, basis = np.linalg.svd(rows)
    return basis[np.sum(sizes > tolerance * sizes.max(initial=0.0)) :]
