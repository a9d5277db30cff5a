"""Gain limits: largest stable joint-space gains for a sampling period, and a proposal of gains well below them.

A controller that reads joint states every T seconds holds its torque meanwhile. Sampled with a zero-order hold,
M qdd = -D qd - K q has modes x with real numbers m = x^H M x, d = x^H D x and k = x^H K x, and their poles z solve

    m z^2 - (2 m - T d - T^2 k / 2) z + (m - T d + T^2 k / 2) = 0,

They lie within the unit circle (Jury's test) where T d / m < 2 and T k / 2 < d. Both hold for every x if

    the largest eigenvalue of T M(q)^-1 D < 2     and     T K_i / 2 < D_i for each joint i.

For K = 0 the first one is necessary, too: each torque then reverses a velocity to more than its size. The second one is
the passivity of a sampled spring (Colgate & Schenkel 1997, eq. 3), where viscous friction of the joint counts as D.

Where the torque acts t seconds late, T counts as sqrt(2) (T + 2 t). For t far above T, the roots of
m s^2 + (d s + k) exp(-s t) = 0 reach the imaginary axis at d t / m = x sin x and k t / d = x cot x, 0 < x < pi / 2. All
pairs below 0.71 are stable then (x = 0.905), and sqrt(2) asks for 0.707. By the tests this is enough for short
delays, too. A spring or a mass that the arm touches adds no limit without a delay. With one, the dampers may drive
what vibrates by itself at w > 1.4 / (T + 2 t), such as a light tool on a stiff spring: it needs damping of its own.

The eigenvalue is largest where the arm feels light, at a position that samples only come near: it is searched
(``algorithms.position_search``). Controllers of ros2_control judge gains by the same functions in exported C.

References
----------
Åström & Wittenmark 1997, Computer-Controlled Systems, sections 2.3 and 3.2; Colgate & Schenkel 1997, Passivity of a
class of sampled-data systems, J. Robotic Systems 14(1).
"""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.algorithms.position_search import SAMPLES, next_positions, search_range, search_size
from robot_dynamics_ros.algorithms.sampling_limit import (
    SINGULAR,
    counted_period,
    delayed_period,
    most_damped_joint,
    write_largest_eigenvalue,
)
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.reachable_positions import gear_of, within_reach
from robot_dynamics_ros.control.law import Law, MeasuredState, Outcome, Result, WrappingLaw
from robot_dynamics_ros.control.laws.joint_space_control import gains
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy

LIMIT = 2.0
"""Of the largest eigenvalue of T M^-1 D."""
PROPOSED = 0.5
"""This eigenvalue for proposed gains: room for a delay of one period and for inertias below those of the model."""
BISECTIONS = 40
HELPER = 'robot_dynamics_propose_gains'
NOT_STATED = [-1.0]
"""The value of a gain's parameter that nobody has set."""
Eigenvalues = Callable[[np.ndarray], np.ndarray]
"""Of positions (count, n): the largest eigenvalue at each (count,), 1/s."""
UNKNOWN_PERIOD = Result(Outcome.INCOMPLETE, 'the period of joint_states is not known yet, by which gains are judged')


def check_stated(name: str, values) -> None:
    """Raise ArgumentError for gains that nobody has stated: those of another robot may be unstable."""
    if list(values) == NOT_STATED:
        raise ArgumentError(
            f'{name}: not stated, and no robot has default gains; {HELPER} proposes gains from the mass matrix and the'
            ' rate of joint_states'
        )


