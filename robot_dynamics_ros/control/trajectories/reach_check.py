"""Trajectories of a mechanism with closed loops: refused where a loop does not close on the way.

In mid-motion nothing else than silence would be left there.
"""

import numpy as np

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import sampled
from robot_dynamics_ros.errors import ArgumentError, LoopError, SingularError
from robot_dynamics_ros.robot import Robot

SAMPLES = 200
"""Of a trajectory, at first."""
FARTHEST = 0.05
"""Distance of two samples, rad or m: between them the way is straight."""


def check_reach(trajectory: Trajectory, robot: Robot | DrivenRobot) -> None:
    """Raise ArgumentError with the time and the loop for a trajectory that the joints of a mechanism cannot follow.

    The way begins where the arm was measured last.
    """
    if not isinstance(robot, DrivenRobot) or robot.mechanism is None:
        return
    period = trajectory.segments[0][-1] - trajectory.segments[0][0] or 1.0
    period /= SAMPLES
    motion = sampled(trajectory, period)
    step = np.abs(np.diff(motion.q, axis=0)).max(initial=0.0)
    if step > FARTHEST:
        motion = sampled(trajectory, period * FARTHEST / step)
    try:
        robot.positions(motion.q)
    except (LoopError, SingularError) as error:
        last = _first_lost(robot, motion.q)
        raise ArgumentError(f'trajectory: {motion.times[last]:.3f} s: {error}') from None


def _first_lost(robot: DrivenRobot, q: np.ndarray) -> int:
    """Return the index of the first of the samples that is not reached from those before it."""
    reached, lost = 0, len(q)
    while lost - reached > 1:
        middle = (reached + lost) // 2
        try:
            robot.positions(q[:middle])
            reached = middle
        except (LoopError, SingularError):
            lost = middle
    return reached
