"""Least squares of joint torques that are linear in parameters of the links and in some of each joint's own.

The torque of joint j is::

    torque_j = Y_j pi + own_j x_j

with the torque regressor Y, the ten parameters pi of each link, and the joint's own columns and parameters, such as
those of its rotor and friction. The products of all columns are summed over samples, separately for each joint: so no
matrix is as long as a log, joints are weighted afterwards, and sums of parts of a log can be held out.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from robot_dynamics_ros.identification.consistent import minimise

RIDGE = 1e-6
"""Of a column's square, the weight that keeps its parameter where nothing else determines it."""
HELD = 1e6
"""That weight for a parameter without any column, in the unit of the parameter to the power of -2."""
RANK = 1e-11
"""Of the largest eigenvalue, the least one that counts as determined without a prior."""
UNDETERMINED = 1e-3
"""Share of a combination of parameters, in scaled ones, from which on one that is not determined makes it unknown."""


class Prior(NamedTuple):
    """Values that parameters are pulled to: those of links by a divergence, the joints' own by squared differences."""

    rows: np.ndarray  # (links, 10)
    weight: float  # of the divergence
    own: np.ndarray  # (n, k)
    ridges: np.ndarray  # (n, k)  weights; 0: kept at its value only where nothing else determines the parameter
    at_least_zero: list[bool]  # (k,)


