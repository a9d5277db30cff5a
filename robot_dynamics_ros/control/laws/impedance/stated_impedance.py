"""A Cartesian impedance, and operational-space control, as parameters of ``torque_controller`` state them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.laws.gain_limits import NOT_STATED
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import Impedance, check_posture
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.control.laws.impedance.operational_space import OperationalSpace
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.control.laws.joint_space_control import gains
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

OF_AXES = 'translational_stiffness', 'rotational_stiffness', 'translational_damping', 'rotational_damping'
"""Parameters with a number for each of three axes."""
OF_IMPEDANCE_ALONE = (
    *(*OF_AXES, 'reference_frame', 'rest_friction_share', 'soft_limit_distance', 'soft_limit_torque'),
    *('force_limit', 'moment_limit', 'wrench_ramp_time', 'stiffness_ramp_time', 'stiffness_energy_limit'),
)
"""Parameters that no other law uses."""


class StatedImpedance(NamedTuple):
    """An impedance, what its laws share, and what is wrong with it in one line, '' for nothing."""

    impedance: Impedance
    soft_limits: SoftLimits
    wrench: CommandedWrench
    stiffness: Stiffness
    warning: str


def check_of_axes(name: str, values) -> None:
    """Raise ArgumentError unless there are three numbers of at least 0, or none is stated."""
    if list(values) != NOT_STATED or name not in OF_AXES[:2]:
        gains(name, values, 3)


def stated_impedance(robot: Robot, value: Callable[[str], Any]) -> StatedImpedance:
    """Return the impedance of a robot whose parameters ``value(name)`` has.

    ArgumentError names a parameter that is not stated, or wrong, as ``Impedance`` and ``check_posture`` do.
    """
    of_axes = {
        'translational_stiffness': value('translational_stiffness'),
        'rotational_stiffness': value('rotational_stiffness'),
        'translational_damping': value('translational_damping'),
        'rotational_damping': value('rotational_damping'),
    }
    for name, values in of_axes.items():
        if list(values) == NOT_STATED:
            raise ArgumentError(f'{name}: not stated; expected three numbers of at least 0')
        check_of_axes(name, values)
    springs = [*of_axes['rotational_stiffness'], *of_axes['translational_stiffness']]
    dampers = [*of_axes['rotational_damping'], *of_axes['translational_damping']]
    Kp, Kd = stated_posture(robot, value)
    soft_limits = SoftLimits(robot, value('soft_limit_distance'), value('soft_limit_torque'))
    may_be_free = [not k or d > 0.0 for k, d in zip(springs, dampers, strict=True)]
    wrench = CommandedWrench(
        (value('moment_limit'), value('force_limit')),
        (value('rotational_speed_limit'), value('translational_speed_limit')),
        value('wrench_ramp_time'),
        (any(may_be_free[:3]), any(may_be_free[3:])),
    )
    impedance = Impedance(
        springs,
        Kp,
        Kd,
        value('damping_ratio'),
        dampers,
        value('impedance_frame'),
        value('reference_frame'),
        stated_error_limits(value),
        soft_limits,
        wrench,
        value('rest_friction_share'),
    )
    check_posture(robot, impedance.frame, Kp, Kd)
    stiffness = Stiffness(springs, value('stiffness_ramp_time'), value('stiffness_energy_limit'), may_be_free)
    return StatedImpedance(impedance, soft_limits, wrench, stiffness, warning_of_posture(robot, Kd))


def stated_operational_space(robot: Robot, value: Callable[[str], Any]) -> OperationalSpace:
    """Return what operational-space control is led by, likewise."""
    Kp, Kd = stated_posture(robot, value)
    settings = OperationalSpace(
        value('bandwidth'),
        Kp,
        Kd,
        value('damping_ratio'),
        value('impedance_frame'),
        stated_error_limits(value),
        value('largest_mass'),
    )
    check_posture(robot, settings.frame, Kp, Kd)
    return settings


def stated_posture(robot: Robot, value: Callable[[str], Any]) -> list[np.ndarray]:
    """Return stiffness and damping of each joint in the null space of the frame, (n) each."""
    return [validation.of_each_joint(name, value(name), robot.nv, zero=True) for name in ('stiffness', 'damping')]


def stated_error_limits(value: Callable[[str], Any]) -> tuple[float, float]:
    """Return the largest error of rotation (rad) and translation (m) that counts."""
    return value('rotational_error_limit') or np.inf, value('translational_error_limit') or np.inf


def warning_of_posture(robot: Robot, damping: np.ndarray) -> str:
    """Return the warning for an arm that moves on without its frame, '' for none."""
    if robot.nv <= 6 or damping.all():
        return ''
    return (
        'damping: 0 for a joint; an arm of more than six joints moves on without its frame, and only friction brakes '
        'it: state a damping of the posture'
    )
