"""The motion that a trajectory controller says it is at, sample by sample: completed, and carried on to other stamps.

Velocities and accelerations that the samples lack are differentiated, then smoothed by a first-order low-pass
(backward Euler): y += h / (h + T) (x - y), with h the time between two samples and T = 1 / (2 pi cut-off). What is
found so lags; with samples h apart its error at a sample is at most

    velocity      (T + h) max|acceleration|
    acceleration  (T + h) max|jerk|, and (T + 2 h) max|jerk| where velocities are lacking too

The controller scales its speed by moving less far along its trajectory: in a cycle dt the time s of the trajectory
grows by f dt, f the speed scaling factor, and the rates that it states are those in s. In the time of the clock

    qd = f dq/ds,    qdd = f^2 d2q/ds2 + df/dt dq/ds

(ros2_controllers, joint_trajectory_controller: doc/speed_scaling.rst says how s grows; update() samples the reference
at s and publish_state() leaves its rates as they are; issue 1906 has the equations). Differences between positions are
in the time of the clock as they stand.
"""

from functools import partial
from math import isfinite, pi

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.decorators import bound, entry

FIELDS = ('position', 'velocity', 'acceleration')
TAKEN = -1
REASONS = (
    '',
    'no reference yet',
    'no reference within its age limit',
    'the rates of the reference are not known yet',
)
FOUND, NONE_YET, NONE_NEAR, WARMING_UP = range(4)
STAMP, SAMPLES, STATED, KNOWN = range(4)  # clock: of the newest sample, ns; in its run, up to 4; its rates; yes or no
UNDECIDED = -1
FACTOR, FACTOR_RATE, STEP = range(3)  # pace: as stated; smoothed, 1/s; before the newest sample, s
Q, QD, QDD, ROUGH_QD = range(4)  # rows of motion; the last one is qd before it is smoothed

# What is compiled under it keeps the GIL, and so never meets work of another thread that is half done.
atomic = partial(entry, nogil=False)


@atomic
def _take(motion, pace, clock, longest_step, lag, sample, stamp, stated, factor):
    """Write motion (4, n), pace (3) and clock (4) after one more sample, or none of them where it is not finite.

    Reads ``sample`` (3, n): q, and where ``stated`` is 1 or 2 dq/ds and d2q/ds2 too; the speed scaling ``factor``;
    ``lag``, T in s. A stamp (ns) that is not later, or later by more than ``longest_step`` s, begins a new run of
    samples, and so does another ``stated``. Returns TAKEN, or the number of the field that is not finite.
    """
    n = sample.shape[1]
    for row in range(stated + 1):
        for j in range(n):
            if not np.isfinite(sample[row, j]):
                return row
    step = (stamp - clock[STAMP]) * 1e-9
    follows = clock[SAMPLES] > 0 and 0.0 < step <= longest_step
    goes_on = follows and stated == clock[STATED]
    samples = min(clock[SAMPLES] + 1, 4) if goes_on else 1
    gain = step / (step + lag)
    # df/dt smoothed
    if goes_on:
        pace[FACTOR_RATE] += gain * ((factor - pace[FACTOR]) / step - pace[FACTOR_RATE])
    else:
        pace[FACTOR_RATE] = 0.0
    # what moves has no factor 0: that controller leaves the field unset; a single sample does not tell
    moves = False
    for j in range(n):
        moves = moves or sample[Q, j] != motion[Q, j]
    f = 1.0 if factor == 0.0 and moves else factor
    undecided = factor == 0.0 and stated > 0 and not follows
    # a difference of positions is the velocity of half a step ago
    between = step if stated else 0.5 * (step + pace[STEP])
    first_change = 2 if stated else 3
    for j in range(n):
        # qd = f dq/ds, or dq/dt smoothed
        rough = f * sample[QD, j] if stated else (sample[Q, j] - motion[Q, j]) / step
        if stated or samples <= 2:
            motion[QD, j] = rough
        else:
            motion[QD, j] += gain * (rough - motion[QD, j])
        # qdd = f^2 d2q/ds2 + df/dt dq/ds, or dqd/dt smoothed
        change = (rough - motion[ROUGH_QD, j]) / between
        if stated == 2:
            motion[QDD, j] = f * f * sample[QDD, j] + pace[FACTOR_RATE] * sample[QD, j]
        elif samples <= first_change:
            motion[QDD, j] = change
        else:
            motion[QDD, j] += gain * (change - motion[QDD, j])
        motion[Q, j] = sample[Q, j]
        motion[ROUGH_QD, j] = rough
    pace[FACTOR], pace[STEP] = factor, step
    clock[STAMP], clock[SAMPLES] = stamp, samples
    clock[STATED] = UNDECIDED if undecided else stated
    clock[KNOWN] = samples >= 3 - stated and not undecided
    return TAKEN


