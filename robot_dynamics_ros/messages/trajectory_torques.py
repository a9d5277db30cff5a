"""Conversion of checked trajectories to the fields of messages."""

import numpy as np

from robot_dynamics_interfaces.msg import TrajectoryTorques
from robot_dynamics_ros.control.trajectories.plan_limits import limit_use
from robot_dynamics_ros.control.trajectories.trajectory_check import Check


def set_peaks(message, found: Check, order=slice(None)) -> None:
    """Write the peaks, limits and time scaling of ``found``, joints in ``order``.

    ``message`` is a TrajectoryTorques or the response to CheckTrajectory; the fields that they share are written.
    Limits that are unknown or infinite, and their margins, are 0.
    """
    per_joint = {
        'peak_effort': found.peak_effort,
        'peak_effort_time': found.peak_effort_time,
        'effort_limit': found.effort_limit,
        'effort_margin': found.effort_margin,
        'peak_velocity': found.peak_velocity,
        'velocity_limit': found.velocity_limit,
    }
    for field, values in per_joint.items():
        setattr(message, field, np.nan_to_num(values[order], nan=0.0, posinf=0.0).tolist())
    message.feasible = found.time_scaling is not None
    message.time_scaling = found.time_scaling or 0.0


def trajectory_torques(found: Check, joint_names) -> TrajectoryTorques:
    """Return the message of a checked plan: peaks, limits, time scaling and the use of the limits."""
    message = TrajectoryTorques(joint_names=list(joint_names))
    set_peaks(message, found)
    use = limit_use(found)
    joint, _, largest = use.largest
    message.effort_use, message.velocity_use = use.effort.tolist(), use.velocity.tolist()
    message.smallest_margin = 1.0 - largest
    message.limiting_joint = joint_names[joint] if largest else ''
    return message
