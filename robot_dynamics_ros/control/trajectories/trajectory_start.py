"""Where a trajectory begins: at the reference in force, and near enough to the arm.

The reference in force is, at the stamp of the state at which a trajectory begins, the first of these that there is:

1. what the trajectory before is there, at rest after its last point, unless another node has begun to hold the arm
   meanwhile;
2. the position at which a controller holds the arm, at rest: measuring it again would drop the position error that
   carries what the model lacks;
3. where another node holds or moves the arm, and the way to the trajectory is shorter than ``KNOWN_WAY``: the
   trajectory itself, or a place from which its first point is reached by a constant acceleration, if the arm is near;
4. the measured state.

Where another node holds the arm, a trajectory at rest after its last point commands no arm: that node may have been
activated again, and hold it elsewhere. A short way is then that of 3. If the arm is further than ``POSITION`` from the
last point, or twice as far as from the trajectory that begins, a longer way is that of 4.
"""

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import nearest, turns
from robot_dynamics_ros.control.law import INTERRUPTION, MeasuredState
from robot_dynamics_ros.control.trajectories.followed import Followed
from robot_dynamics_ros.control.trajectories.lead import MIN_LEAD, OUTSIDE, TOO_LONG, Limits
from robot_dynamics_ros.control.trajectories.motion_agreement import POSITION
from robot_dynamics_ros.control.trajectories.point_stream import LONGEST_GAP_NS
from robot_dynamics_ros.control.trajectories.reach_check import WayCheck
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.robot import Robot

KNOWN_WAY = 0.3
"""Shortest time of a way from a measured state, where another node holds the arm, s: the position errors of that node
would be large accelerations of a shorter one."""
NEAR = -1
"""Result of ``_farther``: no joint is."""


@compiled(given='expected q remaining moves')
def _farther(
    turn: Vector,
    tolerance: float,
    fastest: Vector,
    reference: Matrix,
    expected: Vector,
    q: Vector,
    remaining: float,
    moves: bool,
) -> int:
    """Return a joint that is further from the expected position (n) than allowed, or NEAR.

    Allowed is ``tolerance``, or what ``fastest`` (n, rad/s) covers in the ``remaining`` time (s). Where the reference
    (3, n) ``moves``, all of it may be near instead of q. It is moved to the turn (n, rad; 0: none) of the expected
    position.
    """
    found, is_ahead = NEAR, moves
    for j in range(q.shape[0]):
        away, ahead = q[j] - expected[j], reference[0, j] - expected[j]
        if turn[j] > 0.0:
            away -= turn[j] * np.floor(away / turn[j] + 0.5)
            ahead -= turn[j] * np.floor(ahead / turn[j] + 0.5)
            reference[0, j] = expected[j] + ahead
        reach = fastest[j] * remaining
        is_ahead = is_ahead and abs(ahead) <= max(tolerance + abs(reference[1, j]) * remaining, reach)
        is_near = abs(away) <= max(tolerance, reach)
        if not is_near and found == NEAR:
            found = j
    return NEAR if is_ahead else found