class SamplingLimit:
    """Longest sampling period of joint-space gains, over the configurations of a robot.

    Parameters
    ----------
    robot : Robot
        With joints of one degree of freedom; a payload only adds inertia, so it is judged without one.
    stiffness : array_like, (n,)
        Kp, N m/rad (prismatic joints: N/m), at least 0.
    damping : array_like, (n,)
        Kd, N m s/rad (prismatic joints: N s/m), at least 0.
    bandwidth : float, optional
        w of computed_torque, rad/s, whose gains are M w^2 and 2 M w; 0 for another law.
    reference_rate : float, optional
        Largest Kp / Kd where the reference velocity contains it, as in the adaptive law, which adds M Kp / Kd to the
        damping, 1/s; 0 for another law.

    Attributes
    ----------
    period : float
        Periods (s) below this one are within the limit; ``inf`` for gains of zero.

    Raises
    ------
    ArgumentError
        For a wrong length or a negative gain, and for a robot with a joint that has no inertia.
    """

    def __init__(self, robot: Robot, stiffness, damping, bandwidth: float = 0.0, reference_rate: float = 0.0):
        Kp, Kd = gains('stiffness', stiffness, robot.nv), gains('damping', damping, robot.nv)
        M = within_reach(robot).mass_matrix(lightest_configurations(robot, of_damping(robot, Kd)))
        eigenvalues = _largest_eigenvalues(robot, M, Kd) + reference_rate  # of M^-1 D, 1/s
        worst = int(np.argmax(eigenvalues))
        eigenvalue, k = eigenvalues[worst], _most_damped_joint(M[worst], Kd)
        with np.errstate(divide='ignore', invalid='ignore'):
            damped = np.where(Kp > 0.0, 2.0 * (Kd + robot.friction.viscous) / Kp, np.inf)
            found = [(LIMIT / eigenvalue if eigenvalue else np.inf, self._of_damping)]
        found += [(float(damped.min(initial=np.inf)), self._of_stiffness)]
        found += [(1.0 / bandwidth, self._of_bandwidth)] if bandwidth else []
        self.period, self._said = min(found, key=lambda each: each[0])
        self._names, self._Kp, self._Kd, self._bandwidth = robot.joint_names, Kp, Kd, bandwidth
        self._eigenvalue, self._damped, self._worst_joint = eigenvalue, Kd + robot.friction.viscous, k
        self._soft = int(np.argmin(damped)) if len(damped) else 0

    def fault(self, period: float) -> str:
        """Return why the gains are refused at a sampling ``period`` (s): joint, value and limit; '' if they are not."""
        return '' if period < self.period else self._said(period)

    def _of_damping(self, T: float) -> str:
        k = self._worst_joint
        return (
            f'damping: joint {self._names[k]!r}: {self._Kd[k]:g} N m s/rad at {1.0 / T:.4g} Hz: damping times period'
            f' over inertia (largest eigenvalue of T M^-1 D) is {T * self._eigenvalue:.3g}, and sampled control is'
            f' unstable from {LIMIT:g} on; use at most {_below(self._Kd[k] * self.period / T)} N m s/rad or a rate'
            f' above {1.0 / self.period:.4g} Hz, state rotor inertias that the description lacks (parameter'
            f' actuators), or ask {HELPER} for gains'
        )

    def _of_stiffness(self, T: float) -> str:
        k = self._soft
        return (
            f'stiffness: joint {self._names[k]!r}: {self._Kp[k]:g} N m/rad at {1.0 / T:.4g} Hz needs a damping above'
            f' {0.5 * T * self._Kp[k]:.4g} N m s/rad (half of stiffness times period), got {self._damped[k]:.4g} with'
            f' viscous friction; raise the damping, lower the stiffness, or ask {HELPER} for gains'
        )

    def _of_bandwidth(self, T: float) -> str:
        return (
            f'bandwidth: {self._bandwidth:g} rad/s at {1.0 / T:.4g} Hz: twice bandwidth times period is'
            f' {2.0 * T * self._bandwidth:.3g}, and sampled control is unstable from {LIMIT:g} on; use less than'
            f' {_below(1.0 / T)} rad/s'
        )


class PeriodLimit(Protocol):
    """Longest sampling period of some gains."""

    period: float
    """Periods (s) below this one are within the limit."""

    def fault(self, period: float) -> str:
        """Return why the gains are refused at a sampling ``period`` (s), '' if they are not."""


