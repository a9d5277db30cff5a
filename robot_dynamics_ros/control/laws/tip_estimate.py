"""Estimate of a link's ten inertial parameters that a body has at every step, for adaptive control.

The adaptation is natural (Lee, Kwon & Park 2018, A natural adaptive control law for robot manipulators): it moves the
link's pseudo-inertia P (4, 4) along the gradient of an error in a metric of pseudo-inertias, so that units do not
matter. Here the metric is constant, that at a reference body, |dP|^2 = tr(P_r^-1 dP P_r^-1 dP) (Lee, Wensing &
Park 2020, Geometric robot dynamic identification, have this constant pullback metric):

    dP/dt = gain P_r L P_r,    tr(L P(pi)) = b' pi for all parameters pi,    b = Y' s

The reference body has the largest mass of the link and the radius of gyration ``RADIUS``. With the metric at the
estimate itself, dP/dt = gain P L P, rates grow with the square of the estimated mass: slow for a bare flange, restless
under a payload. On the benchmark's motion (2026-11-25) its best gain left 0.6 mrad, and a mass that changed by 1 kg;
the constant metric 0.3 mrad and 0.1 kg.

Each step ends with projections, in this metric, on two convex sets: masses up to the largest one, and pseudo-inertias
with eigenvalues of at least ``FLOOR`` relative to P_r. A projection on a convex set brings the estimate no further from
any point of it, so the Lyapunov function of the adaptation does not grow. Where the second one has raised the mass
again, the whole estimate is scaled down.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Array3, Matrix, Vector
from robot_dynamics_ros.model.pseudo_inertia import pseudo_inertia

RADIUS = 0.2
"""Radius of gyration of the reference body, m."""
FLOOR = 1e-5
"""Smallest eigenvalue of the pseudo-inertia, relative to the reference body."""
MEAN = 5.0
"""Time constant of the mean estimate, s."""
SWEEPS = 12
"""Of Jacobi's method, at most: it converges quadratically."""
NEGLIGIBLE = 1e-36
"""Square of an entry beside the diagonal over the product of the two on it, below which it is no longer reduced."""


@compiled()
@kernel
def project(Q: Matrix, D: Matrix, V: Matrix) -> None:
    """Write into Q (4, 4) the nearest matrix with eigenvalues >= FLOOR and Q[3, 3] <= 1; D and V (4, 4) are scratch."""
    Q[3, 3] = min(Q[3, 3], 1.0)
    # Cholesky factor of Q - FLOOR 1
    above = True
    for j in range(4):
        for k in range(j + 1):
            rest = Q[j, k] - (FLOOR if j == k else 0.0)
            for i in range(k):
                rest -= D[j, i] * D[k, i]
            if j > k:
                D[j, k] = rest / D[k, k]
            else:
                above = above and rest > 0.0
                D[j, j] = np.sqrt(max(rest, FLOOR * FLOOR))
    if above:
        return
    # Q = V D V' by Jacobi's method
    for j in range(4):
        for k in range(4):
            D[j, k] = Q[j, k]
            V[j, k] = 1.0 if j == k else 0.0
    for _ in range(SWEEPS):
        for j in range(3):
            for k in range(j + 1, 4):
                if D[j, k] * D[j, k] > NEGLIGIBLE * abs(D[j, j] * D[k, k]):
                    rotate(D, V, j, k)
    for j in range(4):
        for k in range(4):
            Q[j, k] = 0.0
            for i in range(4):
                Q[j, k] += max(D[i, i], FLOOR) * V[j, i] * V[k, i]
    # what raised the eigenvalues may have raised the mass
    share = min(1.0, 1.0 / Q[3, 3])
    for j in range(4):
        for k in range(4):
            Q[j, k] *= share