class Fit(NamedTuple):
    """Parameters of a regression; those of the joints follow those of the links in rows and columns of matrices."""

    links: np.ndarray  # (10 links,)
    own: np.ndarray  # (n, k)
    hessian: np.ndarray  # of the objective
    held: np.ndarray  # (n, k)  whether a parameter is at its bound, and would go beyond
    covariance: np.ndarray  # if torques and prior are weighted by their variances: the Hessian's inverse
    determined: np.ndarray  # (p, p)  projection to what torques and prior determine, in parameters of ``scale`` 1
    scale: np.ndarray  # (p,)

    def deviations(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the standard deviations of the parameters of links, (10 links,), and of the joints, (n, k)."""
        deviations = self._deviations(np.eye(len(self.covariance)))
        return deviations[: len(self.links)], deviations[len(self.links) :].reshape(self.own.shape)

    def deviations_of(self, combinations: np.ndarray) -> np.ndarray:
        """Return the standard deviations (b,) of linear ``combinations`` (b, 10 links) of the links' parameters.

        They are infinite where the torques and the prior do not determine a combination, as that of an inertia and a
        rotor which only their sum does.
        """
        return self._deviations(np.pad(combinations, ((0, 0), (0, len(self.covariance) - len(self.links)))))

    def _deviations(self, combinations: np.ndarray) -> np.ndarray:
        scaled = combinations * self.scale
        left = np.linalg.norm(scaled - scaled @ self.determined, axis=1)
        variances = np.maximum((combinations @ self.covariance * combinations).sum(axis=1), 0.0)
        return np.where(left > UNDETERMINED * np.linalg.norm(scaled, axis=1), np.inf, np.sqrt(variances))

    def without(self, parts: Sequence['Regression'], weights: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the parameters of links and joints that a log gives without each of its ``parts``.

        ``parts`` and ``weights`` (n,) are those of this fit. From the minimum x of all parts, that of all but one is a
        Newton step away: (H - H_part) dx = H_part x - b_part.
        """
        x, free = np.concatenate([self.links, self.own.ravel()]), np.ones(len(self.hessian), bool)
        free[len(self.links) :] = ~self.held.ravel()
        for part in parts:
            H, b = part.normal_equations(weights)
            moved = x.copy()
            moved[free] += pseudo_inverse((self.hessian - H)[np.ix_(free, free)]) @ (H @ x - b[:, 0])[free]
            yield moved[: len(self.links)], moved[len(self.links) :].reshape(self.own.shape)

    def held_out(self, parts: Sequence['Regression'], weights: np.ndarray) -> np.ndarray:
        """Return the squared residuals (parts, n) of each part of a log, by the parameters that the others give."""
        found = zip(parts, self.without(parts, weights), strict=True)
        return np.array([part.squares(np.append(links, own)[:, None])[:, 0] for part, (links, own) in found])


class Regression(NamedTuple):
    """Products of the columns [Y_j, own_j, torque_j] of each joint j, with one torque or several to choose from."""

    links: int  # number of columns of Y
    sums: np.ndarray  # (n, c, c)
    torques: int = 1  # number of torques

    @classmethod
    def of(cls, Y, own, torque, used=1.0) -> 'Regression':
        """Return the sums for Y (m, n, links), own (m, n, k) and torque (m, n) or (m, n, torques).

        They are those of the samples ``used`` (m, n).
        """
        torque = torque if torque.ndim == 3 else torque[..., None]
        columns = np.concatenate([Y, own, torque], axis=2) * np.expand_dims(used, -1)
        return cls(Y.shape[2], np.stack([A.T @ A for A in columns.transpose(1, 0, 2)]), torque.shape[2])

    def normal_equations(self, weights) -> tuple[np.ndarray, np.ndarray]:
        """Return H = sum_j w_j A_j' A_j and the columns b = sum_j w_j A_j' torque_j with weights (n,)."""
        sums, links = self.sums * np.reshape(weights, (-1, 1, 1)), slice(self.links)
        own, right = slice(self.links, -self.torques), slice(-self.torques, None)
        between = np.hstack([*sums[:, links, own]])
        H = np.block([[sums[:, links, links].sum(axis=0), between], [between.T, block_diag(*sums[:, own, own])]])
        return H, np.concatenate([sums[:, links, right].sum(axis=0), sums[:, own, right].reshape(-1, self.torques)])

    def squares(self, x: np.ndarray) -> np.ndarray:
        """Return the squared residuals (n, torques) that the parameters ``x`` (p, torques) leave of each torque."""
        n = len(self.sums)
        own = x[self.links :].reshape(n, -1, self.torques)
        combination = np.concatenate([np.repeat(x[None, : self.links], n, axis=0), own], axis=1)
        columns = self.sums[:, : -self.torques, : -self.torques] @ combination
        columns -= 2.0 * self.sums[:, : -self.torques, -self.torques :]
        torques = self.sums[:, -self.torques :, -self.torques :].diagonal(axis1=1, axis2=2)
        return np.maximum((combination * columns).sum(axis=1) + torques, 0.0)

    def consistent_fit(self, weights, prior: Prior) -> Fit:
        """Return the parameters with the least sum of half the weighted squared residuals and the pull of the prior.

        The pseudo-inertia of each link is positive definite: see ``consistent``.
        """
        H, b = self.normal_equations(weights)
        b = b[:, 0]
        own = np.arange(self.links, len(b))
        diagonal, ridges = H[own, own], prior.ridges.ravel()
        ridges = np.where(ridges > 0.0, ridges, np.where(diagonal > 0.0, RIDGE * diagonal, HELD))
        H[own, own] += ridges
        b[own] += ridges * prior.own.ravel()
        bounded = np.tile(prior.at_least_zero, len(self.sums))
        x, hessian = minimise(H, b, prior.rows, prior.weight, bounded)
        # at a bound that holds, the slope is larger than the distance to the bound explains
        held = bounded & ((H @ x - b)[own] > x[own] * H[own, own])
        return self._fit(x, hessian, held, np.linalg.inv(hessian), np.eye(len(x)), np.ones(len(x)))

    def nearest_fit(self, weights, prior: Prior) -> Fit:
        """Return the parameters with the least weighted squared residuals; of those, the nearest to the prior."""
        H, b = self.normal_equations(weights)
        x, inverse, scale = np.concatenate([prior.rows.ravel(), prior.own.ravel()]), pseudo_inverse(H), scale_of(H)
        # H H+ is the projection, from the left; of scaled parameters it is symmetric
        determined = (H @ inverse) * np.outer(scale, 1.0 / scale)
        none = np.zeros(len(x) - self.links, bool)
        return self._fit(x + inverse @ (b[:, 0] - H @ x), H, none, inverse, determined, scale)

    def _fit(self, x: np.ndarray, hessian: np.ndarray, held: np.ndarray, inverse: np.ndarray, *of) -> Fit:
        own = len(self.sums), -1
        return Fit(x[: self.links], x[self.links :].reshape(own), hessian, held.reshape(own), inverse, *of)


def sum_of(parts: Sequence[Regression]) -> Regression:
    """Return the regression of several parts of a log together."""
    return parts[0]._replace(sums=np.sum([part.sums for part in parts], axis=0))


def scale_of(H: np.ndarray) -> np.ndarray:
    """Return the units (p,) of parameters in which the diagonal of a matrix is 1, or 0."""
    return 1.0 / np.sqrt(np.where(np.diag(H) > 0.0, np.diag(H), 1.0))


def pseudo_inverse(H: np.ndarray) -> np.ndarray:
    """Return the pseudo-inverse of a positive semidefinite matrix of parameters that may have any units."""
    scale = scale_of(H)
    return np.outer(scale, scale) * np.linalg.pinv(H * np.outer(scale, scale), RANK, hermitian=True)
