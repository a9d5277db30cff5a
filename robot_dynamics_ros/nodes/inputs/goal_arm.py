"""The arm by which goals of an action are executed."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.control.law import MeasuredState
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.nodes.inputs.trajectory_input import TrajectoryInput


class GoalArm(NamedTuple):
    """What goals are executed by: a part of the task of a node, which another description of the robot replaces.

    ``desired`` (3, n) receives the motion, ``state()`` is the last state for which there was a torque, or None.
    ``refuses`` is why the control law executes no goals, '' where it does. ``goal_tolerance`` (rad or m; 0: none) is
    that of a goal that states none.
    """

    robot: Any
    trajectories: TrajectoryInput
    follower: TrajectoryFollower
    desired: np.ndarray
    state: Callable[[], MeasuredState | None]
    refuses: Callable[[], str]
    goal_tolerance: float
