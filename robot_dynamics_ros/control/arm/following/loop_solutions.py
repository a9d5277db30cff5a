"""Positions at which the loops of a mechanism are closed, by Newton steps along ways from known ones.

A way begins at a position that is known, first of all near those at which the loops are said to be closed, and is
followed in steps so short that none passes a singular position: the mechanism stays in its assembly mode.
"""

import math
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.arm.following.actuated_joints import is_the_same_after_a_turn, unit_before_gears
from robot_dynamics_ros.control.arm.following.closing_way import (
    NEAREST,
    PASSED,
    nearest_constraint,
    open_constraint,
    put_next,
    slow_constraint,
    way_between,
)
from robot_dynamics_ros.control.arm.following.loop_check import joints_between, stated_position
from robot_dynamics_ros.control.joints.continuous_joints import TURN
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, LoopError, ModelError, SingularError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.loop_rank import units_of_constraints, units_of_velocities

STEPS, MOST_STEPS = 2, 9
"""Newton steps for one step of the way: at least and at most."""
LONGEST = 0.02
"""Longest step of an actuated joint along the way, rad or relative to the robot's characteristic length."""
FARTHEST = 1000
"""Most steps of a way."""
FASTEST, ANY = 2.5, 1e30
"""rad/s, or m/s: velocity limit of a joint for which none is known; rad, m: step, unit of jumps of one in no loop."""
STRIDE = 4.0
"""Times as long steps as those of measured states: no time is short, and each step is checked and gets shorter."""
HOME_STEPS = 4
"""Newton steps at home, and to neighbouring positions."""
NEIGHBOUR = 1e-3
"""Distance of positions whose constraints are compared with those at home, as ``LONGEST``."""


class Solution(NamedTuple):
    """A position with closed loops."""

    asked: list[float]  # (m,) rad, m     positions of the actuated joints
    y: np.ndarray  # (m,) rad, m          the same without a turn from where the way began
    q: np.ndarray  # (nq,) rad, m
    G: np.ndarray  # (nv, m)              columns are contiguous
    distance: float  # from a singular position: about rad near it, 1 or less at home
    nearest: int  # constraint that vanishes there
    steps: int  # of Newton's method


class Arithmetic(NamedTuple):
    """Numbers of a mechanism that the functions of ``closing_way`` read."""

    turn: np.ndarray  # (m,) rad          of actuated joints after which all is the same, else 0
    unit: np.ndarray  # (m,) rad, m       in which distances of actuated joints are compared
    exact: (
        np.ndarray
    )  # (m,) rad, m      in which errors of positions are, as of encoders; endless for joints in no loop
    jump_unit: np.ndarray  # (m,) rad, m  of jumps, likewise
    longest: np.ndarray  # (m,) rad, m    steps of a way
    fastest: np.ndarray  # (m,) rad/s, m/s
    units: np.ndarray  # (constraints,)   of residuals
    references: np.ndarray  # (constraints,)  of ``nearest_constraint``


class _LongStepError(SingularError):
    """A step of a way that may end in another assembly mode."""


class _OfThread(threading.local):
    """Arrays of one thread with which it follows a way, and the solution that it found last."""

    def __init__(self, of: 'LoopSolutions'):
        nq, constraints = of.mechanism.nq, len(of.arithmetic.units)
        self.change, self.share, self.least_share = np.zeros(constraints), np.zeros(1), np.zeros(1)
        self.closing = tuple(np.zeros(nq + 2 * constraints) for _ in range(2))
        references = of.arithmetic.references
        self.nearest_constraint = bound(nearest_constraint, references, self.least_share, then=self.closing[:1])
        self.last: Solution | None = None


