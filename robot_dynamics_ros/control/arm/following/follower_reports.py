"""Measured positions of joints without a motor, compared with where the loops of a mechanism close.

They come with a state, or in a message of their own. Such a message comes between two states of the actuated joints,
and its driver may stamp it late. So it fits where the loops were closed in the ``WINDOW_NS`` before its stamp, in
whichever state: no motion of the arm is a fault. One that is newer than the states waits for them; of those that come
meanwhile, the last one waits behind it. A joint that does not fit, or is beyond its limits, is off until it is measured
again, and fits.
"""

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import IntegerMatrix, Integers, Matrix, Vector
from robot_dynamics_ros.kernels.choices import select

WINDOW_NS = 100_000_000
"""By how much later a driver may stamp positions, ns. States of up to twice this time count."""
MOST = 6e6
"""rad, m: beyond a million turns no angle is left."""


@kernel
def is_off(position, lowest, highest, turn, tolerance, least, most):
    """Return whether a position is farther than tolerated from a range, modulo a ``turn`` (rad; 0: none).

    Likewise one that is not from ``least`` to ``most``, whatever the turn.
    """
    off = position - 0.5 * (lowest + highest)
    off -= turn * np.floor(off / select(turn > 0.0, turn, 1.0) + 0.5)
    fits = (abs(off) - 0.5 * (highest - lowest) <= tolerance) & (abs(position) < MOST)
    return not (fits & (least <= position) & (position <= most))


@compiled(given='q stamp positions least most')
def _compare(
    coordinates: Integers, turn: Vector, tolerance: float,
    lower: Matrix, upper: Matrix, begun: Integers, waiting: Matrix, heard: IntegerMatrix, last: Vector, wrong: Integers,
    late: Integers,
    q: Vector, stamp: int, positions: Vector, least: Vector, most: Vector,
) -> int:  # fmt: skip
    """Return the first follower that is off, -1 for none; q (nq) are the positions at ``stamp`` (ns).

    Rows of lower and upper (2, m) are the range of its positions in this and the last window, which begin at the stamps
    ``begun`` (2, 0: not yet). Two reports (``waiting`` and stamps ``heard``, 2 x m; 0: none) wait for a state that is
    not older; then come the ``positions`` (m; NaN: none) of the state. The ``last`` (m) that was compared sets
    ``wrong`` (m) to 1 where it does not fit, or is not from ``least`` to ``most`` (m), and the last one ``late`` (m)
    where it is too old to be compared; else they are 0.
    """
    if begun[0] == 0 or stamp < begun[0] or stamp - begun[0] > WINDOW_NS:
        follows = begun[0] != 0 and begun[0] <= stamp <= begun[0] + 2 * WINDOW_NS
        begun[1] = begun[0] if follows else stamp
        begun[0] = stamp
        for k in range(coordinates.shape[0]):
            x = q[coordinates[k]]
            lower[1, k] = lower[0, k] if follows else x
            upper[1, k] = upper[0, k] if follows else x
            lower[0, k], upper[0, k] = x, x
    off = -1
    for k in range(coordinates.shape[0]):
        x = q[coordinates[k]]
        lower[0, k], upper[0, k] = min(lower[0, k], x), max(upper[0, k], x)
        lowest, highest = min(lower[0, k], lower[1, k]), max(upper[0, k], upper[1, k])
        for _ in range(2):
            if heard[0, k] == 0 or heard[0, k] > stamp:
                continue
            late[k] = heard[0, k] < begun[1] - WINDOW_NS
            if late[k] == 0:
                last[k] = waiting[0, k]
                wrong[k] = is_off(last[k], lowest, highest, turn[k], tolerance, least[k], most[k])
            waiting[0, k], heard[0, k], heard[1, k] = waiting[1, k], heard[1, k], 0
        if positions[k] == positions[k]:
            last[k], late[k] = positions[k], 0
            wrong[k] = is_off(last[k], x, x, turn[k], tolerance, least[k], most[k])
        if wrong[k] != 0 and off < 0:
            off = k
    return off


