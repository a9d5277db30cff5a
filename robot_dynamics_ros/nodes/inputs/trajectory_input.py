"""Input of JointTrajectory messages."""

import re
import threading
import time
from collections.abc import Callable

from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.trajectories.reach_check import WayCheck, check_reach
from robot_dynamics_ros.control.trajectories.segment_extremes import check_within
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.control.trajectories.turn_jumps import check_jumps
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints, trajectory_of
from robot_dynamics_ros.nodes.inputs import target_poses
from robot_dynamics_ros.nodes.inputs.target_poses import TargetPoses
from robot_dynamics_ros.nodes.inputs.trajectory_queue import Sender, TrajectoryQueue, Waiting
from robot_dynamics_ros.nodes.inputs.verdicts import Verdicts
from robot_dynamics_ros.nodes.process.publishers import publishers_of, several

TOPIC = 'joint_trajectory'
AHEAD = 1.0
"""s by which the source of a trajectory without a stamp may be ahead of this machine: more is a clock that is off."""
LATE = 0.05
"""s that a trajectory may need to this node whatever its first point is."""
LOGGED_AGAIN = 10.0
"""s after which the same reason to refuse trajectories is logged again: a stream is refused point by point."""
NUMBER = re.compile(r'(?<![\w\'])[-+]?\d[\d.e+-]*')
"""In which reasons that are otherwise the same differ; not in a name."""


class TrajectoryInput:
    """Passes each trajectory on ``joint_trajectory`` to a follower; one without points, a stop, ends the last.

    A wrong one is refused by name, and the old one is followed further; ``verdicts`` has the reason. While the node is
    active no message waits for its executor: one thread handles stops, another one reads trajectories, a long one of
    which takes a second.
    """

    def __init__(
        self,
        node,
        follower: TrajectoryFollower,
        on_end: Callable[[], object] = lambda: None,
        poses: TargetPoses | None = None,
    ):
        """Subscribe for a BaseNode; ``on_end`` is called after a message has ended the motion.

        With ``poses`` messages on their topics are followed, too, each as a trajectory.
        """
        self._node, self._follower, self._on_end, self._poses = node, follower, on_end, poses
        self._ways = WayCheck.of(node.robot)  # that of the follower, not of a later description
        self._limits = PositionLimits(node.robot, node.value('position_limit_tolerance'))
        self.verdicts, self._logged = Verdicts('trajectory', 'trajectories'), 0.0  # steady time of the last log, s
        node.follow_clock(self._clock_set_back)
        self._handle_next = node.guarded(self._on_trajectory)
        self._thread: threading.Thread | None = None
        self._starting_or_stopping = threading.Lock()
        self._came, self._stopping = threading.Event(), False
        others = {} if poses is None else target_poses.TOPICS
        self._topics = TOPIC, *others
        self._queue = TrajectoryQueue(node, TOPIC, self._on_stop, self._announce, self._refuse, others)
        node.resources.callback(self.end)

    def begin(self) -> None:
        """Handle messages in the two threads; those from before the activation are refused."""
        with self._starting_or_stopping:
            self._stopping = False
            self._came.set()  # what was left at the end is refused
            self._thread = threading.Thread(target=self._handle_all, name='trajectories', daemon=True)
            self._thread.start()
        self._queue.begin()

    def end(self) -> None:
        """Leave the messages to the executor, which refuses them, after the one that is being read."""
        self._queue.end()
        with self._starting_or_stopping:
            if self._thread is None:
                return
            self._stopping = True
            self._came.set()
            self._thread.join()
            self._thread = None

    def send(self, data: bytes, sender: Sender) -> None:
        """Let a trajectory of this process wait for those before it, and be followed; ``sender`` is told about it."""
        self._queue.let_wait(data, _info_now(), TOPIC, sender)

    def stop(self) -> None:
        """Handle a stop of this process."""
        self._queue.stop(b'', _info_now())

    @property
    def dropped(self) -> str:
        """Why the trajectory that is due is not followed, '' where it is or there is none."""
        plan = self._follower.plan
        return '' if plan is None or plan.dropped is None else plan.dropped.reason

    def warnings(self) -> list[str]:
        """Return that a trajectory is joined late, or goes on instead of a newer one, or that several nodes send."""
        joined_late, unreached = self._follower.joined_late(), self._follower.unreached
        found = [f'trajectory joined later than asked: {joined_late}'] if joined_late else []
        for topic in self._topics:
            publishers = publishers_of(self._node, topic)
            if len(publishers) > 1:
                found.append(
                    f'{several(publishers, topic)}: the newest trajectory is followed, whoever sent it; stop the '
                    'others (one that was killed counts for up to 20 s)'
                )
        return [*found, unreached] if unreached else found

    def report(self) -> dict[str, str]:
        """Return what became of trajectories, and the lag of the stream in force."""
        lag = self._follower.stream_lag
        return {
            **self.verdicts.report(),
            'lag of the stream of points, s': '' if lag is None else f'{lag:.3f}',
        }

    def _clock_set_back(self, before: int, after: int) -> None:
        """In simulated time drop the trajectory: it is from before; any thread.

        A system clock that was set may be noticed late; the pipeline drops what is followed then.
        """
        if self._node.get_clock().ros_time_is_active:
            self._follower.set_back(after)

    def _announce(self) -> None:
        """Have the message that waits handled: in the thread, where it runs."""
        if self._thread is None:
            self._handle_next()
        else:
            self._came.set()

    def _handle_all(self) -> None:
        while not self._stopping:
            self._came.wait()
            self._came.clear()
            while not self._stopping and self._handle_next():
                pass

    def _on_stop(self, data: bytes, info: dict) -> None:
        """End the motion."""
        check_active(self._node, info['received_timestamp'])
        self._follower.stop()
        if self._poses is not None:
            self._poses.begin_anew()
        self._on_end()

    def _on_trajectory(self) -> bool:
        """Follow the trajectory that came first; return whether there was one."""
        message, node = self._queue.next(), self._node
        if message is None:
            return False
        try:
            kinds = self._receive(self._read(message), message)
        except DynamicsError as error:
            self._refuse(error)
            if message.sender is not None:
                message.sender.is_refused(str(error))
            return True
        self.verdicts.take()
        rough = [kind for kind in kinds if kind != 'quintic']
        if rough:
            node.get_logger().info(
                f'trajectory without all velocities and accelerations: {" and ".join(rough)} interpolation between its '
                'points, as joint_trajectory_controller does (said once)',
                once=True,
            )
        return True

    def _read(self, message: Waiting) -> TrajectoryPoints:
        """Return the points of a message, that of a pose or a velocity by inverse kinematics."""
        if self._poses is not None:
            if message.topic != TOPIC:
                return self._poses.points(message.topic, message.data)
            self._poses.begin_anew()
        return TrajectoryPoints.read(message.data)

    def _refuse(self, error: DynamicsError) -> None:
        reason, now = str(error), time.monotonic()
        is_new = NUMBER.sub('', reason) != NUMBER.sub('', self.verdicts.refused)
        if is_new or now - self._logged >= LOGGED_AGAIN:
            self._node.get_logger().warning(f'trajectory refused: {reason}')
            self._logged = now
        self.verdicts.refuse(reason)

    def _follow(self, message: Waiting, *arguments, **options) -> None:
        """Have the follower receive a trajectory, unless a stop has come since its message."""

        def receive() -> None:
            sender = message.sender
            if sender is None:
                self._follower.receive(*arguments, **options)
            else:
                sender.follows(self._follower.receive(*arguments, tolerance=sender.tolerance, **options))

        if not self._queue.unless_stopped(message, receive):
            raise ArgumentError('trajectory: a stop, or the end of the node, has come while it was read')

    def _receive(self, points: TrajectoryPoints, message: Waiting) -> list[str]:
        """Follow the trajectory of a message; return its interpolations. DynamicsError names what is wrong."""
        node = self._node
        # when its source sent it, and when the middleware received it, ns of system clocks
        sent, received = message.info['source_timestamp'], message.info['received_timestamp']
        waited = check_active(node, received)
        trajectory = trajectory_of(node.robot.joint_names, points, ignored=node.locked_joint_names)
        check_within(trajectory, self._limits)
        check_jumps(trajectory, node.robot)
        reached = check_reach(trajectory, self._ways)
        clock = node.get_clock()
        now, is_simulated = clock.now().nanoseconds, clock.ros_time_is_active
        late = time.time_ns() - (sent or received)
        # with a source whose clock is ahead, a waiting trajectory would seem to have begun
        known = now if is_simulated or not sent else min(sent, now)
        start, given, is_exact = points.stamp, now, True
        if not start:
            check_clock(late * 1e-9)
            # every node that receives it computes the same start; not on a simulated clock, which may run at any rate
            if not now:
                raise ArgumentError('trajectory: its stamp is zero, and the simulated clock does not run yet')
            # where the clock is the system's, not by two readings of it: they differ in each process
            start = now - late if is_simulated or not sent else sent
            # a lone point without a time of its own is not over on its way
            given = max(start, now - waited) if trajectory.duration else start
            is_exact = bool(sent) and not is_simulated
        if not self._follower.streams(trajectory, start):
            check_delay(late * 1e-9, (start - now + late) * 1e-9 + trajectory.start)
        is_way = message.topic != TOPIC and not trajectory.is_point
        more = {'as_sent': not points.stamp, 'keeps_speed': is_way, 'reached': reached}
        self._follow(message, trajectory, start, given, is_exact, known, **more)
        return trajectory.interpolations


