"""Motions of a mechanism with closed loops: refused where a loop does not close on the way.

In mid-motion nothing else than silence would be left there. Such a way is that of a trajectory, that to it from the
reference in force, and that on which it comes to rest.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.following.closing_way import NEAREST
from robot_dynamics_ros.control.arm.following.loop_solutions import LONGEST, STRIDE, Solution
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, LoopError, SingularError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.robot import Robot

DISTANCE = 0.08
"""Least distance from a singular position, about rad: states that miss a trajectory a little are still accepted."""
MISSED = 0.01
"""Distance, likewise, by which an arm near a singular position may miss where it is held."""
FARTHEST = 0.05
"""Distance of two samples, rad or m: between them the way is straight."""
PARTS = 96
"""Of equal times, into which a polynomial is cut."""
TURNED = 1e-6
"""rad or m by which a polynomial that turns is at least beyond both of its ends."""
CLEAR = 0.5
"""Distance from a singular position below which steps are short, and samples nearer to each other by its square: in
some positions 0.5 mm are enough for a platform on pistons to come from 0.3 to where it cannot be closed."""


class Fault(NamedTuple):
    """Where a loop does not close on a way: the time since its beginning (s), and the reason."""

    time: float
    reason: str


def check_reach(trajectory: Trajectory, ways: 'WayCheck | None') -> Solution | None:
    """Raise ArgumentError with the time and the loop for a trajectory that the joints of a mechanism cannot follow.

    The way begins where the arm was measured last. Returns where it ends; None for a robot without closed loops, which
    has no ``ways``.
    """
    if ways is None:
        return None
    mechanism = ways.mechanism
    found = mechanism.measured
    least = min(DISTANCE, max(found.distance - MISSED, NEAREST))
    for time, q in _places(trajectory, ways):
        try:
            for it in mechanism.way(found, q):
                found = it
                if it.distance < least:
                    raise SingularError(_near(mechanism, it))
                if it.distance >= DISTANCE:  # it has led away from where the arm was
                    least = DISTANCE
        except (LoopError, SingularError) as error:
            raise ArgumentError(f'trajectory: {time:.3f} s: {error}') from None
    return found


def _places(trajectory: Trajectory, ways: 'WayCheck') -> Iterator[tuple[float, np.ndarray]]:
    """Yield times (s) and positions (n) between which each segment of a trajectory is straight, and its end."""
    starts, segments, final = trajectory.segments
    for k, coefficients in enumerate(segments):
        rows, times = ways.samples(coefficients, float(starts[k + 1] - starts[k]))
        yield from zip(starts[k] + times, rows, strict=True)
    yield float(starts[-1]), final


@compiled(given='share coefficients duration rows times')
def _samples(
    farthest: Vector, turned: Vector, share: float, coefficients: Matrix, duration: float, rows: Matrix, times: Vector
) -> int:
    """Write ``rows`` (PARTS + 1, n) of positions on a way and their ``times`` (PARTS + 1; s); return the last index.

    The first and the last one are its ends, the others where a joint is a ``share`` of ``farthest`` (n; rad, m) from
    the one before, and where one is furthest beyond both ends, by more than ``turned`` (n). ``coefficients`` (6, n) are
    of the powers of the time, lowest first, up to ``duration`` (s).
    """
    n = farthest.shape[0]
    for k in range(PARTS + 1):
        s = duration * k / PARTS
        times[k] = -1.0  # no extreme
        for j in range(n):
            c0, c1, c2 = coefficients[0, j], coefficients[1, j], coefficients[2, j]
            c3, c4, c5 = coefficients[3, j], coefficients[4, j], coefficients[5, j]
            rows[k, j] = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    for j in range(n):
        lowest = min(rows[0, j], rows[PARTS, j]) - turned[j]
        highest = max(rows[0, j], rows[PARTS, j]) + turned[j]
        low, high = PARTS, PARTS
        for k in range(1, PARTS):
            if rows[k, j] < lowest:
                lowest, low = rows[k, j], k
            if rows[k, j] > highest:
                highest, high = rows[k, j], k
        times[low] = times[high] = 0.0
    times[0], last = 0.0, 0
    for k in range(1, PARTS + 1):
        is_sample = k == PARTS or times[k] == 0.0
        for j in range(n):
            is_sample = is_sample or abs(rows[k, j] - rows[last, j]) >= share * farthest[j]
        if is_sample:
            last += 1
            times[last] = duration * k / PARTS
            for j in range(n):
                rows[last, j] = rows[k, j]
    return last


class WayCheck:
    """Looks for loops of a ``mechanism`` that do not close on ways that are one polynomial.

    Such ways are leads, motions that come to rest, and segments of trajectories.
    """

    def __init__(self, mechanism: ClosedMechanism):
        """Begin ways where ``mechanism`` is measured."""
        self.mechanism, longest = mechanism, mechanism.arithmetic.longest
        n = len(longest)
        # of joints in no loop it is endless
        bounds = longest * (FARTHEST / LONGEST), longest * (TURNED / LONGEST)
        then = 1.0, np.zeros((6, n)), 0.0, np.zeros((PARTS + 1, n)), np.zeros(PARTS + 1)
        self._samples = bound(_samples, *bounds, then=then)

    @classmethod
    def of(cls, robot: Robot | DrivenRobot) -> 'WayCheck | None':
        """Return that of a robot, None for one without closed loops."""
        following = robot.following if isinstance(robot, DrivenRobot) else None
        return cls(following) if isinstance(following, ClosedMechanism) else None

    def samples(self, coefficients: np.ndarray, duration: float, share: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (k, n) on a way, between which it is straight, and their times (k; s), at most PARTS + 1.

        They are a ``share`` of FARTHEST from each other at most; see ``fault`` for the way.
        """
        rows, times = np.empty((PARTS + 1, coefficients.shape[1])), np.empty(PARTS + 1)
        last = self._samples(share, coefficients, duration, rows, times)
        return rows[: last + 1], times[: last + 1]

    def fault(self, coefficients: np.ndarray, duration: float, begin: Solution | None = None) -> Fault | None:
        """Return the first place of a way where a loop does not close, or which is too near a singular position.

        ``coefficients`` (6, n) are of the powers of the time, lowest first, up to ``duration`` (s). The loops are
        followed from ``begin``; None: from where the arm was measured last. Both ends are places that were accepted,
        and in between a way may be as near a singular position as they are: it leads away from there, or to there.
        """
        begin = begin or self.mechanism.measured
        share = min(1.0, (begin.distance / CLEAR) ** 2)
        rows, times = self.samples(coefficients, duration, share)
        if len(rows) == 2 and share == 1.0:
            return None
        at, passed, reason = self._followed(begin, rows)
        least = DISTANCE if reason else min(DISTANCE, passed[-1].distance)
        if not reason and all(it.distance >= least for it in passed):
            return None
        with suppress(DynamicsError):
            *_, first = self.mechanism.way(begin, rows[0])
            least = min(least, first.distance)
        for k, it in zip(at, passed, strict=True):
            if it.distance < least:
                return Fault(float(times[k]), _near(self.mechanism, it))
        return Fault(float(times[at[-1] if at else 0]), reason) if reason else None

    def _followed(self, begin: Solution, rows: np.ndarray) -> tuple[list[int], list[Solution], str]:
        """Return solutions on the way from ``begin`` through rows, the rows to which they lead, and what ends it."""
        before, at, passed = begin, list[int](), list[Solution]()
        try:
            if begin.distance < DISTANCE:  # nearer than the way, perhaps
                *_, before = self.mechanism.way(begin, rows[0])
            for k in range(1, len(rows)):
                stride = STRIDE if before.distance >= CLEAR else 1.0
                for it in self.mechanism.way(before, rows[k], stride=stride):
                    before = it
                    at.append(k)
                    passed.append(it)
        except DynamicsError as error:
            return at, passed, str(error)
        return at, passed, ''


def _near(mechanism: ClosedMechanism, found: Solution) -> str:
    """Return in words that a solution is too near a singular position."""
    return (
        f'{mechanism.name_of(found.nearest)}: the mechanism is about {found.distance:.2g} rad from a singular '
        f'position, less than {DISTANCE:g}, with {mechanism.said(found.y)}'
    )