class DelayedLimit:
    """Longest sampling period of gains whose torques act ``delay`` (s) late; of ``limit`` (s) without the delay."""

    def __init__(self, limit: PeriodLimit, delay: float):
        self._limit, self._delay = limit, delay
        self.period = delayed_period(limit.period, delay)

    def fault(self, period: float) -> str:
        """Return why the gains are refused at a sampling ``period`` (s), '' if they are not."""
        if period < self.period:
            return ''
        counted = max(counted_period(period, self._delay), self._limit.period)
        late = f'torque_delay: {self._delay:.4g} s, with which {1.0 / period:.4g} Hz count as {1.0 / counted:.4g} Hz: '
        return (late if self._delay else '') + self._limit.fault(counted)

    def contradiction(self, period: float, age: float) -> str:
        """Return that states are older (``age``, s) when they come than stated, where gains are unstable by that."""
        fault = DelayedLimit(self._limit, age).fault(period) if age > self._delay else ''
        return fault and f'joint states are {age:.3g} s old when they come, by their stamps; {fault}'


class SampledLaw(WrappingLaw):
    """A control law that gives no torque until the period of the states is known and within the limit of its gains.

    It is judged once after each activation: a machine that is late for a while does not end the torques. The
    diagnostics judge it again and again.
    """

    def __init__(self, law: Law, limit: PeriodLimit, refuse: Callable[[str], object]):
        """Wrap ``law``; ``refuse(reason)`` logs that its gains are refused."""
        super().__init__(law)
        self._limit, self._refuse = limit, refuse
        self._is_within, self._refused = False, UNKNOWN_PERIOD

    def stop_following(self) -> None:
        """Drop the desired motion and the hold position; the period is judged again."""
        super().stop_following()
        self._is_within, self._refused = False, UNKNOWN_PERIOD

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``, or return why there is none."""
        if not self._is_within:
            if not state.period:
                return UNKNOWN_PERIOD
            if not state.period < self._limit.period:
                if self._refused is UNKNOWN_PERIOD:
                    self._refused = Result(Outcome.INCOMPLETE, self._limit.fault(state.period))
                    self._refuse(self._refused.reason)
                return self._refused
            self._is_within = True
        return self._law.torque(state, out)


class ProposedGains(NamedTuple):
    """Gains of a PD controller: stiffness (n, N m/rad), damping (n, N m s/rad), and what they give.

    ``bandwidth`` (n, rad/s) is that of each joint where its ``inertia`` (n, kg m^2) is largest, all other joints still;
    ``eigenvalue`` is the largest one of T M^-1 D over all configurations, below ``LIMIT``.
    """

    stiffness: np.ndarray
    damping: np.ndarray
    bandwidth: np.ndarray
    inertia: np.ndarray
    eigenvalue: float


def propose_gains(robot: Robot, rate: float, bandwidth: float, delay: float = 0.0) -> ProposedGains:
    """Propose gains from M(q) and the rate: K = m w^2 and D = 2 m w with the largest M_ii(q) of each joint as m.

    They are critically damped where the joint's inertia is largest, and more than that elsewhere. A joint whose damping
    would bring the largest eigenvalue of T M(q)^-1 D above ``PROPOSED`` gets a smaller w.

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom.
    rate : float
        Of joint_states, Hz.
    bandwidth : float
        w, rad/s.
    delay : float, optional
        Time from a joint state to when its torque acts, s; T is the period that counts.

    Returns
    -------
    ProposedGains

    Raises
    ------
    ArgumentError
        For a rate or a bandwidth that is not positive, a negative delay, and a robot with a joint that has no inertia.
    """
    for name, value, unit in (('rate', rate, 'Hz'), ('bandwidth', bandwidth, 'rad/s')):
        if not np.isfinite(value) or value <= 0.0:
            raise ArgumentError(f'{name}: expected a positive number of {unit}, got {value}')
    if not np.isfinite(delay) or delay < 0.0:
        raise ArgumentError(f'delay: expected a number of s of at least 0, got {delay}')
    T = counted_period(1.0 / rate, delay)
    samples = configurations(robot)
    inertia = np.diagonal(within_reach(robot).mass_matrix(samples), axis1=1, axis2=2).max(axis=0)
    q = np.concatenate([samples, lightest_configurations(robot, of_damping(robot, inertia))])
    M = within_reach(robot).mass_matrix(q)
    # T D_i over the smallest inertia that joint i feels, the others free
    share = 2.0 * bandwidth * T * inertia * np.diagonal(inverses(robot, q), axis1=1, axis2=2).max(axis=0)

    def capped(largest: float) -> np.ndarray:
        return bandwidth * np.minimum(1.0, largest / share)

    def eigenvalue(w: np.ndarray) -> float:
        return float(_largest_eigenvalues(robot, M, 2.0 * w * inertia).max()) * T

    low, high = 0.0, float(share.max())
    w = capped(high)
    if eigenvalue(w) > PROPOSED:
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if eigenvalue(capped(middle)) <= PROPOSED else (low, middle)
        w = capped(low)
    return ProposedGains(inertia * w**2, 2.0 * inertia * w, w, inertia, eigenvalue(w))


def configurations(robot: Robot) -> np.ndarray:
    """Return positions (SAMPLES, n) within the position limits.

    A joint without limits, or with wider ones, covers -pi to pi rad (prismatic joints: m), or what turns all that
    follows it once.
    """
    lower, upper = _range(robot)
    return lower + low_discrepancy(SAMPLES, robot.nv) * (upper - lower)


def of_damping(robot: Robot, damping: np.ndarray) -> Eigenvalues:
    """Return the function of positions whose values are the largest eigenvalues of M^-1 D, for D (n,)."""
    return lambda q: _largest_eigenvalues(robot, within_reach(robot).mass_matrix(q), damping)


def lightest_configurations(robot: Robot, eigenvalues: Eigenvalues) -> np.ndarray:
    """Return positions (count, n) where ``eigenvalues`` has local maxima."""
    n, size = robot.nv, search_size(robot.nv)
    room = max(size.samples, 2 * n * size.starts)
    positions, values, starts = np.empty((room, n)), np.empty(room), np.empty((size.starts, n))
    last = positions, values, starts, *np.empty((2, size.starts)), np.empty(1)
    following = bound(next_positions, size.samples, size.values, *_range(robot), *last, then=(0,))
    rows = following(0)
    while rows:
        values[:rows] = eigenvalues(positions[:rows])
        rows = following(rows)
    return starts


def _range(robot: Robot | DrivenRobot) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends (n each) of the positions of ``configurations``."""
    return search_range(robot.limits.lower, robot.limits.upper, gear_of(robot))