def _info_now() -> dict:
    """Return the info of a message that this process has just received, from itself."""
    return {'source_timestamp': 0, 'received_timestamp': time.time_ns()}


def check_active(node, received: int) -> int:
    """Return how long (ns) a message that was ``received`` (ns, system clock) has waited.

    Raises ArgumentError where ``node``, a BaseNode, is not active, or was not yet at that time.
    """
    waited = max(0, time.time_ns() - received)  # it may be handled only after the activation
    if not node.active or time.monotonic_ns() - waited < node.activated:
        raise ArgumentError(f'trajectory: {node.get_name()} is not active, or was not when it was received')
    return waited


def check_clock(late: float) -> None:
    """Raise ArgumentError for a trajectory without a stamp of a source that is ahead; it came ``late`` s later."""
    if late < -AHEAD:
        raise ArgumentError(
            f'trajectory: its stamp is zero and the clock of its source is {-late:.1f} s ahead of this machine; '
            'synchronise the clocks, or state a stamp'
        )


def check_delay(late: float, given: float) -> None:
    """Raise ArgumentError for a trajectory that came ``late`` s after it was sent, ``given`` s before its first point.

    The way to that point begins at the first state that this node has; with less than half of its time left it would
    be another one than that of a node that was in time.
    """
    if max(LATE, 0.5 * given) < late < given:
        raise ArgumentError(
            f'trajectory: it came {late:.3f} s after it was sent, of the {given:.3g} s to its first point; '
            'send it again'
        )
