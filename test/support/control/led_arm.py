"""An arm that has its desired motion exactly, led by streams of poses from any position."""

import numpy as np
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.control.law import TORQUE, MeasuredState
from robot_dynamics_ros.control.laws.acceleration_limits import acceleration_limits
from robot_dynamics_ros.control.trajectories.pose_stream import PoseStream
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.errors import ArgumentError

SECOND, TICK = 1_000_000_000, 4_000_000


class LedArm:
    """``robot``, at first at ``q``; ``refused`` are reasons why poses were, ``motion`` has positions and velocities."""

    def __init__(self, robot, q, speed=(0.25, 1.0)):
        self._robot, self.link = robot, robot.link_names[-1]
        self._desired, self._told = np.zeros((3, robot.nv)), []
        limits = acceleration_limits([0.0], robot, robot.limits.effort)
        self._follower = TrajectoryFollower(robot, self._desired, 0.0, self._told.append, limits)
        place = np.array(q, float)
        self._follower.start.held = lambda state: place
        self._stream = PoseStream(robot, '', speed, self._follower.start.limits)
        self._state = MeasuredState(np.array(q, float), np.zeros(robot.nv))
        self._state.has_velocity, self._state.resumed = True, False
        self._state.pause = TICK / SECOND
        self._now, self._first = 1000 * SECOND, robot.link_pose(np.array(q), self.link).copy()
        self.motion, self.refused = [], []
        self.rest(0.2)

    def pose(self, away, turn):
        """Return the first pose, moved by ``away`` (m) and turned by a rotation vector."""
        found = self._first.copy()
        found[:3, 3] += away
        found[:3, :3] = Rotation.from_rotvec(turn).as_matrix() @ found[:3, :3]
        return found

    def lead(self, twist, seconds, rate, ramp=0.0):
        """Send poses along a twist (6; rotation first) at ``rate`` Hz, which grows for ``ramp`` s."""
        begin = following = self._now
        while self._now < begin + seconds * SECOND:
            while following <= self._now:
                t = (following - begin) * 1e-9
                way = np.array(twist) * (t - 0.5 * ramp if t > ramp else 0.5 * t * t / (ramp or 1.0))
                self.send(self.pose(way[3:], way[:3]))
                following += round(SECOND / rate)
            self.rest(TICK / SECOND)

    def send(self, pose, ahead=0.0):
        """Send a pose, with a stamp that is so much ``ahead`` (s), as a node reads it."""
        follower, state = self._follower, self._state
        plan = follower.plan
        reference = np.array([state.q, state.qd, np.zeros_like(state.q)])
        if plan is not None and plan.leads:
            reference = self._desired.copy()
        try:
            points = self._stream.points(pose, reference, follower.stream_lag, self._now + round(ahead * SECOND))
        except ArgumentError as error:
            self.refused.append(str(error))
            return
        is_way = len(points.times) > 1
        stamp = follower.newest if is_way else 0
        follower.receive(Trajectory(*points), stamp or self._now, self._now, True, self._now, not stamp, is_way)

    def rest(self, seconds):
        """Go on without a pose."""
        state = self._state
        for _ in range(round(seconds * SECOND / TICK)):
            state.stamp = state.time = self._now
            if self._follower.follow(state) is TORQUE:
                state.q[:], state.qd[:] = self._desired[:2]
            self.motion.append((state.q.copy(), state.qd.copy()))
            self._now += TICK
        assert not self._told

    def speeds(self):
        """Return the speed of the link (m), m/s."""
        q, qd = np.swapaxes(self.motion, 0, 1)
        return np.linalg.norm((self._robot.jacobian(q, self.link) @ qd[..., None])[:, 3:, 0], axis=1)

    def beside(self, direction):
        """Return the largest distance of the link from a line through its first place, m."""
        along = np.array(direction) / np.linalg.norm(direction)
        places = self._robot.link_pose(np.array(self.motion)[:, 0], self.link)[:, :3, 3] - self._first[:3, 3]
        return np.linalg.norm(places - np.outer(places @ along, along), axis=1).max()
