"""Least squares of joint torques that are linear in parameters of the links and in some of each joint's own.

The torque of joint j is::

    torque_j = Y_j pi + own_j x_j

with the torque regressor Y, the ten parameters pi of each link, and the joint's own columns and parameters, such as
those of its rotor and friction. The products of all columns are summed over samples, separately for each joint: so no
matrix is as long as a log, and joints are weighted afterwards.
"""

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
    covariance: np.ndarray  # if torques and prior are weighted by their variances: the Hessian's inverse

    def deviations(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the standard deviations of the parameters of links, (10 links,), and of the joints, (n, k)."""
        deviations = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return deviations[: len(self.links)], deviations[len(self.links) :].reshape(self.own.shape)

    def deviations_of(self, combinations: np.ndarray) -> np.ndarray:
        """Return the standard deviations (b,) of linear ``combinations`` (b, 10 links) of the links' parameters."""
        of_links = self.covariance[: len(self.links), : len(self.links)]
        return np.sqrt(np.maximum(np.diag(combinations @ of_links @ combinations.T), 0.0))


class Regression(NamedTuple):
    """Products of the columns [Y_j, own_j, torque_j] of each joint j."""

    links: int  # number of columns of Y
    sums: np.ndarray  # (n, c, c)

    @classmethod
    def of(cls, Y, own, torque, used=1.0) -> 'Regression':
        """Return the sums for Y (m, n, links), own (m, n, k) and torque (m, n), of the samples ``used`` (m, n)."""
        columns = np.concatenate([Y, own, torque[..., None]], axis=2) * np.expand_dims(used, -1)
        return cls(Y.shape[2], np.stack([A.T @ A for A in columns.transpose(1, 0, 2)]))

    def normal_equations(self, weights) -> tuple[np.ndarray, np.ndarray]:
        """Return H = sum_j w_j A_j' A_j and b = sum_j w_j A_j' torque_j with weights (n,)."""
        sums, links = self.sums * np.reshape(weights, (-1, 1, 1)), slice(self.links)
        own = slice(self.links, -1)
        between = np.hstack([*sums[:, links, own]])
        H = np.block([[sums[:, links, links].sum(axis=0), between], [between.T, block_diag(*sums[:, own, own])]])
        return H, np.concatenate([sums[:, links, -1].sum(axis=0), sums[:, own, -1].ravel()])

    def consistent_fit(self, weights, prior: Prior) -> Fit:
        """Return the parameters with the least sum of half the weighted squared residuals and the pull of the prior.

        The pseudo-inertia of each link is positive definite: see ``consistent``.
        """
        H, b = self.normal_equations(weights)
        own = np.arange(self.links, len(b))
        diagonal, ridges = H[own, own], prior.ridges.ravel()
        ridges = np.where(ridges > 0.0, ridges, np.where(diagonal > 0.0, RIDGE * diagonal, HELD))
        H[own, own] += ridges
        b[own] += ridges * prior.own.ravel()
        bounded = np.tile(prior.at_least_zero, len(self.sums))
        x, hessian = minimise(H, b, prior.rows, prior.weight, bounded)
        return self._fit(x, np.linalg.inv(hessian))

    def nearest_fit(self, weights, prior: Prior) -> Fit:
        """Return the parameters with the least weighted squared residuals; of those, the nearest to the prior."""
        H, b = self.normal_equations(weights)
        scale = 1.0 / np.sqrt(np.where(np.diag(H) > 0.0, np.diag(H), 1.0))
        inverse = np.outer(scale, scale) * np.linalg.pinv(H * np.outer(scale, scale), RANK, hermitian=True)
        x = np.concatenate([prior.rows.ravel(), prior.own.ravel()])
        return self._fit(x + inverse @ (b - H @ x), inverse)

    def _fit(self, x: np.ndarray, inverse: np.ndarray) -> Fit:
        return Fit(x[: self.links], x[self.links :].reshape(len(self.sums), -1), inverse)