@atomic
def _carry_on(motion, clock, age_limit, q, qd, qdd, stamp):
    """Write q, qd, qdd (n each) at ``stamp`` (ns) under the acceleration of the newest sample; return what was found.

    q = q0 + qd0 t + qdd0 t^2 / 2, t from the newest sample on, at most ``age_limit`` s either way.
    """
    if clock[SAMPLES] == 0:
        return NONE_YET
    t = (stamp - clock[STAMP]) * 1e-9
    if not -age_limit <= t <= age_limit:
        return NONE_NEAR
    if not clock[KNOWN]:
        return WARMING_UP
    for j in range(q.shape[0]):
        q[j] = motion[Q, j] + t * (motion[QD, j] + 0.5 * t * motion[QDD, j])
        qd[j] = motion[QD, j] + t * motion[QDD, j]
        qdd[j] = motion[QDD, j]
    return FOUND


class Reference:
    """The reference of a controller as motion at stamps near its newest sample.

    One thread may call ``add`` while another one calls ``follow``.
    """

    def __init__(self, joint_names, age_limit: float, cutoff: float, desired: np.ndarray):
        """Write motions into ``desired`` (3, n), up to ``age_limit`` s after the newest sample or before it.

        ``cutoff`` (Hz) is that of the low-pass. A pause between two samples that is longer than ``age_limit`` makes the
        second one the first of a new run. Raises ArgumentError for a limit or cut-off that is not above 0.
        """
        for name, value in (('age limit', age_limit), ('cut-off', cutoff)):
            if not (isfinite(value) and value > 0.0):
                raise ArgumentError(f'reference: expected {name} > 0, got {value}')
        self._joint_names = list(joint_names)
        n = len(self._joint_names)
        self._sample = np.zeros((3, n))
        motion, clock = np.zeros((4, n)), np.zeros(4, np.int64)
        limit, lag = float(age_limit), 1.0 / (2.0 * pi * cutoff)
        self._take = bound(_take, motion, np.zeros(3), clock, limit, lag, self._sample, then=(0, 0, 0.0))
        self._carry_on = bound(_carry_on, motion, clock, limit, *desired, then=(0,))

    def add(self, stamp: int, positions, velocities=None, accelerations=None, speed_scaling: float = 1.0) -> None:
        """Take a sample of time ``stamp`` (ns): positions (n) and, where stated, rates (n) in the trajectory's time.

        A new run, whose missing rates are not known at once, begins where the stamp repeats, goes back or comes after a
        pause, and where other rates are stated than before. Raises ArgumentError naming the joint and field, or the
        length, that is wrong; nothing is taken then.
        """
        if accelerations is not None and velocities is None:
            raise ArgumentError('reference: accelerations need velocities')
        if not (isfinite(speed_scaling) and speed_scaling >= 0.0):
            raise ArgumentError(f'reference: expected a speed scaling factor >= 0, got {speed_scaling}')
        given = [values for values in (positions, velocities, accelerations) if values is not None]
        for field, row, values in zip(FIELDS, self._sample, given, strict=False):
            if np.shape(values) != row.shape:
                raise ArgumentError(f'reference: expected {field} of shape {row.shape}, got {np.shape(values)}')
            row[:] = values
        wrong = self._take(stamp, len(given) - 1, float(speed_scaling))
        if wrong != TAKEN:
            name = self._joint_names[np.argmin(np.isfinite(self._sample[wrong]))]
            raise ArgumentError(f'reference: {FIELDS[wrong]} of joint {name!r} is not finite')

    def follow(self, stamp: int) -> str:
        """Write the motion at ``stamp`` (ns) into ``desired``; return '' or why there is none."""
        return REASONS[self._carry_on(stamp)]
