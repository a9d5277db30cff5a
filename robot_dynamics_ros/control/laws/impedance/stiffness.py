"""Stiffness of a Cartesian impedance, which follows a wanted one without giving the arm energy.

A spring with the deflection e holds e' K e / 2; one with the torque K 2 sin(t / 2) about an axis 8 K sin^2(t / 4), or
2 / (1 + cos(t / 2)) times that. Where K grows while the frame is deflected, the arm is given

    e' dK e / 2,

which comes from a tank (Ferraguti, Secchi & Fantuzzi 2013). Along an axis whose springs grow no further than s it is
dK s (e - s / 2). The tank is filled, up to ``energy_limit``, with the energy that the dampers dissipate while the frame
is held, and a stiffness that falls gives back what its own growth took. An empty tank lets no stiffness grow until the
frame is nearer, or moves.

References
----------
Ferraguti, Secchi & Fantuzzi 2013, A tank-based approach to impedance control with variable stiffness, ICRA.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.decorators import kernel

ROUNDING = 1e-12
"""Share of a matrix's largest number by which it may differ from a symmetric one without negative eigenvalues."""
AXES = tuple((part, axis) for part in ('rotational', 'translational') for axis in 'xyz')
LEAST = 1e-3
"""Share of the largest stiffness from which on the damping ratio brakes an axis."""
EMPTY = 1e-3
"""Share of the energy limit up to which a tank counts as empty."""


@kernel
def spring_energy(e, farthest, w):
    """Return the energy of a spring of stiffness 1 at the deflection e, which pulls no more than at ``farthest``.

    Beyond that a rotation is charged w times the energy of a line, which is more than it holds.
    """
    s = min(abs(e), farthest)
    return w * s * (abs(e) - 0.5 * s)


@kernel
def follow(K, G, K_d, rate, tank, taken, elapsed, farthest, e):
    """Let the diagonal of K (6, 6) follow K_d (6) for ``elapsed`` (s), by at most ``rate`` (6) in a second.

    ``tank`` (2; J) has the energy that K may still add at the deflection e (6), and the largest, ``taken`` (6; J) what
    each axis took of it. Springs pull no more than at ``farthest`` (2; rad, m). G (6, 6) is K's root.
    """
    # w = 2 / (1 + cos(t / 2)),  |e_r| = 2 sin(t / 2)
    w = 2.0 / (1.0 + np.sqrt(max(0.0, 1.0 - 0.25 * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]))))
    # dK < 0 gives w e' dK e / 2 back; beyond farthest, dK s (e - s / 2)
    up = 0.0
    for i in range(6):
        limit = farthest[0] if i < 3 else farthest[1]
        k = min(max(K_d[i] - K[i, i], -rate[i] * elapsed), rate[i] * elapsed)
        if k < 0.0:
            K[i, i] += k
            back = min(-k * spring_energy(e[i], limit, w if i < 3 and abs(e[i]) <= limit else 1.0), taken[i])
            taken[i] -= back
            tank[0] = min(tank[1], tank[0] + back)
        else:
            up += k * spring_energy(e[i], limit, w if i < 3 else 1.0)
    # dK > 0 takes it, as far as the tank reaches
    share = 1.0 if up <= tank[0] else tank[0] / up
    tank[0] = max(0.0, tank[0] - share * up)
    for i in range(6):
        k = share * min(max(K_d[i] - K[i, i], 0.0), rate[i] * elapsed)
        K[i, i] += k
        taken[i] += k * spring_energy(e[i], farthest[0] if i < 3 else farthest[1], w if i < 3 else 1.0)
        G[i, i] = np.sqrt(K[i, i])


