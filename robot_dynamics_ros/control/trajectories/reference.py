"""Reference motion of a trajectory controller: its samples, with missing rates estimated, extrapolated to other stamps.

Velocities and accelerations that the samples lack are differentiated, then smoothed by a first-order low-pass filter
(backward Euler): y += h / (h + T) (x - y), with h the time between two samples and T = 1 / (2 pi cut-off). The filter
lags. With samples h apart the error at a sample is at most

    velocity      (T + h) max|acceleration|
    acceleration  (T + h) max|jerk|, and (T + 2 h) max|jerk| if velocities are missing too

A controller with speed scaling f advances the time s of its trajectory by f dt in a cycle dt, and publishes rates with
respect to s. With respect to the time t of the clock

    qd = f dq/ds,    qdd = f^2 d2q/ds2 + df/dt dq/ds

(ros2_controllers, joint_trajectory_controller: doc/speed_scaling.rst defines s; update() samples the reference at s and
publish_state() does not scale its rates; issue 1906 has the equations). Differences between positions need no scaling:
they are already with respect to t.

Nothing is differentiated across a jump: where a joint is further from the last sample than its velocity limit allows in
the step, a new run of samples begins. Positions of continuous joints are compared modulo a turn.
"""

from math import isfinite, pi

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Integers, Matrix, Vector

FIELDS = ('position', 'velocity', 'acceleration')
RECORDED, JUMPED = -1, -2  # or JUMPED - j for joint j
ROOM = 1.5
"""Of the velocity limit, before a step counts as a jump: stamps of a controller jitter by half a period."""
REASONS = (
    '',
    'no reference yet',
    'no reference within its age limit',
    'the rates of the reference are not known yet',
)
FOUND, NONE_YET, NONE_NEAR, WARMING_UP = range(4)
# clock: stamp of the newest sample, ns; samples of its run, up to 4; number of its rates; whether all rates are known
STAMP, SAMPLES, RATES, KNOWN = range(4)
UNDECIDED = -1
# pace: speed scaling factor; its smoothed derivative, 1/s; time between the last two samples, s
FACTOR, FACTOR_RATE, STEP = range(3)
Q, QD, QDD, ROUGH_QD = range(4)  # rows of motion; the last one is qd before smoothing


@compiled(given='stamp rates factor')
def _record(
    motion: Matrix,
    pace: Vector,
    clock: Integers,
    longest_step: float,
    lag: float,
    fastest: Vector,
    turn: Vector,
    sample: Matrix,
    stamp: int,
    rates: int,
    factor: float,
) -> int:
    """Write motion (4, n), pace (3) and clock (4) after another sample, or none of them if it is not finite.

    Reads the rows of ``sample`` (3, n): q, and as many as ``rates`` of dq/ds and d2q/ds2; the speed scaling ``factor``;
    ``lag``, T in s. A new run of samples begins if ``stamp`` (ns) is not later than the last one, or later by more than
    ``longest_step`` s, if ``rates`` changes, or if a joint has moved faster than ``fastest`` (n, rad/s; 0: any speed),
    modulo its ``turn`` (n, rad; 0: none). Returns RECORDED, JUMPED - j for a joint j that was too fast, or the row that
    is not finite.
    """
    n = sample.shape[1]
    for row in range(rates + 1):
        for j in range(n):
            if not np.isfinite(sample[row, j]):
                return row
    step = (stamp - clock[STAMP]) * 1e-9
    follows = clock[SAMPLES] > 0 and 0.0 < step <= longest_step
    result = RECORDED
    if follows:
        for j in range(n):
            if turn[j] > 0.0:  # the turn of the last sample on which the new one is near it
                motion[Q, j] += turn[j] * np.floor((sample[Q, j] - motion[Q, j]) / turn[j] + 0.5)
            if result == RECORDED and 0.0 < fastest[j] * step < abs(sample[Q, j] - motion[Q, j]):
                result = JUMPED - j
    follows = follows and result == RECORDED
    same_run = follows and rates == clock[RATES]
    samples = min(clock[SAMPLES] + 1, 4) if same_run else 1
    gain = step / (step + lag)
    # df/dt smoothed
    if same_run:
        pace[FACTOR_RATE] += gain * ((factor - pace[FACTOR]) / step - pace[FACTOR_RATE])
    else:
        pace[FACTOR_RATE] = 0.0
    # a factor of 0 with a moving reference: the controller does not set the field, f = 1; one sample cannot show it
    moves = False
    for j in range(n):
        moves = moves or sample[Q, j] != motion[Q, j]
    f = 1.0 if factor == 0.0 and moves else factor
    undecided = factor == 0.0 and rates > 0 and not follows
    # a difference of positions is the velocity half a step earlier
    between = step if rates else 0.5 * (step + pace[STEP])
    first_change = 2 if rates else 3
    for j in range(n):
        # qd = f dq/ds, or dq/dt smoothed
        rough = f * sample[QD, j] if rates else (sample[Q, j] - motion[Q, j]) / step
        if rates or samples <= 2:
            motion[QD, j] = rough
        else:
            motion[QD, j] += gain * (rough - motion[QD, j])
        # qdd = f^2 d2q/ds2 + df/dt dq/ds, or dqd/dt smoothed
        change = (rough - motion[ROUGH_QD, j]) / between
        if rates == 2:
            motion[QDD, j] = f * f * sample[QDD, j] + pace[FACTOR_RATE] * sample[QD, j]
        elif samples <= first_change:
            motion[QDD, j] = change
        else:
            motion[QDD, j] += gain * (change - motion[QDD, j])
        motion[Q, j] = sample[Q, j]
        motion[ROUGH_QD, j] = rough
    pace[FACTOR], pace[STEP] = factor, step
    clock[STAMP], clock[SAMPLES] = stamp, samples
    clock[RATES] = UNDECIDED if undecided else rates
    clock[KNOWN] = samples >= 3 - rates and not undecided
    return result


