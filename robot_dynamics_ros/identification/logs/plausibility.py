"""``check_log``: what cannot be right about a log, and its likely reason, before anything is identified from it."""

from robot_dynamics_ros.identification.logs.effort_plausibility import effort_findings
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.logs.motion_plausibility import acceleration_findings, velocity_findings
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot


def check_log(robot: Robot, log: Log) -> tuple[Finding, ...]:
    """Return what is implausible about a log of a robot: units, signs, order, scales, delays and noise of its columns.

    Positions are compared with the integrals of velocities, and these with those of accelerations; efforts with what
    friction and inverse dynamics of any masses allow, and with each other. Torques of all joints together are compared
    with the description.

    Parameters
    ----------
    robot : Robot
        Its masses may be wrong by a factor of five.
    log : Log
        A motion of all joints.

    Returns
    -------
    tuple of Finding
        An 'error' is a column that is wrong, with the likely reason; a 'warning' one that may be. Accelerations are
        judged where velocities have no error, efforts where neither has one.

    Raises
    ------
    ArgumentError, ModelError
        As ``Log.torque``.
    """
    found = list[Finding]()
    for findings in (velocity_findings, acceleration_findings, effort_findings):
        found += findings(robot, log)
        if any(it.severity == 'error' for it in found):
            break
    return tuple(found)