class FollowerReports:
    """The last positions of the m followers of a mechanism.

    Parameters
    ----------
    followers : sequence of str
    coordinates : ndarray of int, (m,)
        Of their positions.
    turn : ndarray, (m,)
        A turn of those that turn, rad, else 0.
    tolerance : float
        rad, m

    Attributes
    ----------
    last : ndarray, (m,)
        Those that were compared last, rad or m.
    """

    def __init__(self, followers: Sequence[str], coordinates: np.ndarray, turn: np.ndarray, tolerance: float, nq: int):
        self._followers, size = tuple(followers), len(followers)
        self.last: np.ndarray = np.zeros(size)
        self._waiting, self._heard = np.zeros((2, size)), np.zeros((2, size), np.int64)
        self._wrong, self._late, self._begun = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(2, np.int64)
        self._off_elsewhere: dict[str, float] = {}  # of descriptions before, in which they were followers
        numbers = coordinates.astype(np.int64), turn, tolerance, *np.zeros((2, 2, size)), self._begun
        parts, of = (self._waiting, self._heard, self.last, self._wrong, self._late), np.zeros(size)
        self._compare = bound(_compare, *numbers, *parts, then=(np.zeros(nq), 0, of, of, of))

    @property
    def all_off(self) -> dict[str, float]:
        """The positions (rad, m) of followers that do not fit, of this description or those before."""
        own = {self._followers[k]: float(self.last[k]) for k in np.flatnonzero(self._wrong)}
        return {**self._off_elsewhere, **own}

    def begin(self) -> None:
        """Begin as at an activation: earlier reports and states do not count."""
        self.clock_set_back()
        self._wrong.fill(0)
        self._late.fill(0)
        self._off_elsewhere.clear()

    def clock_set_back(self) -> None:
        """Compare with no state before; a joint that is off stays so."""
        self._begun.fill(0)
        self._heard.fill(0)

    def continue_from(self, before: 'FollowerReports') -> None:
        """Count the reports of ``before``, of another description, for followers of both."""
        for k, name in enumerate(self._followers):
            if name in before._followers:
                of = before._followers.index(name)
                self._waiting[:, k], self._heard[:, k] = before._waiting[:, of], before._heard[:, of]
                self.last[k], self._wrong[k], self._late[k] = before.last[of], before._wrong[of], before._late[of]
            elif name in before._off_elsewhere:
                self.last[k], self._wrong[k] = before._off_elsewhere[name], 1
        self._off_elsewhere = {name: it for name, it in before.all_off.items() if name not in self._followers}

    def add(self, positions: np.ndarray, stamp: int) -> None:
        """Compare ``positions`` (m, rad or m; NaN: none) of the time ``stamp`` (ns) with the next states."""
        for k in np.flatnonzero(positions == positions):
            if stamp < self._heard[0, k]:
                self._waiting[1, k], self._heard[1, k] = self._waiting[0, k], self._heard[0, k]
            place = 1 if 0 < self._heard[0, k] <= stamp else 0
            self._waiting[place, k], self._heard[place, k] = positions[k], stamp

    def warnings(self) -> list[str]:
        """Return whose reports are too old to be compared."""
        late = ', '.join(self._followers[k] for k in np.flatnonzero(self._late))
        said = (
            f'positions of {late} come more than {1e-9 * WINDOW_NS:g} s after their stamps, and are not compared with '
        )
        return [f'{said}the closed loops; have their driver publish them at once'] * bool(late)

    def off(self, q: np.ndarray, stamp: int, positions: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> int:
        """Return the first follower that does not fit, or is not from ``lower`` to ``upper`` (m; rad, m), -1 for none.

        The state of ``stamp`` (ns) is at q (nq), and has ``positions`` (m; rad, m; NaN: none) of followers.
        """
        return self._compare(q, stamp, positions, lower, upper)
