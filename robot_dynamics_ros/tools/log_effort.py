"""Efforts of a log with a stated meaning: as joint torques, and compared with gravity where the arm stands still."""

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.control.effort_check import EffortCheck
from robot_dynamics_ros.control.measured_effort import MeasuredEffort
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.log_file import Log

PERIOD = 0.02
"""Time between the samples that are looked at for a standstill, s."""


def with_torques(log: Log, robot: Robot, meaning: str) -> tuple[Log, str]:
    """Return a log with joint torques in place of efforts, and what the efforts at rest say.

    Parameters
    ----------
    log : Log
        Its torques (m, n) are efforts as the driver published them.
    robot : Robot
    meaning : str
        One of ``MEANINGS``.

    Raises
    ------
    ArgumentError
        For another meaning, and for currents of a robot without torque constants.
    """
    effort = MeasuredEffort(meaning, robot.joint_names, robot.model.torque_constant)
    check = EffortCheck(effort, robot.nv)
    step = max(1, round(PERIOD / float(np.median(np.diff(log.time)))))
    for k in range(0, len(log.time), step):
        check.add(robot, round(log.time[k] * 1e9), log.q[k], log.qd[k], log.torque[k])
    torque = effort.torque(log.torque, robot.gravity_torque(log.q))
    return replace(log, torque=torque), check.verdict().sentence
