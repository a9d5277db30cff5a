"""Jumps of measured positions, as of an encoder that loses counts: farther than a joint can have moved since then.

A joint moves on with its velocity, which changes by at most ``ACCELERATION``, or stops. What it has moved beyond that
is its offset. One that jumped is refused until it jumps back, so that no offset is left. One that moved farther than
with its velocity, as after a gap, is refused once: the next state says whether it was a single wrong one.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.kernels.choices import select

ROOM = 0.03
"""Distance from where a joint moves on to, in the units of joints, that is no jump."""
ACCELERATION = 50.0
"""Largest acceleration, in the units of joints per s^2: twice that of fast arms."""
LONGEST, REFRESH = 0.1, 0.02
"""s: longest time in which states repeat a position while the joint moves on, as of hardware that is read less often,
and the part of it in which the joint may speed up: one that stands repeats its position, too."""
SECOND = 1e9


@kernel
def turns_of(ahead, turn):
    """Return the number of whole turns (rad; 0: none) in a difference ``ahead`` (rad, m), rounded to the nearest."""
    # x + 1.5 2^52 - 1.5 2^52
    return (ahead / select(turn > 0.0, turn, 1.0) + 6755399441055744.0) - 6755399441055744.0


@compiled(given='y elapsed')
def jumped_joint(
    turn: Vector, unit: Vector, fastest: Vector,
    seen: Vector, velocity: Vector, offset: Vector, doubt: Vector, repeated: Vector, period: Vector,
    y: Vector, elapsed: float,
) -> int:  # fmt: skip
    """Return the first joint at y (m; rad, m) that is not where its motion leads, -1 for none.

    All written: ``seen`` (m), the state before, ``elapsed`` s ago; ``velocity`` (m; rad/s, m/s) of the last motion;
    ``offset`` (m; rad, m) from where a joint moved on to, of one that jumped since then; ``doubt`` (m), -1 where no
    velocity is known yet, 1 for a joint that moved farther than with its velocity, 2 for one that jumped; for how long
    states have ``repeated`` the position of a joint (m, s); and the ``period`` (1, s) of states. ``fastest`` (m) are
    the velocities of the joints; twice as fast ones are noise.
    """
    found = -1
    # stamps that repeat, or come in bursts, say nothing of the time
    since = max(elapsed, period[0])
    for k in range(y.shape[0]):
        step = y[k] - seen[k]
        step -= turns_of(step, turn[k]) * turn[k]
        room, time = ROOM * unit[k], since + repeated[k]
        free = since + min(repeated[k], REFRESH)
        # the velocity is from before a state that waits for this one
        gained = 0.5 * ACCELERATION * unit[k] * free * free * select(doubt[k] == 1.0, 4.0, 1.0)
        ahead = velocity[k] * time
        # the joint moves on, or stops on the way
        beyond = step - min(max(step, min(ahead, 0.0)), max(ahead, 0.0))
        continues = (abs(beyond) <= room + gained) & (abs(step) <= room + 2.0 * fastest[k] * time)
        # a jump back, if that explains the step better than a motion does
        left = offset[k] + step
        moved = left - min(max(left, min(ahead, 0.0)), max(ahead, 0.0))
        is_back = (abs(moved) <= room) & (abs(left - ahead) < 0.5 * abs(step - ahead))
        if step == 0.0:
            repeated[k] = min(repeated[k] + elapsed, LONGEST)
            doubt[k] = max(doubt[k], 0.0)
        else:
            if doubt[k] < 0.0 and abs(step) <= room + 2.0 * fastest[k] * time:
                doubt[k], velocity[k] = 0.0, step / free
            elif is_back and not (continues and doubt[k] == 0.0):
                doubt[k], offset[k] = 0.0, 0.0
            elif continues and doubt[k] == 0.0 and abs(beyond) > room:
                doubt[k], offset[k] = 1.0, step - ahead
            elif continues:
                if doubt[k] < 2.0:
                    # the next state may show that this one was wrong
                    doubt[k], offset[k] = 0.0, step - ahead
                most = ACCELERATION * unit[k] * time
                velocity[k] += min(max(step / free - velocity[k], -most), most)
            else:
                offset[k] = select(doubt[k] > 0.0, offset[k], 0.0) + step - ahead
                doubt[k] = 2.0
            repeated[k] = 0.0
        if doubt[k] > 0.0 and found < 0:
            found = k
        seen[k] = y[k]
    gap = min(elapsed, LONGEST)
    if period[0] > 0.0:
        gap = period[0] + 0.2 * (min(gap, 10.0 * period[0]) - period[0])
    period[0] = select(elapsed > 0.0, gap, period[0])
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
    elapsed : float
        Time between the last two states, s.
    """

    def __init__(self, turn: np.ndarray, unit: np.ndarray, fastest: np.ndarray):
        self._states, self._period = np.zeros((5, len(turn))), np.zeros(1)
        self._seen, _, self._offset, self._doubt, _ = self._states
        self._stamp, self.elapsed, self.begun = 0, 0.0, False
        states = *self._states, self._period
        self._jumped_joint = bound(jumped_joint, turn, unit, fastest, *states, then=(self._seen, 0.0))

    @property
    def expected(self) -> np.ndarray:
        """Where the motion without jumps leads (m,), rad or m."""
        return self._seen - np.where(self._doubt > 0.0, self._offset, 0.0)

    @property
    def doubtful(self) -> bool:
        """Whether some joint is not where its motion leads."""
        return bool((self._doubt > 0.0).any())

    def reset(self) -> None:
        """Compare nothing until ``begin``."""
        self.begun = False

    def begin(self, y: np.ndarray, stamp: int) -> None:
        """Begin with a state y (m; rad, m) of the time ``stamp``, ns."""
        self._states[:] = 0.0
        self._period[:] = 0.0
        self._seen[:], self._doubt[:] = y, -1.0
        self._stamp, self.elapsed, self.begun = stamp, 0.0, True

    def clock_set_back(self) -> None:
        """Compare the next state as one that comes a period after the last."""
        self._stamp = -1

    def continue_from(self, before: 'JointJumps') -> None:
        """Compare with the states that ``before``, of the same joints, has seen."""
        self._states[:], self._period[:] = before._states, before._period
        self._stamp, self.begun = before._stamp, before.begun

    def jumped(self, y: np.ndarray, stamp: int) -> int:
        """Return the first joint of the next state that is not where its motion predicts it, -1 for none."""
        self.elapsed = 0.0 if self._stamp < 0 else abs(stamp - self._stamp) / SECOND
        self._stamp = stamp
        return self._jumped_joint(y, self.elapsed)

    def doubt(self, joint: int) -> str:
        """Return in words how the position of a joint differs from the one that its motion predicts."""
        off = f'{abs(self._offset[joint]):.3g} rad or m'
        if self._doubt[joint] < 2.0:
            return f'has moved by {off} beyond its motion since the state before: the next one has to confirm that'
        return (
            f'has jumped by {off}, farther than it can have moved since the state before: check its encoder, then '
            'activate again'
        )
