"""Jumps of measured positions, as of an encoder that loses counts: farther than a joint can have moved since then.

A joint moves on with its speed, and speeds up or slows down by at most ``ACCELERATION``. One that jumped is refused
until it jumps back to where its motion without the jump leads. One that moved farther than with its speed, as after a
gap, is refused once: the next state says whether it was a single wrong one.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.kernels.choices import select

ROOM = 0.03
"""Distance of two states, in the units of joints, in which no joint is too fast."""
ACCELERATION = 50.0
"""Largest acceleration, in the units of joints per s^2: twice that of fast arms."""
LONGEST = 0.1
"""s: longest time in which states repeat the same positions while the joints move on, as of hardware that is read less
often, and longest period."""
SECOND = 1e9


@kernel
def turns_of(ahead, turn):
    """Return the number of whole turns (rad; 0: none) in a difference ``ahead`` (rad, m), rounded to the nearest."""
    # x + 1.5 2^52 - 1.5 2^52
    return (ahead / select(turn > 0.0, turn, 1.0) + 6755399441055744.0) - 6755399441055744.0


@compiled(given='y elapsed')
def jumped_joint(
    turn: Vector, unit: Vector, fastest: Vector,
    seen: Vector, expected: Vector, speed: Vector, doubt: Vector, clock: Vector, y: Vector, elapsed: float,
) -> int:  # fmt: skip
    """Return the first joint at y (m; rad, m) that is not where its motion leads, -1 for none.

    The state before, ``elapsed`` s ago, is ``seen`` (m), ``expected`` (m) where the motion without jumps leads, and
    ``speed`` (m; rad/s, m/s) that of the last motion; ``doubt`` (m) is 1 for a joint that moved farther than with its
    speed, and 2 for one that jumped. ``clock`` (2, s) has the period of states and for how long they have repeated
    their positions. All are written. ``fastest`` (m) are the velocities of the joints; twice as fast ones are noise.
    """
    found, moved = -1, 0.0
    for k in range(y.shape[0]):
        moved += select(y[k] == seen[k], 0.0, 1.0)
    # stamps that repeat say nothing of the time
    since, stalled = max(elapsed, clock[0]), clock[1]
    for k in range(y.shape[0]):
        step, off = y[k] - seen[k], y[k] - expected[k]
        step -= turns_of(step, turn[k]) * turn[k]
        off -= turns_of(off, turn[k]) * turn[k]
        ahead = ROOM * unit[k] + 1.5 * speed[k] * (since + stalled)
        faster = min(2.0 * fastest[k] * since, 1.5 * speed[k] * since + 0.5 * ACCELERATION * unit[k] * since * since)
        reach = ROOM * unit[k] + faster + select(doubt[k] < 2.0, 1.5 * speed[k] * stalled, 0.0)
        if doubt[k] < 2.0 and abs(step) <= reach:
            if doubt[k] > 0.0 or abs(step) <= ahead:
                doubt[k], expected[k] = 0.0, y[k]
            else:
                doubt[k] = 1.0
        elif doubt[k] > 0.0 and abs(step) > reach and abs(off) <= reach:
            doubt[k], expected[k] = 0.0, y[k]
        elif abs(step) <= reach:
            expected[k] += step
        else:
            doubt[k] = 2.0
        if moved > 0.0 and abs(step) <= reach:
            speed[k] = min(abs(step) / (since + stalled + 1e-9), fastest[k])
        if doubt[k] > 0.0 and found < 0:
            found = k
        seen[k] = y[k]
    clock[1] = min(stalled + elapsed, LONGEST) if moved == 0.0 else 0.0
    period = min(elapsed, LONGEST)
    if clock[0] > 0.0:
        period = clock[0] + 0.2 * (min(period, 10.0 * clock[0]) - clock[0])
    clock[0] = select(elapsed > 0.0, period, clock[0])
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
    expected : ndarray, (m,)
        Where the motion without jumps leads, rad or m.
    elapsed : float
        Time between the last two states, s.
    """

    def __init__(self, turn: np.ndarray, unit: np.ndarray, fastest: np.ndarray):
        self._turn = turn
        self._states = np.zeros((4, len(turn)))
        self._seen, self.expected, self._speed, self._doubt = self._states
        self._clock = np.zeros(2)
        self._stamp, self.elapsed, self.begun = 0, 0.0, False
        states = *self._states, self._clock
        self._jumped_joint = bound(jumped_joint, turn, unit, fastest, *states, then=(self._seen, 0.0))

    def reset(self) -> None:
        """Compare nothing until ``begin``."""
        self.begun = False

    def begin(self, y: np.ndarray, stamp: int) -> None:
        """Begin with a state y (m; rad, m) of the time ``stamp``, ns."""
        self._states[:] = 0.0
        self._clock[:] = 0.0
        self._seen[:] = self.expected[:] = y
        self._stamp, self.elapsed, self.begun = stamp, 0.0, True

    def clock_set_back(self) -> None:
        """Compare the next state as one that comes a period after the last."""
        self._stamp = -1

    def continue_from(self, before: 'JointJumps') -> None:
        """Compare with the states that ``before``, of the same joints, has seen."""
        self._states[:], self._clock[:] = before._states, before._clock
        self._stamp, self.begun = before._stamp, before.begun

    def jumped(self, y: np.ndarray, stamp: int) -> int:
        """Return the first joint of the next state that is not where its motion leads, -1 for none."""
        self.elapsed = 0.0 if self._stamp < 0 else abs(stamp - self._stamp) / SECOND
        self._stamp = stamp
        return self._jumped_joint(y, self.elapsed)

    def doubt(self, joint: int) -> str:
        """Return what a joint of the last state has done that is not where its motion leads."""
        off = self._seen[joint] - self.expected[joint]
        off = abs(off - turns_of(off, self._turn[joint]) * self._turn[joint])
        if self._doubt[joint] < 2.0:
            return f'has moved by {off:.3g} rad or m since the state before: the next one has to confirm that'
        return (
            f'has jumped by {off:.3g} rad or m, farther than it can have moved since the state before: check its '
            'encoder, then activate again'
        )
