"""From JointTrajectory messages to the desired motion at a stamp."""

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.control.joint_order import permutation
from robot_dynamics_ros.control.stale import Idle
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.nodes.state_input import nanoseconds

Step = Callable[[float], object]
NONE = -1  # edition of a step that is not made yet
NO_TRAJECTORY, NOT_BEGUN = Idle('no trajectory'), Idle('the trajectory has not begun')


class TrajectoryInput:
    """The trajectory being followed: the newest message replaces it, one without points ends it.

    A header stamp of zero means: now. Where the first point lies later than the start, the way to it begins at the
    state in which the arm is met then, as joint_trajectory_controller does. One that is over when it comes is refused,
    one that begins further from the arm than a tolerance is dropped there.
    """

    def __init__(self, joint_names, along: Callable[[Trajectory], Step], position, tolerance: float, tell):
        """Follow trajectories of the joints ``joint_names``: ``along(trajectory)`` is called with each time, s.

        The step writes the desired ``position`` (n), which may begin ``tolerance`` (rad, m; 0: anything) away from the
        arm; ``tell(reason)`` is called where it does not.
        """
        self._joint_names, self._along = joint_names, along
        self._position, self._tolerance, self._tell = position, tolerance or np.inf, tell
        self._followed: Followed | None = None
        self._edition = 0

    def renew(self) -> None:
        """Have the step of the trajectory that is followed made anew, for what it stands on has changed."""
        self._edition += 1

    def receive(self, message, now: int) -> list[str]:
        """Follow ``message`` from ``now`` (ns) or its stamp on; return how it will be interpolated.

        Raises DynamicsError naming the joint or point that is wrong; what was followed before goes on then.
        """
        if not message.points:
            self._followed = None
            return []
        trajectory = trajectory_of(self._joint_names, message)
        start = nanoseconds(message.header.stamp) or now
        over = (now - start) * 1e-9 - trajectory.duration
        if over > 0.0:
            raise ArgumentError(f'trajectory: it was over {over:.3f} s before it came')
        followed = Followed(start, trajectory)
        if trajectory.start > 0.0:
            # it gets its way to the first point when the arm is met at its start
            rest = np.zeros((2, len(self._joint_names)))
            trajectory = trajectory.starting_from(*rest)
        else:
            self._make_step(followed)
        self._followed = followed
        return trajectory.interpolations

    def follow(self, stamp: int, q, qd) -> str:
        """Go on to ``stamp`` (ns), where the arm is at q, qd; return '' or, as ``Idle``, why there is nothing to do."""
        followed = self._followed
        if followed is None:
            return NO_TRAJECTORY
        t = (stamp - followed.start) * 1e-9
        if t < 0.0:
            return NOT_BEGUN
        if not followed.begun and followed.trajectory.start > 0.0:
            followed.trajectory, followed.edition = followed.trajectory.starting_from(q, qd), NONE
        if followed.edition != self._edition:
            self._make_step(followed)
        followed.step(t)
        return '' if followed.begun else self._begin(followed, q)

    def _begin(self, followed: 'Followed', q) -> str:
        """Look where the desired position begins; drop a trajectory that begins too far away."""
        distance = np.abs(self._position - q)
        k = int(np.argmax(distance))
        if distance[k] > self._tolerance:
            name = self._joint_names[k]
            reason = Idle(f'trajectory dropped: joint {name!r} is {distance[k]:.3f} away from where it begins')
            self._tell(reason)
            if self._followed is followed:
                self._followed = None
            return reason
        followed.begun = True
        return ''

    def _make_step(self, followed: 'Followed') -> None:
        """Make the step for what it stands on now."""
        followed.edition = self._edition
        followed.step = self._along(followed.trajectory)


class Followed:
    """A trajectory, when it starts (ns), and what is done for each time of it."""

    def __init__(self, start: int, trajectory: Trajectory):
        """Follow it from ``start`` on; its step is made when the arm is met."""
        self.start, self.trajectory = start, trajectory
        self.step: Step
        self.edition = NONE
        self.begun = False


def trajectory_of(joint_names, message) -> Trajectory:
    """Return the motion of a JointTrajectory, joints in the order of ``joint_names``.

    Raises DynamicsError naming the joint or point that is wrong.
    """
    places = permutation(joint_names, message.joint_names)
    times = [point.time_from_start.sec + point.time_from_start.nanosec * 1e-9 for point in message.points]
    columns = [_column(message, field, places) for field in ('positions', 'velocities', 'accelerations')]
    return Trajectory(times, *columns)


def _column(message, field: str, places) -> np.ndarray:
    """Return one field of all points (m, n) in the robot's order, NaN rows where a point leaves it out."""
    rows = np.full((len(message.points), len(places)), np.nan)
    for k, point in enumerate(message.points):
        values = getattr(point, field)
        if len(values) == len(places):
            rows[k] = np.take(values, places)
        elif len(values) or field == 'positions':
            raise ArgumentError(f'trajectory point {k}: expected {len(places)} {field}, got {len(values)}')
    return rows
