"""Base parameters: the fewest combinations of a robot's inertial parameters that its torques depend on.

Two ways that share nothing but the answer: ``base_parameters`` follows from the geometry what each joint can't tell
apart, ``base_parameters_of_regressors`` looks at which columns of torque regressors depend on the others.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.inertial_parameters import moved
from robot_dynamics_ros.model.model import ModelArrays

TOLERANCE = 1e-9
"""What is left of a vector less its part along others, relative to the largest: below, it depends on them.

With 1e-4, axes that a description turns by 1.5708 are at right angles; torques then stay to about that.
"""


class BaseParameters(NamedTuple):
    """b columns of the torque regressor that carry all of it, and what they are multiplied with.

    Y pi = Y[:, independent] (regrouping pi) for any ten parameters pi of the links.
    """

    independent: np.ndarray  # (b,) int64        columns of Y, ascending
    regrouping: np.ndarray  # (b, 10 n)          [1 K] with the columns in the order of pi


def base_parameters(arrays: ModelArrays, gravity, tolerance: float = TOLERANCE) -> BaseParameters:
    """Return the base parameters of a robot under ``gravity`` (3, m/s^2, base frame) by grouping rules.

    What a joint can't feel of its link is carried over to the parent, as in ``regrouping``: 3 of the ten parameters for
    a revolute joint, 6 for a prismatic one; more where the joints towards the base leave the parent few ways to move
    (Gautier & Khalil 1990). Which these are follows from energies without special cases, much as in Wensing, Niemeyer &
    Slotine 2017: parameters are carried over if the joint's own rate has no part in their kinetic energy and, wherever
    the joint stands, the parent's kinetic and potential energy stay.
    """
    joints = arrays.n
    for i in range(1, joints + 1):
        if not arrays.is_revolute_or_prismatic(i):
            raise ModelError(f'base parameters: joint {i} is neither revolute nor prismatic; take those of regressors')
    unfelt: list[np.ndarray] = []
    dependent: list[int] = []
    reach = [_Reach(np.zeros((0, 6)), np.zeros((0, 10)), np.atleast_2d(np.asarray(gravity, float)))]
    for i in range(1, joints + 1):
        p = arrays.parent[i]
        places = _places(arrays, i)
        own = _null_space(_felt(places, arrays.S[arrays.first[i]], reach[p]), tolerance)
        dependent += (10 * (i - 1) + _pivoted(own, tolerance)[0][: len(own)]).tolist()
        for row in own:
            parameters = np.zeros((joints + 1, 10))
            parameters[i], parameters[p] = row, -_to_parent(places[0]) @ row
            unfelt.append(parameters[1:].ravel())
        reach.append(_carried(places, arrays.S[arrays.first[i]], reach[p], tolerance))
    return _with_dependent(np.array(dependent, int), np.reshape(unfelt, (len(unfelt), 10 * joints)))


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
    """What a link can meet over all positions and rates of the joints between it and the base, as rows; link frame."""

    motions: np.ndarray  # (., 6)    velocities
    energies: np.ndarray  # (., 10)  kinetic energy's factors of the ten parameters
    gravities: np.ndarray  # (., 3)  gravity


def _places(arrays: ModelArrays, i: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return E (3, 3) and r (3, m) of joint ``i`` at 0 and at four more positions.

    These see all there is: E and r are of first order in sin q and cos q, or in q, and nothing here is of higher than
    their second order.
    """
    turns = arrays.angle[i] >= 0
    positions = np.arange(5) * (2.0 * np.pi / 5.0 if turns else 0.25)
    return [
        (arrays.E0[i] + arrays.Ec[i] * np.cos(q) + arrays.Es[i] * np.sin(q), arrays.r0[i] + arrays.r1[i, 0] * q)
        for q in positions
    ]


def _felt(places, S, reach: _Reach) -> np.ndarray:
    """Return rows (., 10) whose products with a link's parameters are all zero where its joint feels nothing of them.

    ``reach`` is the parent's.
    """
    motions = _moved(places, reach.motions)
    rows = [_energy(S, S)[None], *(_energy(S, v)[None] for v in motions)]
    at_rest = _to_parent(places[0])
    for place in places[1:]:
        difference = _to_parent(place) - at_rest
        rows += [reach.energies @ difference, reach.gravities @ difference[1:4]]
    return np.concatenate(rows)


