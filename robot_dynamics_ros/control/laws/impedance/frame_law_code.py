"""Laws of a frame for the library of a controller: those of the nodes, whose gains become constants there."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_dynamics_ros.algorithms.sampling_limit import counted_period
from robot_dynamics_ros.codegen.c.frame_law import FrameCommands, FrameLawCode, Step
from robot_dynamics_ros.control.laws.gain_limits import PeriodLimit
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import (
    IMPEDANCE,
    CartesianImpedance,
    Impedance,
    check_posture,
    impedance_torque,
)
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import AGE, CommandedWrench, elapse_wrench
from robot_dynamics_ros.control.laws.impedance.held_pose import hold_frame
from robot_dynamics_ros.control.laws.impedance.impedance_limits import LEAST_RATIO, ImpedanceLimit
from robot_dynamics_ros.control.laws.impedance.operational_space import (
    OPERATIONAL_SPACE,
    OperationalSpace,
    OperationalSpaceControl,
    SingularDirections,
    operational_space_torque,
)
from robot_dynamics_ros.control.laws.impedance.operational_space_limits import OperationalSpaceLimit
from robot_dynamics_ros.control.laws.impedance.soft_limits import push_back
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

OF_A_STATE = 'T', 'T_d', 'J', 'M_inv'
"""Parameters that a node binds to arrays of its own, and the function in C computes."""


def impedance_code(
    robot: Robot, impedance: Impedance, stiffness: Stiffness, terms, rate: float, delay: float = 0.0
) -> FrameLawCode:
    """Return a Cartesian impedance for a controller.

    Parameters
    ----------
    robot : Robot
        As of ``CartesianImpedance``, without a payload.
    impedance : Impedance
    stiffness : Stiffness
        How its stiffness changes.
    terms : sequence of str
        Terms of the torque that the controller computes.
    rate, delay : float
        Updates in a second (Hz), and how late their efforts act (s).

    Raises
    ------
    ArgumentError
        As ``CartesianImpedance``, ``check_posture`` and ``ImpedanceLimit``, and for gains beyond the limit of sampling
        at this rate and delay.
    """
    wrench = impedance.wrench or CommandedWrench((0.0, 0.0), (1.0, 1.0))
    impedance = impedance._replace(wrench=wrench)
    check_posture(robot, impedance.frame, impedance.posture_stiffness, impedance.posture_damping)
    limit = ImpedanceLimit(robot, impedance)
    _check(limit, rate, delay)
    law = CartesianImpedance(robot, impedance, terms, stiffness)
    gains, springs, held, commanded = law.numbers, law.springs, law.held, wrench.numbers
    anew = {'lower': springs['lower'], 'upper': springs['upper'], 'held_at': held['last']}
    anew |= {'w': commanded['w'], 'clock': commanded['clock']}
    memory = {name: gains[name] for name in ('K', 'G', 'K_d', 'tank', 'taken', 'elapsed')}
    memory |= {'held': held['held'], 'wanted': commanded['wanted']}
    commands = FrameCommands(
        law.frame if law.reference_frame == 'local' else robot.link_names[0],
        stiffness.wanted,
        stiffness.least,
        bool(impedance.damping_ratio >= LEAST_RATIO),
        wrench.largest,
        AGE,
        wanted_stiffness='K_d',
        stiffness_in_force='K',
        tank='tank',
        wanted_wrench='wanted',
        until='clock',
        wrench_in_force='w',
    )
    return FrameLawCode(
        IMPEDANCE,
        law.frame,
        law.reference_frame,
        limit.period,
        delay,
        bool(impedance.rest_friction),
        robot.nv,
        {name: np.asarray(array) for name, array in (anew | memory).items()},
        len(anew),
        elapse=[Step(elapse_wrench, commanded)],
        hold=[Step(hold_frame, held)],
        torque=[Step(impedance_torque, _without(OF_A_STATE, gains)), Step(push_back, _without(('M_inv',), springs))],
        begins_anew='held_at',
        commands=commands,
    )


def operational_space_code(
    robot: Robot, settings: OperationalSpace, terms, rate: float, delay: float = 0.0
) -> FrameLawCode:
    """Return operational-space control for a controller, by the inertia of the arm without its payload.

    Parameters
    ----------
    robot : Robot
        As of ``OperationalSpaceControl``, without a payload.
    settings : OperationalSpace
    terms : sequence of str
        Terms of the torque that the controller computes.
    rate, delay : float
        Updates in a second (Hz), and how late their efforts act (s).

    Raises
    ------
    ArgumentError
        As ``OperationalSpaceControl``, ``check_posture`` and ``OperationalSpaceLimit``, and for a bandwidth or posture
        beyond the limit of sampling at this rate and delay.
    """
    check_posture(robot, settings.frame, settings.posture_stiffness, settings.posture_damping)
    limit = OperationalSpaceLimit(robot, settings)
    _check(limit, rate, delay)
    singular = SingularDirections(robot, settings)
    law = OperationalSpaceControl(robot, settings, terms, singular.light)
    return FrameLawCode(
        OPERATIONAL_SPACE,
        law.frame,
        'local_world_aligned',
        limit.period,
        delay,
        counts_friction=False,
        joints=robot.nv,
        memory={'light': singular.light},
        anew=0,
        elapse=(),
        hold=(),
        torque=[Step(operational_space_torque, _without(OF_A_STATE, law.numbers))],
        is_unloaded=True,
        largest_mass=settings.largest_mass,
        directions=singular.all,
    )


def _check(limit: PeriodLimit, rate: float, delay: float) -> None:
    """Raise ArgumentError for gains beyond the limit of sampling."""
    fault = limit.fault(counted_period(1.0 / rate, delay))
    if fault:
        raise ArgumentError(fault)


def _without(computed: tuple[str, ...], numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers without those that the function in C computes."""
    return {name: value for name, value in numbers.items() if name not in computed}