class TrajectoryStart:
    """Begins trajectories for the thread that follows them.

    Attributes
    ----------
    limits : Limits
        Of leads.
    ways : WayCheck or None
        Of leads and motions that come to rest; None for a robot without closed loops.
    held : callable or None
        Returns the position (n) at which the node holds the arm at a ``MeasuredState``, None for nowhere. None: another
        node holds it.
    """

    def __init__(self, robot: Robot, desired: np.ndarray, tolerance: float, acceleration_limit: np.ndarray):
        """Write the reference into ``desired`` (3, n), from which a lead begins.

        ``tolerance`` is the largest distance in rad or m, 0: no limit; ``acceleration_limit`` (n) is in rad/s^2 or
        m/s^2, inf: none.
        """
        self._names, self._turn, self._desired = robot.joint_names, turns(robot), desired
        fastest, vector = robot.limits.velocity, np.zeros(robot.nv)
        self.limits: Limits = np.where(fastest > 0.0, fastest, np.inf), np.array(acceleration_limit, float)
        known = np.nan_to_num(fastest, nan=0.0, posinf=0.0)
        allowed = self._turn, float(tolerance or np.finfo(float).max), known, desired
        self._farther = bound(_farther, *allowed, then=(vector, vector, 0.0, False))
        self.ways = WayCheck.of(robot)
        self.held: Callable[[MeasuredState], np.ndarray | None] | None = None
        self.goes_on = False

    def begin(self, plan: Followed, t: float, state: MeasuredState, before: Followed | None) -> str:
        """Lead to ``plan`` from the reference at its time ``t`` (s), that of ``before`` where it is in force.

        Returns the reason why it can't begin, '' where it does. ``goes_on`` says whether the reference of ``before``
        can go on then.
        """
        earliest = max(plan.first_time, t + MIN_LEAD)
        if plan.point is not None:
            earliest = plan.point.earliest(t, plan.first_time, state.period)
        expected, in_force = plan.expect(t), before if self.write_reference(before, state) else None
        assumed, moves = None, in_force is not None
        if self.held is None and self._is_in_doubt(plan, in_force, state):
            if earliest - t < KNOWN_WAY:
                assumed = self._assumed(plan, t, earliest, state, in_force)
            if in_force is not None and not plan.continues(in_force) and not self._is_led(state.q, expected[0]):
                moves = False
                self._measure(state)
        plan.since = in_force.since if in_force is not None and moves else state.stamp
        remaining = (earliest if moves else plan.first_time) - t
        k = self._farther(expected[0], state.q, max(remaining, 0.0), moves)
        self.goes_on = in_force is not None and k == NEAR
        if k != NEAR:
            return self._too_far(k, expected[0], state.q)
        if assumed is not None:
            plan.is_assumed, self._desired[:] = True, assumed
        found = plan.join(t, earliest)
        if found > TOO_LONG:
            return '' if self.ways is None else self._open_way(self.ways, plan)
        if found <= OUTSIDE:
            return (
                f'joint {self._names[OUTSIDE - found]!r} would leave its position limits on the way to it; begin at '
                'the reference in force, or with less velocity'
            )
        return (
            f'joint {self._names[TOO_LONG - found]!r} does not reach it in time within its velocity and acceleration '
            'limits; begin at the reference in force, or plan more slowly'
        )

    def _open_way(self, ways: WayCheck, plan: Followed) -> str:
        """Return where a closed loop does not close on the lead to ``plan``, '' for nowhere."""
        lead, duration = plan.way
        fault = ways.fault(lead, duration) if duration > 0.0 else None
        if fault is None:
            return ''
        return (
            f'{fault.time:.3f} s on the way to it: {fault.reason}; begin at the reference in force, or with less '
            'velocity'
        )

    def fault(self, q: np.ndarray) -> str:
        """Return which joint of the arm at q (n) is too far from the desired position, '' for none."""
        expected = self._desired[0].copy()
        k = self._farther(expected, q, 0.0, False)
        return '' if k == NEAR else self._too_far(k, expected, q)

    def write_reference(self, before: Followed | None, state: MeasuredState) -> bool:
        """Write the reference in force at ``state``; return whether it is that of ``before``."""
        desired = self._desired
        t = 0.0 if before is None else before.time(state.stamp)
        if before is not None and before.leads and state.pause <= INTERRUPTION:
            before.sample(t)
            if not state.resumed or not self.fault(state.q):
                return True
        held = self.held(state) if self.held else None
        if held is None:
            self._measure(state)
        else:
            desired[0], desired[1:] = held, 0.0
        return False

    def _measure(self, state: MeasuredState) -> None:
        """Write the measured state as the reference."""
        self._desired[0], self._desired[1:] = state.q, 0.0
        if state.has_velocity:
            self._desired[1] = state.qd

    def _distance(self, q: np.ndarray, place: np.ndarray) -> float:
        """Return the largest distance of a joint of the arm at q (n) from a place (n)."""
        return float(np.abs(nearest(q - place, self._turn)).max())

    def _is_in_doubt(self, plan: Followed, before: Followed | None, state: MeasuredState) -> bool:
        """Return whether another node may hold or move the arm elsewhere than where the motion ``before`` is."""
        if before is None:
            return True
        if plan.continues(before):
            return before.is_assumed and before.begins_stream
        return before.rests(before.time(state.stamp))

    def _is_led(self, q: np.ndarray, first: np.ndarray) -> bool:
        """Return whether the arm at q (n) is held at the reference, and not at the ``first`` position (n) of a plan."""
        away = self._distance(q, self._desired[0])
        return away <= POSITION and away <= 2.0 * self._distance(q, first)

    def _assumed(
        self, plan: Followed, t: float, earliest: float, state: MeasuredState, before: Followed | None
    ) -> np.ndarray | None:
        """Return the reference (3, n) of a short way to ``plan``, or None where the arm is not near it.

        It is the trajectory itself, or from where its first state is reached by a constant acceleration, with as much
        of its velocity as each joint has already. A point of a stream may be late: then the arm may be further away by
        as much as it moves meanwhile. Another point of the stream of ``before`` has an arm that was near.
        """
        q, qd, qdd = plan.expected
        if t >= plan.first_time and plan.point is None:
            assumed, room = np.array([q, qd, qdd]), POSITION
        else:
            measured = state.qd if state.has_velocity else np.zeros_like(qd)
            begins = np.clip(measured, np.minimum(qd, 0.0), np.maximum(qd, 0.0))
            assumed = np.array([q - 0.5 * (earliest - t) * (begins + qd), begins, np.zeros_like(qd)])
            late = 0.0 if plan.point is None else LONGEST_GAP_NS * 1e-9
            room = POSITION + late * float(np.abs(measured).max())
        streams = before is not None and plan.continues(before)
        return assumed if streams or self._distance(state.q, assumed[0]) <= room else None

    def _too_far(self, k: int, expected, q) -> str:
        """Return that joint ``k`` is too far from the expected position."""
        distance = np.abs(nearest(expected - q, self._turn))[k]
        return (
            f'joint {self._names[k]!r} is {distance:.3f} rad or m from the desired position, more than start_tolerance '
            'allows; begin at the measured position'
        )