class Stiffness:
    """The stiffness of a Cartesian impedance, constant until another one is ``wanted``.

    Laws that share it write its arrays: the first of them that computes a torque after ``elapse``.

    Parameters
    ----------
    stiffness : array_like, (6,) or (6, 6)
        The largest stiffness and the first one, rotation first: N m/rad and N/m. A matrix stays as it is.
    ramp_time : float, optional
        Time in which a stiffness may grow from nothing to the largest, or fall as much, s.
    energy_limit : float, optional
        Energy that a growing stiffness may add, J, beyond what the dampers dissipate while the frame is held.
    may_be_free : sequence of bool, (6,), optional
        Which axes may be without stiffness, since something else damps them; those without the largest one are.

    Attributes
    ----------
    K, G : ndarray, (6, 6)
        The stiffness in force, and its root: K = G G'.
    wanted : ndarray, (6,)
        Diagonal of the stiffness that K follows.
    rate : ndarray, (6,)
        Change in a second at most.
    tank : ndarray, (2,)
        Energy that K may still add, and the largest, J.
    is_free : bool
        Whether an axis is, or becomes, one without stiffness.
    may_be_free : ndarray, (6,)
        Which axes may be.
    least : ndarray, (6,)
        The smallest stiffness that may be wanted, N m/rad and N/m: 0 for axes that may be free.
    taken : ndarray, (6,)
        Energy that the growth of each axis took from ``tank`` and has not given back, J.
    elapsed : ndarray, (1,)
        Time since the last torque, s; 0 once it is used.
    """

    def __init__(
        self,
        stiffness: ArrayLike,
        ramp_time: float = 1.0,
        energy_limit: float = 0.0,
        may_be_free: Sequence[bool] = (False,) * 6,
    ):
        self.K = matrix_of('stiffness', stiffness)
        self.G = root_of(self.K)
        self._largest = np.diagonal(self.K).copy()
        self.wanted: np.ndarray = self._largest.copy()
        self.rate: np.ndarray = self._largest / ramp_time
        self._is_matrix = bool(np.count_nonzero(self.K - np.diag(self._largest)))
        self.may_be_free: np.ndarray = np.array(may_be_free)
        self.least: np.ndarray = np.where(self.may_be_free, 0.0, LEAST * self._largest)
        self.is_free: bool = not self.wanted.all()
        self.tank: np.ndarray = np.full(2, float(energy_limit))
        self.taken: np.ndarray = np.zeros(6)
        self.elapsed: np.ndarray = np.zeros(1)

    def want(self, stiffness: ArrayLike) -> None:
        """Follow a ``stiffness`` (6, rotation first; N m/rad, N/m) from now on.

        ArgumentError names a number that is not finite, below 0, above the largest stiffness, for which the limit of
        sampling was computed, or below ``LEAST`` of it for an axis that may not be free.
        """
        wanted = validation.finite('stiffness', stiffness, (6,))
        if self._is_matrix:
            raise ArgumentError('stiffness: a matrix stays as it is, expected six numbers at first')
        axes = zip(AXES, wanted.tolist(), self._largest.tolist(), self.least.tolist(), strict=True)
        for (part, axis), value, largest, least in axes:
            if value > largest:
                raise ArgumentError(f'{part} {axis}: {value!r} is above {largest!r}, the largest ({part}_stiffness)')
            if value < 0.0:
                raise ArgumentError(f'{part} {axis}: expected a stiffness of at least 0, got {value:g}')
            if value < least:
                raise ArgumentError(
                    f'{part} {axis}: expected a stiffness of at least {least:.4g}, got {value:.4g}: '
                    f'{part}_damping is 0 for this axis, and nothing would brake it'
                )
        self.wanted[:] = wanted
        self.is_free = not wanted.all()

    def elapse(self, time: float) -> None:
        """Let the next torque be ``time`` (s) after the last one."""
        self.elapsed[0] = time

    @property
    def waits(self) -> bool:
        """Whether the tank is empty, and K may not grow as it is wanted."""
        grows = (np.diagonal(self.K) < (1.0 - EMPTY) * self.wanted).any()
        return bool(grows and self.tank[0] <= EMPTY * self.tank[1])

    def continue_from(self, before: 'Stiffness') -> None:
        """Take over stiffness and energy from those of the same arm ``before``, as far as these are as large."""
        now = np.minimum(np.diagonal(before.K), self._largest)
        self.K[:], self.G[:] = np.diag(now), np.diag(np.sqrt(now))
        wanted = np.where((before.wanted > 0.0) | self.may_be_free, before.wanted, self._largest)
        self.wanted[:] = np.minimum(wanted, self._largest)
        self.is_free = not self.wanted.all()
        self.tank[0], self.taken[:] = min(before.tank[0], self.tank[1]), before.taken


def matrix_of(name: str, values) -> np.ndarray:
    """Return six numbers or a matrix (6, 6) as a matrix; ArgumentError unless it is symmetric and not negative."""
    matrix = np.array(values, float)
    matrix = np.diag(matrix) if matrix.shape == (6,) else matrix
    if matrix.shape != (6, 6) or not np.isfinite(matrix).all():
        raise ArgumentError(f'{name}: expected six finite numbers or a matrix (6, 6), got {values!r:.80}')
    size = np.abs(matrix).max()
    if np.abs(matrix - matrix.T).max() > ROUNDING * size:
        raise ArgumentError(f'{name}: expected a symmetric matrix')
    if np.linalg.eigvalsh(matrix)[0] < -ROUNDING * size:
        raise ArgumentError(f'{name}: expected a matrix without negative eigenvalues, or numbers of at least 0')
    return 0.5 * (matrix + matrix.T)


def root_of(matrix: np.ndarray) -> np.ndarray:
    """Return the symmetric G (6, 6) with G G = ``matrix``, which is symmetric without negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
