"""A trajectory follower with the states that it is given, and trajectories of three different joints."""

from types import SimpleNamespace

from support.robots.small_robots import mixed

import numpy as np

from robot_dynamics_ros.control.law import MeasuredState, Outcome, Result
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower

ROBOT = mixed()  # a continuous joint of at most 2 rad/s, a limited one of 0.5, a slide without a known speed
FREE = SimpleNamespace(
    nv=3,
    joint_names=ROBOT.joint_names,
    limits=ROBOT.limits._replace(velocity=np.full(3, np.nan)),
    continuous_joints=ROBOT.continuous_joints,
)
SECOND, MS = 1_000_000_000, 1_000_000
START = 1_700_000_000 * SECOND
ZERO = [0.0, 0.0, 0.0]


class Following:
    """A follower and the state that it is given."""

    def __init__(self, tolerance=0.1, robot=FREE, acceleration_limit=np.inf, positions=None):
        self.desired = np.full((3, robot.nv), np.nan)
        self.told = []
        self.follower = TrajectoryFollower(
            robot, self.desired, tolerance, self.told.append, np.full(robot.nv, acceleration_limit), positions
        )
        self.state = MeasuredState(np.zeros(robot.nv), np.zeros(robot.nv))
        self.state.has_velocity, self.state.resumed = True, False

    def at(self, seconds, q=ZERO, qd=ZERO, resumed=False):
        """Return what becomes of the state at ``seconds`` after START."""
        stamp = START + round(seconds * SECOND)
        self.state.pause = (stamp - self.state.stamp) * 1e-9
        self.state.stamp, self.state.resumed = stamp, resumed
        self.state.q[:], self.state.qd[:] = q, qd
        return self.follower.follow(self.state)

    def receive(self, times, positions, velocities=None, accelerations=None, start=0.0, now=None, sent=None, **more):
        began = START + round(start * SECOND)
        return self.follower.receive(
            Trajectory(times, positions, velocities, accelerations),
            began,
            began if now is None else START + round(now * SECOND),
            sent=None if sent is None else START + round(sent * SECOND),
            **more,
        )


def following(*arguments, robot=FREE, acceleration_limit=np.inf, **more):
    one = Following(robot=robot, acceleration_limit=acceleration_limit)
    one.receive(*arguments, **more)
    return one


def dropped(name, distance):
    reason = (
        f'trajectory dropped: joint {name!r} is {distance} rad or m from the desired position, more than '
        'start_tolerance allows; begin at the measured position'
    )
    return Result(Outcome.IDLE, reason)


def line(*ends):
    """Return the times and positions of a trajectory of all joints through ``ends``, a second apart."""
    return np.arange(len(ends), dtype=float), np.outer(ends, np.ones(3))
