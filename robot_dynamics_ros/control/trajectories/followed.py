"""A trajectory that a node follows, with its lead, and what becomes of the motion after its last point."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.arm.following.loop_solutions import Solution
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.law import INTERRUPTION, INTERRUPTION_NS, Result
from robot_dynamics_ros.control.trajectories.lead import (
    BEGIN,
    JOIN,
    MOVING,
    PASSAGE,
    PLACE,
    SHIFT,
    STRETCHED,
    Led,
    Limits,
    Segments,
    come_to_rest,
)
from robot_dynamics_ros.control.trajectories.motion_tolerance import MotionTolerance
from robot_dynamics_ros.control.trajectories.point_stream import LONGEST_GAP_NS, StreamPoint
from robot_dynamics_ros.control.trajectories.reach_check import WayCheck
from robot_dynamics_ros.control.trajectories.trajectory import TIME_RESOLUTION, Trajectory, sample
from robot_dynamics_ros.errors import ArgumentError

LATEST_JOIN = 1.5
"""s after the asked time at which a lead may join a trajectory of several points: it cuts off what lies between."""
LATEST_POINT = 10.0
"""Likewise of a lone point, s."""


class Followed:
    """A trajectory and its progress.

    ``start`` and ``received`` are ROS times in ns; ``identity`` is the digest of the trajectory. ``is_exact``: every
    node that received the trajectory knows the same start. ``first_time`` is the time of the first point, or of the one
    that a stream passes next, s after the start.

    The thread that follows writes: ``has_state``, a state arrived after the trajectory; ``due_since``, stamp of the
    first state at or after the start, ns; ``in_force``, it has replaced the trajectory before it; ``begun``, its motion
    was sampled; ``dropped``, the reason why it is not followed any more; ``is_assumed``, it begins where another node
    is assumed to hold or move the arm; ``stretched``, the joint for whose limits, and by how many s, the lead is longer
    than asked; ``apart``, why a feedforward torque was that of another lead; ``since``, stamp of the first state of the
    motions that led into each other up to this one, ns; ``leads_nobody``, another node holds the arm since then. The
    other thread writes ``is_replaced``: another one came before it was in force; ``later_than``, the start of an
    earlier copy of the same trajectory, ns; ``keeps_speed``, its time stands still while no states come; and
    ``tolerance``, beyond which the arm makes it end.
    """

    def __init__(
        self,
        start: int,
        received: int,
        trajectory: Trajectory,
        desired: np.ndarray,
        limits: Limits,
        is_exact: bool = True,
        point: StreamPoint | None = None,
        positions: PositionLimits | None = None,
        ways: WayCheck | None = None,
        reached: Solution | None = None,
    ):
        """Prepare all that is slow, to write the motion q, qd, qdd into ``desired`` (3, n).

        The lead begins at what is in ``desired`` then. ``point`` is that of a lone point. ArgumentError where the
        motion can't come to rest within ``limits`` and ``positions``, and where ``ways`` say that closed loops do not
        close there, from where the trajectory has ``reached``.
        """
        self.start, self.received, self.is_exact = start, received, is_exact
        self.identity, self.duration = trajectory.digest, trajectory.duration
        self.point = point
        segments, kind, rest = _segments(trajectory, start, limits, point, positions)
        if ways is not None and rest is not None:
            _check_closed(ways, rest, reached)
        self._led = Led(segments, kind, desired, limits, positions)
        self._lead, self.sample = self._led.begin, self._led.sampler(*desired)
        self.expected = np.zeros((3, desired.shape[1]))
        self._expect = bound(sample, *segments, *self.expected, then=(0.0,))
        self.first_time, self._last_time = float(segments.starts[0]), float(segments.starts[-1])
        self.has_state = self.in_force = self.begun = self.is_replaced = False
        self.due_since = self.later_than = self.since = 0
        self.is_assumed = self.leads_nobody = self.keeps_speed = False
        self.dropped: Result | None = None
        self.refused = ''  # why it did not begin
        self.tolerance: MotionTolerance | None = None
        self.is_left = False  # the arm was beyond the tolerance
        self.apart: Result | None = None
        self.stretched: tuple[int, float] | None = None
        self.announcement = b''  # what a publisher of the torque sends before the first torque

    @property
    def due(self) -> int:
        """Stamp from which on it may begin, ns: its start; a point of a stream replaces the one before at once."""
        is_streamed = self.point is not None and self.point.period and self.start - self.received <= LONGEST_GAP_NS
        return 0 if is_streamed else self.start

    def time(self, stamp: int) -> float:
        """Return the time of a stamp (ns) from the start, s."""
        return (stamp - self.start) * 1e-9

    def continues(self, before: 'Followed') -> bool:
        """Return whether it is a later point of the stream of ``before``."""
        return self.point is not None and before.point is not None and self.point.stream is before.point.stream

    def is_late(self, stamp: int, pause: float, is_newest: bool) -> bool:
        """Return whether it would catch up with what it missed in a ``pause`` (s) of states up to ``stamp`` (ns)."""
        if self.dropped is not None or self.is_replaced:
            return False
        if self.point is not None and self.point.period:
            return is_newest and (pause > INTERRUPTION or stamp - self.point.point.time > LONGEST_GAP_NS)
        return not self.begun and (self.keeps_speed or stamp - self.start > INTERRUPTION_NS)

    @property
    def leads(self) -> bool:
        """Whether its motion leads the arm: it has begun, was not dropped, and no other node holds the arm."""
        return self.begun and self.dropped is None and not self.leads_nobody

    @property
    def begins_stream(self) -> bool:
        """Whether it is a point whose stream has no velocity yet."""
        return self.point is not None and self.point.is_beginning

    def rests(self, t: float) -> bool:
        """Return whether the motion is over at ``t`` s."""
        times = self._led.times
        return bool(t > times[JOIN] and t - times[SHIFT] > self._last_time + TIME_RESOLUTION)

    @property
    def patience(self) -> float:
        """By how much the trajectory may be joined later than asked, s."""
        return LATEST_JOIN if self.point is None else LATEST_POINT

    def join(self, t: float, earliest: float) -> int:
        """Lead from the reference at ``t`` to the trajectory, ``earliest`` s from the start; return as ``Led``."""
        found = self._lead(t, earliest, earliest + self.patience)
        if found >= STRETCHED:
            self.stretched = found - STRETCHED, float(self._led.times[JOIN]) - earliest
        return found

    @property
    def way(self) -> tuple[np.ndarray, float]:
        """The lead: coefficients (6, n) of powers of the time since its begin, lowest first, and its duration (s)."""
        times = self._led.times
        return self._led.lead, float(times[JOIN] - times[BEGIN])

    def sample_at(self, stamp: int) -> None:
        """Write the motion at a stamp (ns), or where it begins later."""
        self.sample(max(self.time(stamp), float(self._led.times[BEGIN])))

    def expect(self, t: float) -> np.ndarray:
        """Return position, velocity and acceleration (3, n) without a lead at ``t``, or at its first point."""
        self._expect(max(t, self.first_time) if self.point is None else self.first_time)
        return self.expected

    def agree_on(self, start: int) -> None:
        """Start at ``start`` (ns), as the node with which this one works together, unless that is an earlier copy's.

        Only for a trajectory whose start is not exact.
        """
        if start > self.later_than:
            self.start, self.is_exact, self.begun = start, True, False

    def agrees(self, identity: int, start: int) -> bool:
        """Return whether a torque along the trajectory ``identity`` from ``start`` (ns) on belongs to this motion.

        That of a neighbouring point of the same stream does: another node may have received it earlier or later.
        """
        if self.point is not None and self.point.period and identity in self.point.stream.identities:
            return True
        return identity == self.identity and start == self.start


def _segments(
    trajectory: Trajectory,
    start: int,
    limits: Limits,
    point: StreamPoint | None,
    positions: PositionLimits | None,
) -> tuple[Segments, int, Segments | None]:
    """Return the motion without its lead, the kind of lead, and on what it comes to rest; None: it is at rest."""
    if point is None:
        segments, state = Segments(*trajectory.segments), np.zeros((3, len(trajectory.first_position)))
        trajectory.sample(trajectory.duration, *state)
        if trajectory.straight[-1] or not state[1].any():
            return segments, MOVING, None
        end = come_to_rest(trajectory.duration, state, segments.final, 0.0, limits, positions)
        starts = np.append(segments.starts, end.starts[-1])
        return Segments(starts, np.concatenate([segments.coefficients, end.coefficients]), end.final), MOVING, end
    passed = point.passed
    time, velocity = (passed.time - start) * 1e-9, np.nan_to_num(passed.velocity)
    is_known = not np.isnan(passed.acceleration).any() or not (point.period or velocity.any())
    kind = PLACE if is_known else PASSAGE
    if not velocity.any() and np.array_equal(point.goal, passed.position):
        return Segments(np.array([time]), np.zeros((0, 6, len(velocity))), passed.position.copy()), kind, None
    state = np.array([passed.position, velocity, np.nan_to_num(passed.acceleration)])
    end = come_to_rest(time, state, point.goal, (point.point.time - start) * 1e-9, limits, positions)
    return end, kind, end


def _check_closed(ways: WayCheck, rest: Segments, reached: Solution | None) -> None:
    """Raise ArgumentError where closed loops do not close on the one segment of ``rest``."""
    fault = ways.fault(rest.coefficients[0], float(rest.starts[1] - rest.starts[0]), reached)
    if fault is not None:
        raise ArgumentError(
            'trajectory: it comes to rest after its last point, where its velocity is not 0: '
            f'{fault.time:.3f} s later: {fault.reason}'
        )
