"""Jumps of measured positions, as of an encoder that loses counts: where a joint cannot have moved to.

For each joint an interval of positions and one of velocities are known, which hold the true ones while accelerations
are below ``ACCELERATION``, velocities below twice the joint's limit, and positions exact to ``NOISE`` (a set-membership
observer; Schweppe 1968). A state outside has jumped, by the distance from where the joint would be with its velocity;
it is refused until the joint jumps back. After lost states the interval is wide: a state inside is refused once, until
the next one fits to it, too.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.kernels.choices import select

NOISE = 0.01
"""Largest error of a measured position, in the units of encoders."""
ACCELERATION = 25.0
"""Acceleration of fast arms, in the units of joints per s^2. The interval of velocities has room for more."""
SMALL = 0.05
"""Distance from where a motion leads, in the units of encoders, that the next state may confirm, and that may be left
after a jump back: less than 5 degrees."""
WIDE = 0.085
"""Half of an interval, in the units of encoders, above which a jump by 5 degrees in lost states may not be seen."""
LOST = 2.5
"""Periods without a state after which states were lost."""
RESTS = 0.03
"""s: longest time in which states may repeat a position that hardware reads less often, and that says nothing."""
STANDS = 0.1
"""s: longest time for which a joint in motion may repeat a position, and is taken for one that is not read."""
LEARNS, FORGETS = 0.5, 0.9
"""Shares of the time for which states repeat a position that a repetition, and a step without one, leave."""
SLACK = 0.02
"""Largest error by the times of stamps and of hardware, in the units of joints."""
JITTER = 1.5
"""Largest error of a stamp, as a multiple of the mean difference from the period."""
SHORT = 0.02
"""s: time between two states that counts in their period in any case; a longer one only if it is no pause."""
LATE = 0.1
"""s: by how much longer the time between two arrivals may be than that of their stamps; else a clock was set back."""
SHORTEST, ENDLESS = 1e-6, 1e30
SECOND = 1e9


@kernel
def turns_of(ahead, turn):
    """Return the number of whole turns (rad; 0: none) in a difference ``ahead`` (rad, m), rounded to the nearest."""
    # x + 1.5 2^52 - 1.5 2^52
    return (ahead / select(turn > 0.0, turn, 1.0) + 6755399441055744.0) - 6755399441055744.0


@kernel
def judge(k, exact, unit, velocity, held, offset, shift, spread, doubt, unread, step, time, off, half, fits, is_sure):
    """Write whether joint k is in doubt after a ``step`` in ``time`` s, and return whether it tells of the velocity.

    The step is ``off`` from where the joint would be, of an interval of which the farther end is ``half`` from there;
    it ``fits`` in it, and ``is_sure`` if nothing has to confirm it. The arrays are those of ``jumped_joint``.
    """
    small, wide, left, learns = SMALL * exact[k], WIDE * exact[k], offset[k] + off, is_sure
    if doubt[k] < 0.0:
        # either of the first two states may be wrong, but no position that was repeated
        may_be = fits | (unread[k] == 0.0) | (abs(off) <= small)
        doubt[k], spread[k] = select(is_sure, 0.0, select(may_be, 1.0, 2.0)), select(may_be, ENDLESS, half)
        offset[k] = off
        velocity[k] = select(fits, step / time, 0.0)
    elif doubt[k] == 0.0:
        # where the state before was wrong, from where the joint would be without it
        without = left + (velocity[k] - held[k]) * time
        last = select(abs(without) < 0.5 * abs(off), without, off)
        # back to where the joint was before small steps, or not so many of them that they add up to a jump
        all_steps = last + select(abs(shift[k]) <= small, shift[k], 0.0)
        is_small = fits | (min(abs(all_steps), abs(last + shift[k])) <= small)
        doubt[k], spread[k] = select(is_sure, 0.0, select(is_small, 1.0, 2.0)), half
        offset[k] = select(is_small, off, all_steps)
    elif doubt[k] == 1.0:
        is_back = (abs(left) <= spread[k]) & (spread[k] <= wide)
        if is_sure | is_back:
            steps = offset[k] + select(abs(offset[k] + shift[k]) <= small, shift[k], 0.0)
            # what moved farther in lost states is no sum of small steps
            steps = select(abs(steps) <= small, steps, 0.0)
            doubt[k], shift[k], offset[k] = 0.0, select(is_sure, steps, shift[k]), off
        else:
            # one of both states is wrong, or none is
            spread[k] += select(fits, half, 0.0)
            is_small = min(abs(left), abs(left + shift[k])) <= max(spread[k], small)
            doubt[k], offset[k] = select(is_small, 1.0, 2.0), left
            velocity[k] = select(fits, step / time, velocity[k])
    else:
        # the jump back explains the step better than a motion does
        nearest = min(abs(left), abs(left + shift[k]))
        is_back = (nearest <= max(spread[k], small)) & (nearest < 0.5 * abs(off))
        learns = fits & (not is_back)
        if is_back:
            doubt[k] = select(spread[k] > wide, 1.0, 0.0)
        # many small steps are no jump back
        if is_back or (not fits and abs(left) > abs(offset[k])):
            offset[k] = left
    return learns


@compiled(given='y elapsed')
def jumped_joint(
    turn: Vector, exact: Vector, unit: Vector, fastest: Vector,
    seen: Vector, below: Vector, above: Vector, slowest: Vector, quickest: Vector, velocity: Vector,
    offset: Vector, shift: Vector, spread: Vector, doubt: Vector, rest: Vector, unread: Vector, stale: Vector,
    held: Vector, period: Vector, strayed: Vector,
    y: Vector, elapsed: float,
) -> int:  # fmt: skip
    """Return the first joint at y (m; rad, m) that is in doubt, -1 for none.

    All written: ``seen`` (m), the state before, ``elapsed`` s ago; ``below`` and ``above`` (m; rad, m), the interval of
    positions less ``seen``; ``slowest`` and ``quickest`` (m, per s), that of velocities, and ``velocity`` (m), the most
    likely one; ``doubt`` (m), -1 after the first state, 1 for a joint that has to be confirmed, 2 for one that jumped;
    its ``offset`` (m; rad, m) from where it would be without the states in doubt, ``shift`` (m), the sum of those that
    were confirmed within about a second, and ``spread`` (m), how exactly that is known; for how long states repeat a
    position, ``rest`` (m, s), in part since it was not read, ``unread`` (m, s), and mostly did so in motion, ``stale``
    (m, s); the velocities before the last state that was not in doubt, ``held`` (m, per s); the ``period`` (3, s) of
    states, by how much they came in bursts, and how irregularly; how far the joints can have ``strayed`` (m; rad, m)
    from the straight line between both states.
    ``fastest`` (m) are the velocities of the joints. Errors of positions are in units of the encoders, ``exact`` (m),
    motions in the ``unit`` (m) of what joints drive through gears. Both of joints in no loop are so large that none
    jumps.
    """
    found = -1
    # stamps that repeat, or come in bursts, say nothing of the time, and the pause after a burst is shorter
    since = max(elapsed - period[1], period[0])
    is_burst = elapsed < 0.25 * period[0]
    ahead_of_time = min(period[1] + since - elapsed, 5.0 * period[0])
    period[2] += select(elapsed > 0.0, 0.1 * (min(abs(elapsed - period[0]), period[0]) - period[2]), 0.0)
    period[1] = select(is_burst, ahead_of_time, 0.9 * max(period[1] - max(elapsed - since, 0.0), 0.0))
    are_lost = (period[0] > 0.0) & (since > LOST * period[0])
    for k in range(y.shape[0]):
        strayed[k] = 0.0
        step = y[k] - seen[k]
        step -= turns_of(step, turn[k]) * turn[k]
        repeats = step == 0.0
        # a position that hardware has not read yet; how often it reads is not known at first
        is_first = (doubt[k] < 0.0) | (spread[k] >= ENDLESS)
        is_old = repeats & (rest[k] + elapsed <= select(is_first, RESTS, min(1.5 * stale[k], RESTS)))
        rest[k] = select(repeats, min(rest[k] + elapsed, RESTS), rest[k])
        # since the position before, if states in between have repeated that
        time = max(since + unread[k], SHORTEST)
        in_time = min(stale[k], since) + JITTER * period[2]
        noise = NOISE * exact[k] + min(abs(velocity[k]) * in_time, SLACK * unit[k])
        most, fast = ACCELERATION * unit[k] * time, 2.0 * fastest[k]
        # p + v T - A T^2 / 2 ... p + v T + A T^2 / 2, and no faster than at the velocity limit
        slow, quick = max(slowest[k] - most, -fast), min(quickest[k] + most, fast)
        # in a burst T is anything between the stamps and the period
        early = select(is_burst, elapsed + unread[k], time)
        slower, quicker = max(slowest[k] - 0.5 * most, -fast), min(quickest[k] + 0.5 * most, fast)
        lower = below[k] + min(slower * time, slower * early)
        upper = above[k] + max(quicker * time, quicker * early)
        near, far = min(velocity[k] * early, velocity[k] * time), max(velocity[k] * early, velocity[k] * time)
        ahead = min(max(min(max(step, near), far), lower), upper)
        off, half = step - ahead, max(upper - ahead, ahead - lower) + noise
        fits = (step >= lower - noise) & (step <= upper + noise)
        is_late = are_lost | (unread[k] > 1.5 * stale[k]) & (not is_first)
        is_sure = fits & (not (is_late & (half > WIDE * exact[k]))) & (abs(off) <= 2.0 * noise + most * time)
        # nor that of a joint which cannot have stopped, v > A T, or would have to at a speed that matters
        is_known = (doubt[k] == 0.0) | (spread[k] == 0.0)
        may_stand = repeats & is_known & (time <= STANDS)
        speed = abs(velocity[k])
        moves = (speed > most) | (speed * STANDS > SMALL * exact[k])
        is_far = (not fits) | ((speed - 0.5 * most) * early > 2.0 * noise) | (speed * early > SMALL * exact[k])
        is_frozen = may_stand & (is_far | (doubt[k] == 1.0))
        if is_old or is_frozen or (may_stand and moves):
            unread[k] += elapsed
            if is_frozen:
                doubt[k], offset[k], spread[k] = 1.0, 0.0, 0.0
        else:
            shift[k] *= max(1.0 - time, 0.0)
            learns = judge(
                k,
                exact,
                unit,
                velocity,
                held,
                offset,
                shift,
                spread,
                doubt,
                unread,
                step,
                time,
                off,
                half,
                fits,
                is_sure,
            )
            held[k] = select(doubt[k] == 0.0, velocity[k], held[k])
            low, high = -noise, noise
            if learns and not is_burst:
                low, high = max(lower - step, -noise), min(upper - step, noise)
                # the mean velocity, from which that at the end differs by A T / 2
                slow = max(slow, (low + step - above[k]) / time - 0.5 * most)
                quick = max(slow, min(quick, (high + step - below[k]) / time + 0.5 * most))
                velocity[k] += min(max(step / time - velocity[k], -most), most)
            elif repeats and (is_known or doubt[k] == 0.0):
                # it has stopped, or stood since states were lost
                slower = select(spread[k] > WIDE * exact[k], fast, most)
                velocity[k] -= min(max(velocity[k], -slower), slower)
            velocity[k] = min(max(velocity[k], slow), quick)
            below[k], above[k], slowest[k], quickest[k] = low, high, slow, quick
            # a curve between two points leaves their line by A T^2 / 8; joints in no loop come to no singular position
            most_astray = min(most * time / 8.0, max(0.5 * (fast * time - abs(step)), 0.0))
            strayed[k] = select(unit[k] < ENDLESS, most_astray, 0.0)
            unread[k] = 0.0
        if not repeats:
            was_read_late = (rest[k] > 0.0) & (rest[k] < RESTS)
            stale[k] = select(was_read_late, stale[k] + LEARNS * (rest[k] - stale[k]), FORGETS * stale[k])
            rest[k] = 0.0
        if doubt[k] > 0.0 and found < 0:
            found = k
        seen[k] = y[k]
    if elapsed > 0.0:
        gap = min(elapsed, max(10.0 * period[0], SHORT))
        period[0] = select(period[0] > 0.0, period[0] + 0.2 * (gap - period[0]), elapsed)
    return found


class JointJumps:
    """Positions of m joints in the states that came one after the other.

    Parameters
    ----------
    turn, exact, unit, fastest : ndarray, (m,)
        Turns of continuous joints (rad), else 0; units of errors and of distances (rad, m); velocities (rad/s, m/s).

    Attributes
    ----------
    begun : bool
        Whether there is a state to compare others with.
    stamp : int
        Of the last state, ns; -1 where that is not known.
    elapsed : float
        Time between the last two states, s.
    noise : ndarray, (m,)
        Largest error of measured positions, rad or m.
    """

    def __init__(self, turn: np.ndarray, exact: np.ndarray, unit: np.ndarray, fastest: np.ndarray):
        self._states, self._period, self._strayed = np.zeros((14, len(turn))), np.zeros(3), np.zeros(len(turn))
        self._seen, self._below, self._above, self._slowest, self._quickest = self._states[:5]
        _, self._offset, _, _, self._doubt, _, self._unread, *_ = self._states[5:]
        self.noise, self._fastest = NOISE * exact, 2.0 * fastest
        self.stamp, self.elapsed, self.begun, self._arrival = -1, 0.0, False, np.nan
        states = *self._states, self._period, self._strayed
        self._jumped_joint = bound(jumped_joint, turn, exact, unit, fastest, *states, then=(self._seen, 0.0))

    @property
    def expected(self) -> np.ndarray:
        """Where the motion without jumps leads (m,), rad or m."""
        return self._seen - np.where(self._doubt > 0.0, self._offset, 0.0)

    @property
    def doubtful(self) -> bool:
        """Whether some joint is in doubt."""
        return bool((self._doubt > 0.0).any())

    @property
    def strayed(self) -> np.ndarray:
        """How far the joints can have been from the straight line between the last two states, (m,) rad, m."""
        return self._strayed

    def reset(self) -> None:
        """Compare nothing until ``begin``."""
        self.begun = False

    def begin(self, y: np.ndarray, stamp: int, arrival: float) -> None:
        """Begin with a state y (m; rad, m) of the time ``stamp``, ns; see ``jumped``."""
        self._states[:] = 0.0
        self._period[:] = self._strayed[:] = 0.0
        self._seen[:], self._below[:], self._above[:] = y, -self.noise, self.noise
        self._slowest[:], self._quickest[:], self._doubt[:] = -self._fastest, self._fastest, -1.0
        self.stamp, self.elapsed, self.begun, self._arrival = stamp, 0.0, True, arrival

    def clock_set_back(self) -> None:
        """Take the time of the next state from its arrival: its stamp says nothing."""
        self.stamp = -1

    def knows_time(self, arrival: float) -> bool:
        """Return whether the time between the last state and one of this ``arrival`` is known."""
        return self.stamp >= 0 or arrival >= self._arrival

    def continue_from(self, before: 'JointJumps') -> None:
        """Compare with the states that ``before``, of the same joints, has seen."""
        self._states[:], self._period[:], self._strayed[:] = before._states, before._period, before._strayed
        self.stamp, self.begun, self._arrival = before.stamp, before.begun, before._arrival

    def jumped(self, y: np.ndarray, stamp: int, arrival: float) -> int:
        """Return the first joint of the next state that is in doubt, -1 for none.

        The stamp (ns) is not before the last one, and ``knows_time`` of its ``arrival`` (s of a clock that nobody sets;
        NaN: not known).
        """
        since = arrival - self._arrival
        self.elapsed = since if self.stamp < 0 else max((stamp - self.stamp) / SECOND, since - LATE)
        self.stamp, self._arrival = stamp, arrival
        return self._jumped_joint(y, self.elapsed)

    def doubt(self, joint: int) -> str:
        """Return in words how the position of a joint differs from the one that its motion predicts."""
        off = f'{abs(self._offset[joint]):.3g} rad or m'
        if self._unread[joint] > 0.0 and self._offset[joint] == 0.0:
            return 'repeats a position in motion, as where hardware is not read: the next state has to confirm that'
        if self._doubt[joint] < 2.0:
            return f'is {off} from where its motion leads: the next state has to confirm that'
        return (
            f'has jumped by {off}, farther than it can have moved since the state before: check its encoder, then '
            'activate again'
        )
