"""Velocity check: are measured velocities the derivatives of the measured positions, and possible at all?

A damping that gets velocities of the wrong sign accelerates the arm. The change of a position and the integral of its
velocity, both with the time constant ``WINDOW``, have to agree up to what encoders, filters and stamps do to them: a
distance, a share of the motion, a delay times the change of the velocity, and an error of stamps times the velocity.
The largest difference in one step does not count: it may be a reset of a simulation. A driver that reports velocities
of zero and no others reports none: they are accepted, and ``VelocityCheck.unreported`` names the joint.
"""

from enum import IntEnum

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.control.law import MeasuredState, Outcome, Result
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Integers, Vector
from robot_dynamics_ros.robot import Robot

FASTEST = 3.0
"""Velocities above so many limits are no measurement; limits of descriptions are often placeholders."""
WINDOW = 0.5
"""Time constant of the compared motions, s."""
DISTANCE = 0.03
"""Difference of a position's change from the integral of its velocity that proves nothing, rad or m."""
SHARE = 0.5
"""Likewise as a share of the larger one of both."""
LAG = 0.02
"""Delay of velocities that is accepted, s: filters of drivers have up to 0.006 s."""
STAMPS = 2.0
"""Error of stamps that is accepted, in the longest time between two states: those of reception come in bursts."""
SETTLES = 0.05
"""Time for which states are observed before the first verdict, s."""
LONGEST = 0.1
"""Longest time between two states that are compared, s; longer only where the period itself is."""
PERIODS = 3
"""Periods that this time has at least."""
UNLIMITED = 10.0
"""Velocity that is integrated at most, as a limit, where the limit is unknown, rad/s or m/s."""


class Fault(IntEnum):
    """What is wrong with a velocity."""

    TOO_FAST = 1
    CONTRADICTS = 2


TOO_FAST, CONTRADICTS = int(Fault.TOO_FAST), int(Fault.CONTRADICTS)


class _Windows:
    """Arrays of the kernel."""

    def __init__(self, n: int):
        self.times = np.zeros(2)
        self.q, self.qd, self.change, self.integral, self.jump, self.high, self.low = np.zeros((7, n))
        self.reported, self.unreported, self.wrong = np.zeros((3, n), np.int64)

    @property
    def all(self) -> tuple[np.ndarray, ...]:
        return tuple(vars(self).values())


@compiled(given='q qd elapsed continues')
def _check(
    fastest: Vector, limit: Vector, turn: Vector,
    times: Vector, before: Vector, rate: Vector, change: Vector, integral: Vector,
    jump: Vector, high: Vector, low: Vector,
    reported: Integers, unreported: Integers, wrong: Integers,
    q: Vector, qd: Vector, elapsed: float, continues: bool,
) -> int:  # fmt: skip
    """Compare q and qd (n each), measured ``elapsed`` s after the last ones; return joint * 4 + fault, -1 for none.

    Writes how long the windows are and the longest time between two states (times, s); for each joint before = q, rate
    = qd, at most FASTEST limit, the change of the position, the integral of the velocity, the largest difference of
    both in one step (jump), the highest and lowest velocity; whether a velocity was ever not zero (reported), none was
    while the position changed (unreported), and whether both contradict each other (wrong), until they agree in a
    motion. Not ``continues``: the windows begin here.
    """
    keep = 1.0 / (1.0 + elapsed / WINDOW)
    if continues:
        times[0] += elapsed
        times[1] = max(elapsed, keep * times[1])
    else:
        times[0] = times[1] = 0.0
    found = -1
    for k in range(q.shape[0]):
        if found < 0 and abs(qd[k]) > fastest[k]:
            found = 4 * k + TOO_FAST
        largest = FASTEST * limit[k]
        v = min(max(qd[k], -largest), largest)
        step = q[k] - before[k]
        if turn[k] > 0.0:
            step -= turn[k] * np.floor(step / turn[k] + 0.5)
        if v != 0.0:
            reported[k] = 1
        if not continues:
            change[k] = integral[k] = jump[k] = 0.0
            high[k] = low[k] = v
        else:
            # dq = integral of qd dt
            expected = 0.5 * (v + rate[k]) * elapsed
            change[k] = keep * (change[k] + step)
            integral[k] = keep * (integral[k] + expected)
            jump[k] = keep * max(abs(step - expected), jump[k])
            high[k] = max(v, v + keep * (high[k] - v))
            low[k] = min(v, v + keep * (low[k] - v))
            moved, speed = max(abs(change[k]), abs(integral[k])), max(abs(high[k]), abs(low[k]))
            accepted = DISTANCE + SHARE * moved + LAG * (high[k] - low[k]) + STAMPS * times[1] * speed
            difference = abs(change[k] - integral[k])
            if difference - jump[k] > accepted and times[0] > SETTLES:
                unreported[k] = 1 - reported[k]
                wrong[k] = reported[k]
            elif abs(change[k]) > 2.0 * DISTANCE and difference < 0.5 * accepted:
                unreported[k] = wrong[k] = 0
        before[k], rate[k] = q[k], v
        if found < 0 and wrong[k] != 0:
            found = 4 * k + CONTRADICTS
    return found


