"""Which trajectory is followed, from where, and when it is dropped."""

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
    """One trajectory and how far it has come; everything that takes long is prepared when it is made.

    ``start`` and ``received`` are ROS times in ns. ``lead``: its first point lies after its start. ``seen``: a state
    has come since it was received. ``dropped`` is the reason why it is not followed any more.
    """

    def __init__(self, start: int, received: int, trajectory: Trajectory, desired: np.ndarray):
        """Prepare to write the motion q, qd, qdd into ``desired`` (3, n)."""
        self.start, self.received = start, received
        self.lead = trajectory.start > 0.0
        self.first_time, self.first_position = trajectory.start, trajectory.first_position
        self.trajectory = trajectory.with_lead() if self.lead else trajectory
        self.sample = self.trajectory.sampler(*desired)
        self.seen = self.met = False
        self.dropped: Result | None = None


class TrajectoryFollower:
    """Follows the newest trajectory; one that is not where the arm is is dropped.

    A trajectory begins at the first state at or after its start. There, and after each silence, the arm must be within
    a tolerance of where the trajectory is; one whose first point is still to come may also be as far from it as the
    velocity limits allow in the time that is left. Continuous joints are compared and approached modulo a turn.

    One thread calls ``follow``, another one the other methods.
    """

    def __init__(self, robot: Robot, desired: np.ndarray, tolerance: float, tell: Callable[[str], object]):
        """Write the motion q, qd, qdd into ``desired`` (3, n).

        ``tolerance`` (rad, m) is the largest distance from the arm, 0 any; ``tell(reason)`` is called for a trajectory
        that is dropped.
        """
        self._names, self._tell = robot.joint_names, tell
        self._tolerance = tolerance or np.finfo(float).max
        self._desired = desired
        self._turn = turns(robot)
        self._velocity_limit = np.nan_to_num(robot.limits.velocity, nan=0.0, posinf=0.0)
        self._followed: Followed | None = None

    def warm_up(self) -> None:
        """Compile what ``follow`` calls."""
        still = Trajectory([0.0, 1.0], np.zeros((2, len(self._names))))
        Followed(0, 0, still, np.zeros_like(self._desired)).sample(0.5)

    def receive(self, trajectory: Trajectory, start: int, now: int) -> None:
        """Follow ``trajectory`` from ``start`` on instead of the one before; ArgumentError where it is over at ``now``.

        Both times are in ns.
        """
        over = (now - start) * 1e-9 - trajectory.duration
        if over > 0.0:
            raise ArgumentError(f'trajectory: it ended {over:.3f} s before it was received')
        self._followed = Followed(start, now, trajectory, self._desired)

    def stop(self) -> None:
        """Follow nothing."""
        self._followed = None

    def set_back(self, now: int) -> None:
        """Drop a trajectory from before the clock was set back to ``now`` (ns); called by the thread of ``follow``.

        One that no state has seen and that was received at ``now`` or before is from after it.
        """
        followed = self._followed
        if followed is not None and followed.dropped is None and (followed.seen or followed.received > now):
            self._drop(followed, CLOCK_SET_BACK)

    def follow(self, state: MeasuredState) -> Result:
        """Write the desired motion for ``state``, or return why there is none."""
        followed = self._followed
        if followed is None:
            return NO_TRAJECTORY
        followed.seen = True
        if followed.dropped is not None:
            return followed.dropped
        t = (state.stamp - followed.start) * 1e-9
        if t < 0.0:
            return NOT_BEGUN
        if followed.met:
            followed.sample(t)
            return self._checked(followed, self._desired[0], state.q) if state.resumed else TORQUE
        result = self._meet(followed, t, state)
        followed.met = True
        return result

    def _meet(self, followed: Followed, t: float, state: MeasuredState) -> Result:
        """Begin with a trajectory at ``t`` s."""
        left = followed.first_time - t
        if not followed.lead or left <= TIME_RESOLUTION:
            followed.sample(max(t, followed.first_time))
            return self._checked(followed, self._desired[0], state.q)
        result = self._checked(followed, followed.first_position, state.q, self._velocity_limit * left)
        if result is TORQUE:
            # the way to the first point begins at the measured state, on the same turn
            begin = nearest(state.q - followed.first_position, self._turn) + followed.first_position
            followed.trajectory.lead_from(t, begin, state.qd)
            followed.sample(t)
        return result

    def _checked(self, followed: Followed, expected, q, reach=0.0) -> Result:
        """Return TORQUE where q is within tolerance or ``reach`` of the expected position, else drop the trajectory."""
        distance = np.abs(nearest(expected - q, self._turn))
        near = distance <= np.maximum(self._tolerance, reach)
        if near.all():
            return TORQUE
        k = int(np.argmin(near))
        reason = f'trajectory dropped: joint {self._names[k]!r} is {distance[k]:.3f} away from where it should be'
        return self._drop(followed, Result(Outcome.IDLE, reason))

    def _drop(self, followed: Followed, why: Result) -> Result:
        """Stop following and tell; return ``why``."""
        followed.dropped = why
        self._tell(why.reason)
        return why
