"""Conversion of MoveIt's DisplayTrajectory, a sequence of planned trajectories, to plans with all joints of a robot."""

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints


def plans_of(message, joint_names) -> list[TrajectoryPoints]:
    """Return the trajectories of a DisplayTrajectory, each with all joints of a robot.

    A joint that a trajectory does not move rests where ``trajectory_start`` or an earlier trajectory has left it.

    Parameters
    ----------
    message : moveit_msgs/DisplayTrajectory
        Trajectories without points are left out.
    joint_names : sequence of str
        The joints of the robot.

    Returns
    -------
    list of TrajectoryPoints

    Raises
    ------
    ArgumentError
        For a joint of several degrees of freedom that moves, lists of different lengths and no trajectory.
    """
    state = message.trajectory_start.joint_state
    if len(state.name) != len(state.position):
        raise ArgumentError(f'trajectory_start: {len(state.name)} joints have {len(state.position)} positions')
    positions = dict(zip(state.name, state.position, strict=True))
    plans = []
    for number, part in enumerate(message.trajectory):
        if part.multi_dof_joint_trajectory.points:
            names = ', '.join(part.multi_dof_joint_trajectory.joint_names)
            raise ArgumentError(f'trajectory {number}: it moves joints of several degrees of freedom: {names}')
        if part.joint_trajectory.points:
            points = TrajectoryPoints.of(part.joint_trajectory)
            resting = [name for name in joint_names if name not in points.joint_names and name in positions]
            plans.append(_with_resting(points, {name: positions[name] for name in resting}))
            positions.update(zip(points.joint_names, points.columns[0][-1].tolist(), strict=False))
    if not plans:
        raise ArgumentError('trajectory: no trajectory with points')
    return plans


def _with_resting(points: TrajectoryPoints, resting: dict[str, float]) -> TrajectoryPoints:
    """Return ``points`` with joints that rest at the positions of ``resting`` (rad, m), by name.

    Lists of a wrong length stay as they are.
    """
    q = np.array(list(resting.values()))
    fills = q, np.zeros(len(q)), np.zeros(len(q))
    count = len(points.joint_names)
    columns = [
        [np.concatenate([values, fill]) if len(values) == count else values for values in column]
        for column, fill in zip(points.columns, fills, strict=True)
    ]
    return points._replace(joint_names=[*points.joint_names, *resting], columns=columns)