class VelocityCheck:
    """Judges the velocities of a robot's joint states, one after the other."""

    def __init__(self, robot: Robot):
        """Read names, velocity limits and continuous joints of ``robot``; an unknown limit is not compared."""
        self._names, n = robot.joint_names, robot.nv
        known = np.where(robot.limits.velocity > 0.0, robot.limits.velocity, np.inf)
        self._limit, self._windows = known, _Windows(n)
        speed = np.where(np.isfinite(known), known, UNLIMITED)
        example = np.zeros(n), np.zeros(n), 0.0, False
        parts = FASTEST * known, speed, turns(robot), *self._windows.all
        self._check = bound(_check, *parts, then=example)
        self._found, self._fault = -1, Result(Outcome.INCOMPLETE)
        self._stamp = 0

    def reset(self) -> None:
        """Drop all states, as at activation."""
        for array in self._windows.all:
            array.fill(0)
        self._found, self._stamp = -1, 0

    def fault(self, state: MeasuredState) -> Result | None:
        """Return why the velocities of ``state``, which has some, are rejected, None where they are not.

        The numbers in the text are those of the state at which the fault began.
        """
        elapsed = (state.stamp - self._stamp) * 1e-9
        continues = 0.0 <= elapsed <= max(LONGEST, PERIODS * state.period)
        found = self._check(state.q, state.qd, max(elapsed, 0.0), continues)
        self._stamp = state.stamp
        if found != self._found:
            self._found = found
            if found >= 0:
                self._fault = Result(Outcome.INCOMPLETE, self._said(found // 4, Fault(found % 4), state))
        return self._fault if found >= 0 else None

    @property
    def unreported(self) -> list[str]:
        """Names of the joints whose velocities are all 0, although their positions change."""
        return [name for name, is_so in zip(self._names, self._windows.unreported.tolist(), strict=True) if is_so]

    def _said(self, joint: int, fault: Fault, state: MeasuredState) -> str:
        """Return a fault in words."""
        name, velocity = self._names[joint], float(state.qd[joint])
        if fault == Fault.TOO_FAST:
            return (
                f'velocity of joint {name!r} is {velocity:.4g} rad/s or m/s, above {FASTEST:g} times its limit '
                f'{self._limit[joint]:g}: see its unit in the driver, or the limit in the description'
            )
        windows = self._windows
        return (
            f'velocity of joint {name!r} contradicts its position, which moved by {windows.change[joint]:.3g} rad or m '
            f'where the velocity says {windows.integral[joint]:.3g}: see sign and unit in the driver; rejected until '
            'both agree in a motion, or the node is activated again'
        )