@compiled(given='stamp')
def _extrapolate(
    motion: Matrix, clock: Integers, age_limit: float, q: Vector, qd: Vector, qdd: Vector, stamp: int
) -> int:
    """Write q = q0 + qd0 t + qdd0 t^2 / 2, qd and qdd (n each) at ``stamp`` (ns); return FOUND or the reason.

    t is the time since the newest sample, |t| <= ``age_limit`` (s).
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
    """Reference of a controller, extrapolated from its newest sample: q = q0 + qd0 t + qdd0 t^2 / 2.

    One thread may call ``add`` while another one calls ``follow``.
    """

    def __init__(
        self,
        joint_names,
        age_limit: float,
        cutoff: float,
        desired: np.ndarray,
        velocity_limit: np.ndarray | None = None,
        turn: np.ndarray | None = None,
    ):
        """Write motions into ``desired`` (3, n), at most ``age_limit`` s before or after the newest sample.

        ``cutoff`` (Hz) is that of the low-pass filter. With ``velocity_limit`` (n, rad/s or m/s; 0, inf or NaN:
        unknown) jumps are found; ``turn`` (n, rad) is 2 pi for continuous joints, 0 for others. A pause between two
        samples that is longer than ``age_limit`` begins a new run. Raises ArgumentError for a limit or cut-off that is
        not above 0.
        """
        for name, value in (('age limit', age_limit), ('cut-off', cutoff)):
            if not (isfinite(value) and value > 0.0):
                raise ArgumentError(f'reference: expected {name} > 0, got {value}')
        self._joint_names = list(joint_names)
        n = len(self._joint_names)
        self._sample = np.zeros((3, n))
        fastest = np.zeros(n) if velocity_limit is None else np.nan_to_num(velocity_limit, nan=0.0, posinf=0.0)
        of_turn = np.zeros(n) if turn is None else np.array(turn, float)
        motion, clock = np.zeros((4, n)), np.zeros(4, np.int64)
        limit, lag = float(age_limit), 1.0 / (2.0 * pi * cutoff)
        # both keep the GIL, so that no thread reads half-written arrays
        arrays = motion, np.zeros(3), clock, limit, lag, ROOM * fastest, of_turn, self._sample
        self._record = bound(_record, *arrays, then=(0, 0, 0.0))
        self._extrapolate = bound(_extrapolate, motion, clock, limit, *desired, then=(0,))

    def add(self, stamp: int, positions, velocities=None, accelerations=None, speed_scaling: float = 1.0) -> str:
        """Add a sample at ``stamp`` (ns): positions (n) and optionally rates (n) with respect to the trajectory's time.

        A new run of samples begins if the stamp repeats, decreases or follows a pause, if other rates are given than
        before, or if a joint jumps; its missing rates are known only after some samples. Returns the joint that jumped,
        '' for none. A sample of wrong length, or with a number that is
        not finite, is dropped; ArgumentError names the field and joint.
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
        wrong = self._record(stamp, len(given) - 1, float(speed_scaling))
        if wrong <= JUMPED:
            return self._joint_names[JUMPED - wrong]
        if wrong != RECORDED:
            name = self._joint_names[np.argmin(np.isfinite(self._sample[wrong]))]
            raise ArgumentError(f'reference: {FIELDS[wrong]} of joint {name!r} is not finite')
        return ''

    def follow(self, stamp: int) -> str:
        """Write the motion at ``stamp`` (ns) into ``desired``; return '', or the reason why there is none."""
        return REASONS[self._extrapolate(stamp)]
