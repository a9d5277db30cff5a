"""Differences between positions of continuous joints, modulo a turn."""

import numpy as np

from robot_dynamics_ros.robot import Robot

TURN = 2.0 * np.pi


def turns(robot: Robot) -> np.ndarray:
    """Return the turn of each joint, (n,) rad: 2 pi of a continuous joint, 0 of any other."""
    return np.where(robot.continuous_joints, TURN, 0.0)


def nearest(difference, turn):
    """Return differences of positions (n), those of joints with a ``turn`` (n, rad; 0: none) in [-turn/2, turn/2]."""
    return difference - turn * np.round(difference / np.where(turn > 0.0, turn, 1.0))