def _carried(places, S, reach: _Reach, tolerance: float) -> _Reach:
    """Return the reach of a link from that of its parent."""
    motions = _moved(places, reach.motions)
    energies = [_energy(S, S)[None], *(_energy(S, v)[None] for v in motions)]
    energies += [reach.energies @ _to_parent(place) for place in places]
    gravities = [reach.gravities @ E.T for E, _ in places]
    spanning = np.vstack([motions, S]), np.concatenate(energies), np.concatenate(gravities)
    return _Reach(*(_span(rows, tolerance) for rows in spanning))


def _moved(places, motions: np.ndarray) -> np.ndarray:
    """Return what velocities (., 6) of a parent are to its link: X v at each place."""
    moved = [np.hstack([motions[:, :3] @ E.T, (motions[:, 3:] - np.cross(r, motions[:, :3])) @ E.T]) for E, r in places]
    return np.concatenate(moved)


def _energy(v, u) -> np.ndarray:
    """Return the factors (10,) of the ten parameters in v' I u for velocities v and u (6)."""
    w, z = v[:3], u[:3]
    across = np.outer(w, z) + np.outer(z, w)
    h = np.cross(v[3:], z) + np.cross(u[3:], w)
    halves = [0.5 * across[0, 0], across[0, 1], across[0, 2], 0.5 * across[1, 1], across[1, 2], 0.5 * across[2, 2]]
    return np.array([v[3:] @ u[3:], *h, *halves])


def _to_parent(place) -> np.ndarray:
    """Return the matrix (10, 10) that takes ten parameters of a link to the parent's frame."""
    E, r = place
    return np.array([moved(unit, E.T, r) for unit in np.eye(10)]).T


def _with_dependent(dependent: np.ndarray, unfelt: np.ndarray) -> BaseParameters:
    """Return base parameters without ``dependent`` columns (d,), from parameters that no torque shows (d, 10 n)."""
    independent = np.setdiff1d(np.arange(unfelt.shape[1]), dependent)
    # Y_1 N_1 + Y_2 N_2 = 0: Y_2 = Y_1 K with K = -N_1 N_2^-1
    regrouping = np.zeros((len(independent), unfelt.shape[1]))
    regrouping[:, independent] = np.eye(len(independent))
    regrouping[:, dependent] = -np.linalg.solve(unfelt[:, dependent], unfelt[:, independent]).T
    return BaseParameters(independent, regrouping)


def _pivoted(rows: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns' order by QR decomposition with pivoting, independent ones first, and R (rank, columns).

    R's columns are in that order. Modified Gram-Schmidt, twice (Golub & Van Loan 2013, section 5.4.2).
    """
    rest = np.array(rows, float)
    order = np.arange(rest.shape[1])
    smallest = tolerance * np.linalg.norm(rest, axis=0).max(initial=0.0)
    directions: list[np.ndarray] = []
    for k in range(min(rest.shape)):
        sizes = np.linalg.norm(rest, axis=0)
        if sizes[k:].max() <= smallest:
            break
        # of equals the last, so that rounding does not choose: J_yy goes and J_xx stays, as in the book
        chosen = k + int(np.flatnonzero(sizes[k:] > 0.99 * sizes[k:].max())[-1])
        order[k : chosen + 1] = np.roll(order[k : chosen + 1], 1)
        rest[:, k : chosen + 1] = np.roll(rest[:, k : chosen + 1], 1, axis=1)
        direction = rest[:, k].copy()
        for other in directions:
            direction -= (other @ direction) * other
        direction /= np.linalg.norm(direction)
        directions.append(direction)
        rest[:, k:] -= np.outer(direction, direction @ rest[:, k:])
    basis = np.reshape(directions, (len(directions), len(rest)))
    return order, basis @ np.asarray(rows, float)[:, order]


def _span(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Return an orthonormal basis, as rows, of what ``rows`` span."""
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    return basis[sizes > tolerance * sizes.max(initial=0.0)]


def _null_space(rows: np.ndarray, tolerance: float) -> np.ndarray:
    """Return an orthonormal basis, as rows, of what all ``rows`` are orthogonal to."""
    _, sizes, basis = np.linalg.svd(rows)
    return basis[np.sum(sizes > tolerance * sizes.max(initial=0.0)) :]