@kernel
def rotate(D, V, j, k):
    """Make D[j, k] zero by a rotation: D = R' D R, V = V R (4, 4 each); Golub & Van Loan 2013, section 8.5.2."""
    half = 0.5 * (D[k, k] - D[j, j]) / D[j, k]
    t = (1.0 if half >= 0.0 else -1.0) / (abs(half) + np.sqrt(half * half + 1.0))
    c = 1.0 / np.sqrt(t * t + 1.0)
    s = t * c
    for i in range(4):
        D[i, j], D[i, k] = c * D[i, j] - s * D[i, k], s * D[i, j] + c * D[i, k]
        V[i, j], V[i, k] = c * V[i, j] - s * V[i, k], s * V[i, j] + c * V[i, k]
    for i in range(4):
        D[j, i], D[k, i] = c * D[j, i] - s * D[k, i], s * D[j, i] + c * D[k, i]


@compiled(given='Y s h share')
def _step(
    gain: float,
    dual: Array3,
    D: Matrix,
    V: Matrix,
    Q: Matrix,
    parameters: Vector,
    mean: Vector,
    Y: Matrix,
    s: Vector,
    h: float,
    share: float,
) -> None:
    """Write Q, the parameters (10) and their mean (10) after ``h`` s with regressor Y (n, 10) and error s (n).

    Q = P / (scale scale'), and ``dual`` (10, 4, 4) is the dual basis of the unit parameters' Q: pi_k = <dual_k, Q>, and
    the L of tr(L P(pi)) = b' pi has scale scale' L = sum_k b_k dual_k.
    """
    for k in range(10):
        b = 0.0
        for i in range(s.shape[0]):
            b += Y[i, k] * s[i]
        for j in range(4):
            for l in range(4):
                Q[j, l] += gain * h * b * dual[k, j, l]
    project(Q, D, V)
    for k in range(10):
        parameters[k] = 0.0
        for j in range(4):
            for l in range(4):
                parameters[k] += dual[k, j, l] * Q[j, l]
        mean[k] += share * (parameters[k] - mean[k])


class TipEstimate:
    """Ten parameters of a link, estimated; one thread writes them.

    Parameters
    ----------
    largest_mass : float
        Of the link, kg, above 0.
    joints : int
        Number n of joints.
    gain : float
        Of the adaptation, 1/(N m) for an error s in rad/s: the factor of P_r L P_r.

    Attributes
    ----------
    parameters : ndarray, (10,)
        m (kg), m c (3, kg m) and J about the link's origin (xx, xy, xz, yy, yz, zz; kg m^2).
    mean : ndarray, (10,)
        Their mean over the last ``MEAN`` s of adaptation.
    """

    def __init__(self, largest_mass: float, joints: int, gain: float):
        scale = np.sqrt(largest_mass) * np.array([RADIUS, RADIUS, RADIUS, 1.0])
        self._scale = np.outer(scale, scale)
        unit = np.array([pseudo_inertia(row) / self._scale for row in np.eye(10)]).reshape(10, 16)
        self._dual = np.linalg.solve(unit @ unit.T, unit).reshape(10, 4, 4)
        self._Q, self.parameters, self.mean, self._time = np.zeros((4, 4)), np.zeros(10), np.zeros(10), 0.0
        written = *np.zeros((2, 4, 4)), self._Q, self.parameters, self.mean
        example = np.zeros((joints, 10)), np.zeros(joints), 0.0, 0.0
        self._step = bound(_step, gain, self._dual, *written, then=example)

    def nearest(self, row) -> tuple[np.ndarray, np.ndarray]:
        """Return the parameters (10,) nearest to ``row`` (10,) within the bounds, and their matrix for ``restart``."""
        Q = pseudo_inertia(row) / self._scale
        bound(project, Q, *np.zeros((2, 4, 4)))()
        return np.tensordot(self._dual, Q), Q

    def restart(self, parameters: np.ndarray, Q: np.ndarray) -> None:
        """Begin anew with what ``nearest`` has returned."""
        self._Q[:], self.parameters[:], self.mean[:], self._time = Q, parameters, parameters, 0.0

    def step(self, Y: np.ndarray, error: np.ndarray, h: float) -> None:
        """Adapt for ``h`` s to the ``error`` s (n, rad/s or m/s) with the regressor Y (n, 10)."""
        self._time = min(self._time + h, MEAN)
        self._step(Y, error, h, h / self._time if self._time else 0.0)
