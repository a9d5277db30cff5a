"""Input of JointTrajectory messages."""

import time
from collections.abc import Callable

from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.position_limits import PositionLimits
from robot_dynamics_ros.control.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints, trajectory_of

AHEAD = 1.0
"""s by which the source of a trajectory without a stamp may be ahead of this machine: more is a clock that is off."""
LATE = 0.05
"""s that a trajectory without a stamp may need to this node whatever its first point is."""


class TrajectoryInput:
    """Passes each trajectory on ``joint_trajectory`` to a follower; one without points ends the last.

    A wrong one is refused by name, and the old one is followed further. ``refused`` is the last reason.
    """

    def __init__(self, node, follower: TrajectoryFollower, on_end: Callable[[], object] = lambda: None):
        """Subscribe for a BaseNode; ``on_end`` is called after a message has ended the motion."""
        self._node, self._follower, self._on_end = node, follower, on_end
        self._limits = PositionLimits(node.robot, node.value('position_limit_tolerance'))
        self.refused = ''
        node.follow_clock(self._clock_set_back)
        self._subscription = node.create_subscription(
            JointTrajectory, 'joint_trajectory', self._on_trajectory, 10, raw=True
        )
        node.resources.callback(node.destroy_subscription, self._subscription)

    @property
    def dropped(self) -> str:
        """Why the trajectory that is due is not followed, '' where it is or there is none."""
        plan = self._follower.plan
        return '' if plan is None or plan.dropped is None else plan.dropped.reason

    def _clock_set_back(self, before: int, after: int) -> None:
        """In simulated time drop the trajectory: it is from before; any thread.

        A system clock that was set may be noticed late; the pipeline drops what is followed then.
        """
        if self._node.get_clock().ros_time_is_active:
            self._follower.set_back(after)

    def _on_trajectory(self, data: bytes, info) -> None:
        """Follow a new trajectory; ``info`` says when its source sent it and the middleware received it."""
        node = self._node
        try:
            kinds = self._receive(TrajectoryPoints.read(data), info['source_timestamp'], info['received_timestamp'])
        except DynamicsError as error:
            self.refused = str(error)
            node.get_logger().warning(f'trajectory refused: {error}')
            return
        rough = [kind for kind in kinds if kind != 'quintic']
        if rough:
            node.get_logger().info(
                f'trajectory without all velocities and accelerations: {" and ".join(rough)} interpolation between its '
                'points, as joint_trajectory_controller does (said once)',
                once=True,
            )

    def _receive(self, points: TrajectoryPoints, sent: int, received: int) -> list[str]:
        """Follow a trajectory; return its interpolations.

        Its source sent it at ``sent``, the middleware received it at ``received`` (ns, system clocks). Raises
        DynamicsError naming what is wrong.
        """
        node = self._node
        waited = check_active(node, received)
        if not points.times:
            self._follower.stop()
            self._on_end()
            return []
        trajectory = trajectory_of(node.robot.joint_names, points, ignored=node.locked_joint_names)
        self._limits.check_trajectory(trajectory)
        clock = node.get_clock()
        now, is_simulated = clock.now().nanoseconds, clock.ros_time_is_active
        # with a source whose clock is ahead, a waiting trajectory would seem to have begun
        known = now if is_simulated or not sent else min(sent, now)
        start = points.stamp
        if start:
            self._follower.receive(trajectory, start, now, sent=known)
        else:
            late = time.time_ns() - (sent or received)
            check_delay(late * 1e-9, trajectory.start)
            # every node that receives it computes the same start; not on a simulated clock, which may run at any rate
            if not now:
                raise ArgumentError('trajectory: its stamp is zero, and the simulated clock does not run yet')
            # where the clock is the system's, not by two readings of it: they differ in each process
            start = now - late if is_simulated or not sent else sent
            # a lone point without a time of its own is not over on its way
            given = max(start, now - waited) if trajectory.duration else start
            is_exact = bool(sent) and not is_simulated
            self._follower.receive(trajectory, start, given, is_exact, known)
        return trajectory.interpolations


def check_active(node, received: int) -> int:
    """Return how long (ns) a message that was ``received`` (ns, system clock) has waited for the executor.

    Raises ArgumentError where ``node``, a BaseNode, is not active, or was not yet at that time.
    """
    waited = max(0, time.time_ns() - received)  # a busy executor may handle it only after the activation
    if not node.active or time.monotonic_ns() - waited < node.activated:
        raise ArgumentError(f'trajectory: {node.get_name()} is not active, or was not when it was received')
    return waited


def check_delay(late: float, first: float) -> None:
    """Raise ArgumentError for a trajectory without a stamp that cannot begin ``late`` s after it was sent.

    ``first`` is the time of its first point, s. The way to that point begins at the first state that this node has;
    with less than half of its time left it would be too fast, and another one than that of a node that was in time.
    """
    if late < -AHEAD:
        raise ArgumentError(
            f'trajectory: its stamp is zero and the clock of its source is {-late:.1f} s ahead of this machine; '
            'synchronise the clocks, or state a stamp'
        )
    if max(LATE, 0.5 * first) < late < first:
        raise ArgumentError(
            f'trajectory: its stamp is zero and it came {late:.3f} s after it was sent, of the {first:g} s to its '
            'first point; send it again'
        )
