"""A wrench that a Cartesian impedance adds at its frame, as a press against a table: tau = J' (w + b).

w follows the wanted wrench evenly, and falls to zero where nobody has wanted one for a while. Its force f and moment m
are at most the largest ones. Two brakes b keep it from making a frame fast that nothing holds,

    b = -P c / x omega / omega_max^2,     P = |m| omega_max + |f| v_max,     x = |omega| / omega_max,
    b = -P c / x v / v_max^2,             P = |f| v_max + |m| omega_max,     x = |v| / v_max,

with c = min(1, max(0, x - 1)). From x = 2 on the one of the larger x takes more power than w can give. The second part
of each P is 0 where springs hold the frame in all axes of that rotation or translation. Each brake is the gradient of a
convex function of the velocity, so it damps each motion, also about one that is led, by at most P / omega_max^2 and
P / v_max^2: these count in the limit of sampling.
"""

from math import inf

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled, declaration_of
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Matrix, Vector

AGE = 0.25
"""Time for which a wanted wrench counts, s."""
NAMES = 'moment', 'force'


@kernel
def add_wrench(w, largest, fastest, free, T, local, v, F):
    """Add w + b to F (6), both rotation first, in the axes of the base, or of the frame at T (4, 4) where ``local``.

    w (2, 6) has a wrench in the axes of the base, and one in those of the frame; v (6) is the frame's velocity,
    ``largest`` (2) and ``fastest`` (2) are the largest moment and force, omega_max and v_max; ``free`` (2) is 1 where
    rotation or translation has an axis without a spring, else 0.
    """
    power_0, power_1 = 0.0, 0.0
    for part in range(2):
        a = 3 * part
        # w = w_base + R w_frame, or R' w_base + w_frame
        if local:
            x = w[1, a] + T[0, 0] * w[0, a] + T[1, 0] * w[0, a + 1] + T[2, 0] * w[0, a + 2]
            y = w[1, a + 1] + T[0, 1] * w[0, a] + T[1, 1] * w[0, a + 1] + T[2, 1] * w[0, a + 2]
            z = w[1, a + 2] + T[0, 2] * w[0, a] + T[1, 2] * w[0, a + 1] + T[2, 2] * w[0, a + 2]
        else:
            x = w[0, a] + T[0, 0] * w[1, a] + T[0, 1] * w[1, a + 1] + T[0, 2] * w[1, a + 2]
            y = w[0, a + 1] + T[1, 0] * w[1, a] + T[1, 1] * w[1, a + 1] + T[1, 2] * w[1, a + 2]
            z = w[0, a + 2] + T[2, 0] * w[1, a] + T[2, 1] * w[1, a + 1] + T[2, 2] * w[1, a + 2]
        size = np.sqrt(x * x + y * y + z * z)
        share = largest[part] / size if size > largest[part] else 1.0
        F[a] += share * x
        F[a + 1] += share * y
        F[a + 2] += share * z
        # |m| omega_max, |f| v_max
        if part == 0:
            power_0 = share * size * fastest[0]
        else:
            power_1 = share * size * fastest[1]
    for part in range(2):
        a = 3 * part
        # x = |omega| / omega_max, |v| / v_max
        speed = np.sqrt(v[a] * v[a] + v[a + 1] * v[a + 1] + v[a + 2] * v[a + 2]) / fastest[part]
        if speed > 1.0:
            # b = -P min(1, x - 1) / x v / v_max^2
            P = power_0 + free[0] * power_1 if part == 0 else power_1 + free[1] * power_0
            d = P * min(1.0, speed - 1.0) / (speed * fastest[part] * fastest[part])
            F[a] -= d * v[a]
            F[a + 1] -= d * v[a + 1]
            F[a + 2] -= d * v[a + 2]


@compiled(given='time now pause')
def elapse_wrench(
    wanted: Matrix, rate: Vector, w: Matrix, clock: Vector, time: float, now: float, pause: float
) -> None:  # fmt: skip
    """Move each moment and force of w (2, 6) to that of wanted (2, 6) by at most rate (2) times ``time`` (s).

    ``now`` is the time on the clock of the arm, s; clock (2) has the time until which ``wanted`` counts, and that of
    the call before. A wrench that has ended, also by a clock that goes back, falls during a ``pause`` (s), too.
    """
    if now < clock[1]:
        clock[0] = -inf
    clock[1] = now
    elapsed = time
    if now > clock[0]:
        elapsed = max(time, pause)
        for row in range(2):
            for k in range(6):
                wanted[row, k] = 0.0
    for row in range(2):
        for part in range(2):
            away = 0.0
            for k in range(3):
                x = wanted[row, 3 * part + k] - w[row, 3 * part + k]
                away += x * x
            away = np.sqrt(away)
            step = rate[part] * elapsed
            share = step / away if away > step else 1.0
            for k in range(3):
                x = wanted[row, 3 * part + k] - w[row, 3 * part + k]
                # all of it leaves no rounding
                w[row, 3 * part + k] = wanted[row, 3 * part + k] if share == 1.0 else w[row, 3 * part + k] + share * x


