"""Jumps of continuous joints by a turn: positions that were taken modulo a turn, such as those between -pi and pi.

Between two points such a joint moves as far as their positions say, which may be several turns. A trajectory whose
positions jump from pi to -pi would therefore drive it almost a turn back.
"""

import numpy as np

from robot_dynamics_ros.control.joints.continuous_joints import nearest, turns
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

FASTER = 2.0
"""Times the largest stated velocity that a joint without a velocity limit may have on average."""


def check_jumps(trajectory: Trajectory, robot: Robot) -> None:
    """Raise ArgumentError for a continuous joint that is too fast from one point to the next, and not a turn further.

    Too fast is above the velocity limit, or without one above ``FASTER`` times the largest velocity of a point.
    """
    times, positions, velocities, _ = trajectory.points
    turn, limit = turns(robot), robot.limits.velocity
    if len(times) < 2 or not turn.any():
        return
    stated = np.abs(np.nan_to_num(velocities)).max(axis=0)
    stated = np.where(stated > 0.0, FASTER * stated, np.inf)
    reach = np.where((limit > 0.0) & np.isfinite(limit), limit, stated) * np.diff(times)[:, None]
    change = np.diff(positions, axis=0)
    shorter = nearest(change, turn)
    jumps = np.argwhere((np.abs(change) > reach) & (np.abs(shorter) <= reach))
    if len(jumps):
        k, joint = jumps[0]
        raise ArgumentError(
            f'trajectory: joint {robot.joint_names[joint]!r} moves by {change[k, joint]:.3g} rad between points {k} '
            f'and {k + 1}, {times[k + 1] - times[k]:.3g} s apart: too fast, and {shorter[k, joint]:.3g} rad a turn '
            'further; state positions of a continuous joint without jumps'
        )
