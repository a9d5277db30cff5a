"""Trajectory follower: the desired motion of the newest trajectory, unless the arm is too far from it."""

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.control.continuous_joints import nearest, turns
from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.trajectory import TIME_RESOLUTION, Trajectory
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

NO_TRAJECTORY = Result(Outcome.IDLE, 'no trajectory')
NOT_BEGUN = Result(Outcome.IDLE, 'the trajectory has not begun')
CLOCK_SET_BACK = Result(Outcome.IDLE, 'trajectory dropped: the clock was set back')


class Followed:
    """A trajectory and its progress.

    ``start`` and ``received`` are ROS times in ns. ``lead``: the first point is after the start. ``has_state``: a state
    arrived after the trajectory. ``begun``: its motion was sampled. ``dropped``: the reason why it is not followed any
    more.
    """

    def __init__(self, start: int, received: int, trajectory: Trajectory, desired: np.ndarray):
        """Prepare all that is slow, to write the motion q, qd, qdd into ``desired`` (3, n)."""
        self.start, self.received = start, received
        self.lead = trajectory.start > 0.0
        self.first_time, self.first_position = trajectory.start, trajectory.first_position
        self.trajectory = trajectory.with_lead() if self.lead else trajectory
        self.sample = self.trajectory.sampler(*desired)
        self.has_state = self.begun = False
        self.dropped: Result | None = None


class TrajectoryFollower:
    """Follows the newest trajectory, and drops it if the measured position is too far from it.

    A trajectory begins at the first state at or after its start. At that state, and after each interruption of the
    states, every joint must be within a tolerance of the desired position. If the first point is still in the future,
    the distance to it may also be as large as the velocity limit allows in the remaining time. Positions of continuous
    joints are compared modulo a turn.

    One thread calls ``follow`` and ``set_back``, another one the other methods.
    """

    def __init__(self, robot: Robot, desired: np.ndarray, tolerance: float, report: Callable[[str], object]):
        """Write the motion q, qd, qdd into ``desired`` (3, n).

        ``tolerance`` is the largest distance in rad or m, 0: no limit. ``report`` is called with the reason for which a
        trajectory is dropped.
        """
        self._names, self._report = robot.joint_names, report
        self._tolerance = tolerance or np.finfo(float).max
        self._desired = desired
        self._turn = turns(robot)
        self._velocity_limit = np.nan_to_num(robot.limits.velocity, nan=0.0, posinf=0.0)
        self._followed: Followed | None = None

    def warm_up(self) -> None:
        """Compile the kernels that ``follow`` calls."""
        example = Trajectory([0.0, 1.0], np.zeros((2, len(self._names))))
        Followed(0, 0, example, np.zeros_like(self._desired)).sample(0.5)

    def receive(self, trajectory: Trajectory, start: int, now: int) -> None:
        """Follow a trajectory that starts at ``start``; ArgumentError if it ended before ``now`` (both ns)."""
        over = (now - start) * 1e-9 - trajectory.duration
        if over > 0.0:
            raise ArgumentError(f'trajectory: it ended {over:.3f} s before it was received')
        self._followed = Followed(start, now, trajectory, self._desired)

    def stop(self) -> None:
        """Drop the trajectory without a report."""
        self._followed = None

    def set_back(self, now: int) -> None:
        """Drop a trajectory from before the clock was set back to ``now`` (ns).

        A trajectory that was received at ``now`` or before, and since which no state arrived, is kept: it was received
        after the clock was set back.
        """
        followed = self._followed
        if followed is not None and followed.dropped is None and (followed.has_state or followed.received > now):
            self._drop(followed, CLOCK_SET_BACK)

    def follow(self, state: MeasuredState) -> Result:
        """Write the desired motion for ``state`` and return ``TORQUE``, or return why there is none."""
        followed = self._followed
        if followed is None:
            return NO_TRAJECTORY
        followed.has_state = True
        if followed.dropped is not None:
            return followed.dropped
        t = (state.stamp - followed.start) * 1e-9
        if t < 0.0:
            return NOT_BEGUN
        if followed.begun:
            followed.sample(t)
            return self._checked(followed, self._desired[0], state.q) if state.resumed else TORQUE
        result = self._begin(followed, t, state)
        followed.begun = True
        return result

    def _begin(self, followed: Followed, t: float, state: MeasuredState) -> Result:
        """Begin to follow a trajectory at ``t`` s."""
        remaining = followed.first_time - t
        if not followed.lead or remaining <= TIME_RESOLUTION:
            followed.sample(max(t, followed.first_time))
            return self._checked(followed, self._desired[0], state.q)
        result = self._checked(followed, followed.first_position, state.q, self._velocity_limit * remaining)
        if result is TORQUE:
            # the lead segment begins at the measured state, on the turn of the first point
            start = nearest(state.q - followed.first_position, self._turn) + followed.first_position
            followed.trajectory.lead_from(t, start, state.qd)
            followed.sample(t)
        return result

    def _checked(self, followed: Followed, expected, q, reach=0.0) -> Result:
        """Return TORQUE if q is within tolerance or ``reach`` of the expected position, else drop the trajectory."""
        distance = np.abs(nearest(expected - q, self._turn))
        near = distance <= np.maximum(self._tolerance, reach)
        if near.all():
            return TORQUE
        k = int(np.argmin(near))
        reason = (
            f'trajectory dropped: joint {self._names[k]!r} is {distance[k]:.3f} rad or m from the desired position, '
            'more than start_tolerance allows; begin at the measured position'
        )
        return self._drop(followed, Result(Outcome.IDLE, reason))

    def _drop(self, followed: Followed, why: Result) -> Result:
        """Stop following and report the reason; return ``why``."""
        followed.dropped = why
        self._report(why.reason)
        return why