class CommandedWrench:
    """The wrench of a Cartesian impedance, zero until one is wanted; its laws share the arrays.

    Parameters
    ----------
    largest : tuple of two floats
        Largest moment (N m) and force (N); 0: none is taken.
    fastest : tuple of two floats
        v_max of rotation (rad/s) and translation (m/s).
    ramp_time : float
        Time from nothing to the largest, s.
    free : tuple of two bools
        Whether rotation and translation have an axis without a spring.

    Attributes
    ----------
    now : ndarray, (2, 6)
        The wrench in force in the axes of the base, and that in the axes of the frame, rotation first: N m, N.
    largest, fastest, free : ndarray, (2,)
        The largest moment and force; omega_max and v_max; 1 where rotation and translation are free, else 0.
    damping : ndarray, (6,)
        The most that the brakes damp, N m s/rad and N s/m.
    numbers : dict
        What is bound of ``elapse_wrench``, by the names of its parameters.
    """

    def __init__(
        self,
        largest: tuple[float, float],
        fastest: tuple[float, float],
        ramp_time: float = 1.0,
        free: tuple[bool, bool] = (True, True),
    ):
        self.largest: np.ndarray = np.array(largest)
        self.fastest: np.ndarray = np.array(fastest)
        self.free: np.ndarray = np.array(free, float)
        self._wanted = np.zeros((2, 6))
        self.now: np.ndarray = np.zeros((2, 6))
        self._clock = np.full(2, -inf)  # until when it counts, and the last time, on the clock of the arm, s
        fixed = self._wanted, self.largest / ramp_time, self.now, self._clock
        self.numbers: dict[str, np.ndarray | float | bool] = dict(
            zip(declaration_of(elapse_wrench).fixed, fixed, strict=True)
        )
        self._elapse = bound(elapse_wrench, *fixed, then=(0.0, 0.0, 0.0))
        power = self.largest * self.fastest
        self.damping: np.ndarray = np.repeat((power + self.free * power[::-1]) / self.fastest**2, 3)

    def want(self, wrench: ArrayLike, is_local: bool, now: float) -> None:
        """Follow a ``wrench`` (6, rotation first; N m, N) from ``now`` on (s, on the clock of the arm), for ``AGE``.

        It is in the axes of the frame where ``is_local``, else in those of the base. ArgumentError names a number that
        is not finite, and a moment or force above the largest.
        """
        wrench = validation.finite('wrench', wrench, (6,))
        for name, part, largest, unit in zip(NAMES, np.split(wrench, 2), self.largest, ('N m', 'N'), strict=True):
            size = float(np.linalg.norm(part))
            if size > largest:
                raise ArgumentError(f'{name}: {size:.4g} {unit} is above {name}_limit, {largest:g} {unit}')
        self._wanted[int(is_local)], self._wanted[int(not is_local)] = wrench, 0.0
        self._clock[0] = now + AGE

    def end(self) -> None:
        """Let the wrench fall to zero; any thread."""
        self._clock[0] = -inf

    def begin_anew(self) -> None:
        """Be zero at once: the arm does not feel the wrench any more, or not yet."""
        self._clock[0] = -inf
        self.now.fill(0.0)

    def continue_from(self, before: 'CommandedWrench') -> None:
        """Take over the wrench of another description of the arm, limited to the largest one of this."""
        self._clock[0] = before._clock[0]
        for mine, other in ((self._wanted, before._wanted), (self.now, before.now)):
            for part, largest in ((slice(3), self.largest[0]), (slice(3, 6), self.largest[1])):
                size = np.linalg.norm(other[:, part], axis=1).sum()
                mine[:, part] = other[:, part] * (largest / size if size > largest else 1.0)

    def elapse(self, time: float, now: float, pause: float = 0.0) -> None:
        """Let ``time`` (s) pass up to ``now`` (s, on the clock of the arm), after a ``pause`` (s).

        A wrench that has ended falls in the pause, too; a clock that goes back ends it.
        """
        self._elapse(time, now, pause)