def inverses(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Return M(q)^-1 (count, n, n); ArgumentError where a joint has no inertia."""
    with suppress(np.linalg.LinAlgError):
        inverses = np.linalg.inv(within_reach(robot).mass_matrix(q))
        if np.isfinite(inverses).all():
            return inverses
    raise _without_inertia(robot)


def _without_inertia(robot: Robot) -> ArgumentError:
    return ArgumentError(
        f'{robot.name}: the mass matrix is singular: a joint has no inertia; state rotor inertias that the'
        ' description lacks (parameter actuators)'
    )


def _largest_eigenvalues(robot: Robot, M: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Return the largest eigenvalue of M^-1 D (count,) for M (count, n, n) of a robot and D (n,)."""
    values = np.zeros((len(M), 1))
    write = bound(write_largest_eigenvalue, damping, *_scratch(damping), then=(M[0], values[0]))
    for matrix, value in zip(np.ascontiguousarray(M), values, strict=True):
        write(matrix, value)
    if (values == SINGULAR).any():
        raise _without_inertia(robot)
    return values[:, 0]


def _most_damped_joint(M: np.ndarray, damping: np.ndarray) -> int:
    """Return the joint with the largest part in that eigenvalue, for M (n, n)."""
    M = np.ascontiguousarray(M)
    return bound(most_damped_joint, damping, *_scratch(damping), np.empty_like(damping), then=(M,))(M)


def _scratch(damping: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return zeros (n,) and room for factors (n, n)."""
    return np.zeros_like(damping), np.empty((len(damping), len(damping)))


def _below(value: float) -> str:
    """Return a number that is not above ``value``, with two digits."""
    if not np.isfinite(value) or value <= 0.0:
        return f'{value:g}'
    digit = 10.0 ** (np.floor(np.log10(value)) - 1.0)
    return f'{np.floor(value / digit * (1.0 + 1e-12)) * digit:.2g}'
