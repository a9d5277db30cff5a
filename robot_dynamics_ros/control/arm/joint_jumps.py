"""Jumps of measured positions, as of an encoder that loses counts: farther than a joint can have moved since then.

A joint that jumped is refused until it comes back to where its motion without the jump leads.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.kernels.choices import select

ROOM = 0.03
"""Distance of two states, in the units of joints, in which no joint is too fast."""
INSTANT = 1e-9
"""s: least time between two states."""
SECOND = 1e9


@kernel
def turns_of(ahead, turn):
    """Return the number of whole turns (rad; 0: none) in a difference ``ahead`` (rad, m), rounded to the nearest."""
    # x + 1.5 2^52 - 1.5 2^52
    return (ahead / select(turn > 0.0, turn, 1.0) + 6755399441055744.0) - 6755399441055744.0


@compiled(given='y elapsed')
def jumped_joint(
    turn: Vector, unit: Vector, fastest: Vector, seen: Vector, expected: Vector, y: Vector, elapsed: float
) -> int:
    """Return the first joint at y (m; rad, m) that has jumped since the state ``elapsed`` s before, -1 for none.

    ``seen`` (m) is that state, written with y; ``expected`` (m) is where the motion without jumps leads, written, too.
    ``fastest`` (m) are the velocities of the joints; twice as fast ones count as noise.
    """
    found = -1
    for k in range(y.shape[0]):
        step, off = y[k] - seen[k], y[k] - expected[k]
        step -= turns_of(step, turn[k]) * turn[k]
        off -= turns_of(off, turn[k]) * turn[k]
        reach = ROOM * unit[k] + 2.0 * fastest[k] * (elapsed + INSTANT)
        if abs(off) <= reach and abs(off) <= abs(step):
            expected[k] = y[k]
        else:
            if found < 0:
                found = k
            if abs(step) <= reach:
                expected[k] += step
        seen[k] = y[k]
    return found


class JointJumps:
    """Positions of m joints in the states that came one after the other.

    Parameters
    ----------
    turn, unit, fastest : ndarray, (m,)
        Turns of continuous joints (rad), else 0; units of distances (rad, m); velocities (rad/s, m/s).

    Attributes
    ----------
    begun : bool
        Whether there is a state to compare others with.
    """

    def __init__(self, turn: np.ndarray, unit: np.ndarray, fastest: np.ndarray):
        self._turn = turn
        self._seen, self._expected = np.zeros((2, len(turn)))
        self._stamp, self.begun = 0, False
        states = self._seen, self._expected
        self._jumped_joint = bound(jumped_joint, turn, unit, fastest, *states, then=(self._seen, 0.0))

    def reset(self) -> None:
        """Compare nothing until ``begin``."""
        self.begun = False

    def begin(self, y: np.ndarray, stamp: int) -> None:
        """Begin with a state y (m; rad, m) of the time ``stamp``, ns."""
        self._seen[:] = self._expected[:] = y
        self._stamp, self.begun = stamp, True

    def continue_from(self, before: 'JointJumps') -> None:
        """Compare with the states that ``before``, of the same joints, has seen."""
        self._seen[:], self._expected[:] = before._seen, before._expected
        self._stamp, self.begun = before._stamp, before.begun

    def jumped(self, y: np.ndarray, stamp: int) -> int:
        """Return the first joint of the next state that jumped, -1 for none."""
        elapsed, self._stamp = abs(stamp - self._stamp) / SECOND, stamp
        return self._jumped_joint(y, elapsed)

    def distance(self, joint: int) -> float:
        """Return how far a joint of the last state is from where its motion without jumps leads, rad or m."""
        off = self._seen[joint] - self._expected[joint]
        return abs(off - turns_of(off, self._turn[joint]) * self._turn[joint])
