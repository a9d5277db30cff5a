"""Trajectories of a mechanism with closed loops: refused where a loop does not close on the way.

In mid-motion nothing else than silence would be left there.
"""

import numpy as np

from robot_dynamics_ros.control.arm.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import sampled
from robot_dynamics_ros.errors import ArgumentError, LoopError, SingularError
from robot_dynamics_ros.robot import Robot

SAMPLES = 200
"""Of a trajectory, at first."""
DISTANCE = 0.08
"""Least distance from a singular position, about rad: states that miss a trajectory a little are still accepted."""
FARTHEST = 0.05
"""Distance of two samples, rad or m: between them the way is straight."""


def check_reach(trajectory: Trajectory, robot: Robot | DrivenRobot) -> None:
    """Raise ArgumentError with the time and the loop for a trajectory that the joints of a mechanism cannot follow.

    The way begins where the arm was measured last.
    """
    following = robot.following if isinstance(robot, DrivenRobot) else None
    if not isinstance(following, ClosedMechanism):
        return
    times = trajectory.segments[0]
    period = (times[-1] - times[0] or 1.0) / SAMPLES
    motion = sampled(trajectory, period)
    step = np.abs(np.diff(motion.q, axis=0)).max(initial=0.0)
    if step > FARTHEST:
        motion = sampled(trajectory, period * FARTHEST / step)
    reached, least = 0, min(DISTANCE, following.measured.distance)
    try:
        for found in following.along(motion.q):
            if found.distance < least:
                raise SingularError(
                    f'{following.name_of(found.nearest)}: the mechanism is about {found.distance:.2g} rad from a '
                    f'singular position, less than {DISTANCE:g}, with {following.said(found.y)}'
                )
            reached += 1
    except (LoopError, SingularError) as error:
        raise ArgumentError(f'trajectory: {motion.times[reached]:.3f} s: {error}') from None
