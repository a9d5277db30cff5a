"""Largest gravity torque of each joint within the position limits, compared with the effort limits.

A mechanism is searched where its loops close.
"""

import numpy as np

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.reachable_positions import gear_of, within_reach
from robot_dynamics_ros.control.joints.continuous_joints import TURN
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.summary.largest_gravity import RISE, StaticTorque, largest_gravity, range_of_positions


def largest_static_torque(robot: Robot | DrivenRobot) -> StaticTorque:
    """Return ``largest_gravity`` of ``robot``, of a mechanism where its loops close."""
    return largest_gravity(within_reach(robot), _unlimited(robot))


def check_static_torque(bare: Robot | DrivenRobot, loaded: Robot | DrivenRobot, what: str, effort_limit=None) -> None:
    """Raise ArgumentError if a gravity torque of ``loaded`` within the position limits exceeds the effort limit.

    Joints with the same torque in ``bare``, the robot without payload, and joints without an effort limit are ignored.
    ``what`` names the payload in the message. ``effort_limit`` (n,) is in N m (prismatic joints: N); default: that of
    the robot.
    """
    needed, limits = largest_static_torque(loaded), loaded.limits.effort if effort_limit is None else effort_limit
    alone = np.abs(within_reach(bare).gravity_torque(needed.positions)[np.arange(bare.nv), np.arange(bare.nv)])
    limited = np.isfinite(limits) & (limits > 0.0)
    excess = np.where(limited, needed.torque / np.where(limited, limits, 1.0), 0.0)
    excess[needed.torque - alone <= RISE * needed.torque] = 0.0
    k = int(np.argmax(excess))
    if excess[k] > 1.0:
        raise ArgumentError(
            f'{what}: joint {loaded.joint_names[k]!r} would need {needed.torque[k]:.4g} N m (prismatic: N) to hold the '
            f'arm against gravity at its worst position, {alone[k]:.4g} of it without the payload; its effort limit is '
            f'{limits[k]:.4g}; choose a smaller payload, or set the parameter payload_limit or effort_limit'
        )


def position_range(robot: Robot | DrivenRobot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lower and upper end (n each) of each joint's range, and whether turns change no torque (n)."""
    return range_of_positions(within_reach(robot), _unlimited(robot))


def _unlimited(robot: Robot | DrivenRobot) -> np.ndarray:
    """Return how far from 0 joints are searched that have no limits, though whole turns count (n; rad, m).

    In that range all joints behind their gears turn once. Slides without limits stay at 0.
    """
    kinds = dict(zip(robot.model.joint_names, robot.model.joint_kinds, strict=True))
    half = 0.5 * TURN * np.array([kinds[name] == 'revolute' for name in robot.joint_names])
    return half * gear_of(robot)