class LoopSolutions:
    """Solutions of the loops of a mechanism whose actuated joints fix all others.

    Parameters
    ----------
    robot : Robot
        With its loops.
    actuated : sequence of str
        Joints with a motor, each of one coordinate.

    Attributes
    ----------
    mechanism : Robot
        The robot, with its loops.
    held : Robot
        The same with a constant coupling of each actuated joint.
    places : ndarray of int, (m,)
        Indices of the velocities of actuated joints.
    gear : ndarray, (m,)
        How many turns of each actuated joint make one of what is behind its gears, 1 or more.
    constant_couplings : int
        How many constant couplings ``held`` has; the last ones are those of actuated joints.
    arithmetic : Arithmetic
        What ways are computed with.
    at_home : Solution
        Near the stated positions.
    measured : Solution
        By the last accepted state, else ``at_home``.

    Raises
    ------
    ModelError
        Where these joints do not fix the others, and where they are singular, or loops cannot be closed, near the
        stated positions.
    """

    def __init__(self, robot: Robot, actuated: Sequence[str]):
        """Close the loops near the stated positions."""
        self.mechanism, model = robot, robot.model
        names = [model.joint_of_velocity(k) for k in range(robot.nv)]
        self.places = np.array([k for k, name in enumerate(names) if name in actuated], np.intp)
        self.joint_names = tuple(names[k] for k in self.places)
        # each of one coordinate
        self.followers = tuple(name for name in names if name not in actuated and names.count(name) == 1)
        self.held = _held(robot, self.joint_names)
        arrays = self.held.model.arrays
        m, self._nq = len(self.places), robot.nq
        # the last constant couplings are those of actuated joints
        self.constant_couplings = int((arrays.coupled[:, 3] == 0).sum())
        self._own = slice(self.constant_couplings - m, self.constant_couplings)
        self._coordinates, self._rows = arrays.coupled[-m:, 1], slice(arrays.constraints - m, arrays.constraints)
        limits, of_one = robot.limits.velocity[self.places], units_of_velocities(model)[self.places]
        unit = np.array([unit_before_gears(robot, name) for name in self.joint_names])
        self.gear = unit / of_one
        in_loop = [bool(self.loop_of(name)) for name in self.joint_names]
        turned = [is_the_same_after_a_turn(robot, name) for name in self.joint_names]
        self.arithmetic = Arithmetic(
            turn=np.where(turned, TURN, 0.0),
            unit=unit,
            exact=np.where(in_loop, of_one, ANY),
            jump_unit=np.where(in_loop, unit, ANY),
            longest=np.where(in_loop, LONGEST * unit, ANY),
            fastest=np.where(np.isfinite(limits) & (limits > 0.0), limits, FASTEST * self.gear),
            units=np.concatenate([units_of_constraints(self.held.model)[: -len(unit)], unit]),
            references=np.zeros(arrays.constraints),
        )
        self._zero = np.zeros(arrays.constraints)
        y, way, change, closing = np.zeros(m), np.zeros(2 * m + 1), self._zero, np.zeros(self._nq + 2 * len(self._zero))
        of = self.arithmetic
        self._write_way = bound(way_between, of.turn, of.longest, then=(y, y, way))
        self._put_next = bound(put_next, self._rows.start, then=(y, way, np.zeros(1), 1.0, change))
        self._open_constraint = bound(open_constraint, of.units, then=(closing,))
        self._slow_constraint = bound(slow_constraint, of.units, then=(closing, closing))
        self._own_of_thread = _OfThread(self)
        self.measured = self.at_home = self._at_home()

    def measured_at(self, y: np.ndarray, others: tuple[Solution, ...]) -> Solution:
        """Return the solution at measured positions y (m), also near a singular position, and begin there next."""
        self._own_of_thread.last = found = self._at(y, PASSED, others)
        return found

    def _at(self, y: np.ndarray, least: float = NEAREST, others: tuple[Solution, ...] = ()) -> Solution:
        """Return the solution at y (m): a known one, or on the way from the nearest, see ``way``."""
        asked = y.tolist()
        measured, last = self.measured, self._own_of_thread.last or self.at_home
        for known in (measured, last):
            if known.asked == asked and known.distance >= least:
                return known
        return self.from_nearest((measured, last, *others), y, least)

    def along(self, rows: np.ndarray) -> Iterator[Solution]:
        """Yield the solutions at positions (count, m), one after the other, from where the arm was measured last."""
        before = self.measured
        for row in rows:
            before = self.from_nearest((self.measured, before), row)
            yield before

    def from_nearest(self, known: Sequence[Solution], y: np.ndarray, least: float = NEAREST) -> Solution:
        """Return the solution at y (m) on the way from the nearest of those that are known."""
        *_, found = self.way(min(known, key=lambda it: float(self._way_between(it.y, y)[-1])), y, least)
        return found

    def way(self, begin: Solution, y: np.ndarray, least: float = NEAREST, stride: float = 1.0) -> Iterator[Solution]:
        """Yield the solutions on the way from another one to y (m); errors as of ``motion`` where it ends.

        That is also where a singular position is nearer than ``least``, and no solution is known nearer than PASSED.
        The longest step is ``stride`` times as long as that of measured states.
        """
        way = self._way_between(begin.y, y)
        way[-1] /= stride
        steps = float(way[-1])
        if not steps <= FARTHEST:
            if not np.isfinite(y).all():
                raise ArgumentError(f'q: expected finite positions, got {y.tolist()}')
            raise ArgumentError(
                f'{self.mechanism.name}: {self.said(y)} is too far from where loops were closed last to tell where the '
                'mechanism is: activate it nearer to that, or state nearer positions (near)'
            )
        own, found, done, near = self._own_of_thread, begin, 0.0, begin.distance
        while done < 1.0:
            # other ways of the thread may be followed meanwhile
            own.share[0] = done
            self._put_next(begin.y, way, own.share, near, own.change)
            ahead = float(own.share[0])
            try:
                found = self._closed(found.q)
            except _LongStepError:
                near *= 0.5
                if near < PASSED:
                    raise
                continue
            if found.distance < least:
                raise SingularError(self.near_singular(found))
            done, near = ahead, found.distance
            if done < 1.0:
                yield found
        yield found._replace(asked=y.tolist())

    def _way_between(self, begin: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the way (2 m + 1) of ``closing_way.way_between``."""
        way = np.empty(2 * len(self.places) + 1)
        self._write_way(begin, y, way)
        return way

    def _closed(self, q: np.ndarray) -> Solution:
        """Return the solution near the position q (nq) of another one at the actuated joints of the thread's change."""
        own = self._own_of_thread
        y, worst = own.change[self._rows].copy(), 0
        for count in range(1, MOST_STEPS + 1):
            closing = own.closing[count % 2]
            try:
                self.held.closing_step(q, own.change, out=closing)
            except DynamicsError:
                break
            q = closing[: self._nq]
            if count < STEPS:
                continue
            if count == STEPS and (worst := self._slow_constraint(own.closing[1], closing)) >= 0:
                raise _LongStepError(self._at_singular(worst, y))
            worst = self._open_constraint(closing)
            if worst < 0:
                return self._solution(y, closing, count)
        raise LoopError(f'{self.held.model.loops.constraint_names[worst]} cannot be closed with {self.said(y)}')

    def _solution(self, y: np.ndarray, closing: np.ndarray, steps: int) -> Solution:
        """Return the solution of a closing step; SingularError where the actuated joints do not fix the others."""
        own = self._own_of_thread
        nearest = own.nearest_constraint(closing)
        if not own.least_share[0] >= PASSED * PASSED:
            raise SingularError(self._at_singular(nearest, y))
        q = closing[: self._nq].copy()
        motion = self.held.driven_motion(q, self._zero, self._zero)
        return Solution(y.tolist(), y, q, motion[self._own].T, math.sqrt(own.least_share[0]), nearest, steps)

    def near_singular(self, found: Solution) -> str:
        """Return in words that a solution is near a singular position."""
        return self._at_singular(found.nearest, found.y)

    def _at_singular(self, constraint: int, y: np.ndarray) -> str:
        return (
            f'{self.name_of(constraint)}: the mechanism is at a singular position, or near it, with {self.said(y)}: '
            'the actuated joints do not fix the others there'
        )

    def _at_home(self) -> Solution:
        """Return the solution at the positions near which the loops are closed."""
        robot = self.mechanism
        try:
            q = robot.close_loops(stated_position(robot)).q
        except LoopError as error:
            raise ModelError(f'{robot.name}: {error}; state positions near which its loops are closed (near)') from None
        mobility = int(robot.mobility(q))
        if mobility != len(self.places):
            passive = ', '.join(self.followers)
            raise ModelError(
                f'{robot.name}: {len(self.places)} joints are actuated ({", ".join(self.joint_names)}), and the loops '
                f'leave {mobility} independent motions; the other joints are {passive}. If that is a singular '
                'position, state others near which loops are closed (near)'
            )
        y = q[self._coordinates]
        try:
            closing, shares = self._shares(q, y)
            away = NEIGHBOUR * self.arithmetic.unit
            around = np.array([self._shares(q, y + sign * step)[1] for step in np.diag(away) for sign in (-1.0, 1.0)])
            if not (shares[self._rows] > 0.0).all():
                name = self.joint_names[int(np.argmin(shares[self._rows]))]
                raise ModelError(
                    f'{self.loop_of(name)}: joint {name!r} and the other actuated ones do not fix the others'
                )
            vanish = ((around > 0.0) != (shares > 0.0)).any(axis=0)
            if vanish.any():
                raise ModelError(self._at_singular(int(np.argmax(vanish)), y))
            roots = np.sqrt(shares)
            slopes = np.abs(np.sqrt(around) - roots).reshape(len(y), 2, -1).max(axis=1) / NEIGHBOUR
            self.arithmetic.references[:] = np.maximum(shares, (slopes**2).sum(axis=0))
            found = self._solution(y, closing, 0)
            if found.distance < NEAREST:
                raise ModelError(self.near_singular(found))
            return found
        except DynamicsError as error:
            raise ModelError(f'{robot.name}: {error}; state others near which loops are closed (near)') from None

    def _shares(self, q: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the last closing step to y (m) from a position q (nq) near it, and the shares of constraints."""
        change = self._of_constraints(y)
        for _ in range(HOME_STEPS):
            closing = self.held.closing_step(q, change)
            q = closing[: self._nq]
        return closing, closing[-len(change) :]

    def _of_constraints(self, values) -> np.ndarray:
        """Return values (..., m) of the actuated joints at their constraints, (..., constraints); zeros for None."""
        if values is None:
            return self._zero
        values = np.asarray(values, float)
        of_all = np.zeros((*values.shape[:-1], len(self._zero)))
        of_all[..., self._rows] = values
        return of_all

    def name_of(self, constraint: int) -> str:
        """Return the name of a constraint, or of the loop that its actuated joint is in, if there is one."""
        own = constraint - self._rows.start
        if own < 0:
            return self.held.model.loops.constraint_names[constraint]
        return self.loop_of(self.joint_names[own]) or f'joint {self.joint_names[own]!r}'

    def said(self, y: np.ndarray) -> str:
        """Return positions y (m; rad, m) of the actuated joints in words."""
        return ', '.join(f'{name!r} at {value:.4g}' for name, value in zip(self.joint_names, y, strict=True))

    def loop_of(self, joint: str) -> str:
        """Return the name of a loop that ``joint`` is in, '' where it is in none."""
        model = self.mechanism.model
        for closure in model.loops.closures:
            if joint in joints_between(self.mechanism, str(closure.link_a), str(closure.link_b)):
                return f'loop {closure.name!r}'
        for coupling in model.loops.couplings:
            if joint in (coupling.joint, coupling.other):
                return f'coupling of joint {coupling.joint!r}'
        return ''


def _held(robot: Robot, actuated: Sequence[str]) -> Robot:
    """Return the robot with a constant coupling of each actuated joint; ModelError naming a joint that follows."""
    loops = robot.loops
    following = {coupling.joint: coupling.other for coupling in loops.couplings}
    for name in actuated:
        if name in following:
            raise ModelError(
                f'{robot.name}: joint {name!r} is actuated, and follows {following[name]!r}: state that as actuated, '
                'or leave its coupling out'
            )
    constant = [Coupling(name, None, (0.0,)) for name in actuated]
    return robot.with_loops([*loops.all, *constant], loops.gain, loops.tolerance)
