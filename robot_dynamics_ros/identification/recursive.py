"""Recursive least squares with exponential forgetting, in square-root information form.

With the prior x0, its deviations d and the noise s of the rows H of a sample, each update has the equation::

    R'R <- l R'R + D H' S^-2 H D + (1 - l^p) e_j e_j'        l: forgetting factor, D = diag(d), S = diag(s)

for the root R (p, p) of the information on (x - x0) / d, by Householder transformations of [R; H] (``dtpqrt`` of
LAPACK), which square no condition number and keep R'R positive definite. j is each parameter in turn: that restores
what the prior has lost by forgetting, so that R'R >= l^p 1 at all times, whatever is excited. Without that term the
information on parameters that are not excited would decay to zero, and noise move them without limit (wind-up). Its
value is that of the prior: what is not excited returns to it.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtpqrt

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError

BLOCK = 12
"""Columns that are transformed together: 72 parameters and 6 rows need the least time."""


class RecursiveLeastSquares:
    """Estimate of x in values = rows x + noise, updated with each sample.

    Parameters
    ----------
    prior : array_like, (p,)
        The parameters before the first sample.
    deviation : array_like, (p,)
        Their standard deviations, above 0, in the units of the parameters.
    noise : array_like, (m,)
        Standard deviation of the noise of each of the m rows of a sample, above 0, in the unit of its value.
    forgetting : float
        Factor of the information of all samples before, for each sample, above 0 and at most 1. 0.999 remembers about
        1,000 samples; 1 forgets nothing.

    Raises
    ------
    ArgumentError
        Naming the argument that is not as above.

    References
    ----------
    Golub & Van Loan 2013, section 6.5.3, on QR with rows appended; Gunnarsson 1996 on regularised recursive
    estimation.
    """

    def __init__(self, prior: ArrayLike, deviation: ArrayLike, noise: ArrayLike, forgetting: float = 1.0):
        self._prior = validation.numbers('prior', prior)
        if self._prior.ndim != 1 or not self._prior.size:
            raise ArgumentError(f'prior: expected shape (p,) with p > 0, got {self._prior.shape}')
        validation.check_finite('prior', self._prior)
        p = len(self._prior)
        self._deviation = validation.of_each_joint('deviation', np.atleast_1d(deviation), p, zero=False)
        rows = np.atleast_1d(validation.numbers('noise', noise))
        self._noise = validation.of_each_joint('noise', rows, len(rows), zero=False)
        self._forgetting = float(validation.finite('forgetting', forgetting, ()))
        if not 0.0 < self._forgetting <= 1.0:
            raise ArgumentError(f'forgetting: expected a factor above 0 and at most 1, got {self._forgetting:g}')
        # [R z; 0 .]: R (x - x0) / d = z
        self._root = np.asfortranarray(np.eye(p + 1))
        self._restored = np.sqrt(1.0 - self._forgetting**p)
        self._appended = np.zeros((len(rows) + 1, p + 1), order='F')
        self._weights = self._deviation / self._noise[:, None]
        self._turn = 0

    def update(self, rows: ArrayLike, values: ArrayLike) -> None:
        """Add one sample.

        Parameters
        ----------
        rows : array_like, (m, p)
            Coefficients of the parameters, for instance ``Robot.torque_regressor`` at one state.
        values : array_like, (m,)
            What was measured.

        Raises
        ------
        ArgumentError
            For another shape, and for values that are not finite; the estimate stays as it is.
        """
        p, m = len(self._prior), len(self._noise)
        rows, values = validation.finite('rows', rows, (m, p)), validation.finite('values', values, (m,))
        appended = self._appended
        np.multiply(rows, self._weights, out=appended[:m, :p])
        appended[:m, p] = (values - rows @ self._prior) / self._noise
        appended[m] = 0.0
        appended[m, self._turn] = self._restored
        self._turn = (self._turn + 1) % p
        self._root *= np.sqrt(self._forgetting)
        self._root, *_ = dtpqrt(0, min(BLOCK, p), self._root, appended, overwrite_a=1, overwrite_b=1)

    @property
    def estimate(self) -> np.ndarray:
        """Parameters (p,)."""
        p = len(self._prior)
        return self._prior + self._deviation * solve_triangular(self._root[:p, :p], self._root[:p, p])

    @property
    def standard_deviation(self) -> np.ndarray:
        """Standard deviations (p,) of the parameters, if noise and prior are as stated and the parameters constant.

        At most ``deviation`` forgetting^(-p / 2).
        """
        p = len(self._prior)
        inverse = solve_triangular(self._root[:p, :p], np.eye(p))
        return self._deviation * np.sqrt((inverse * inverse).sum(axis=1))
