"""A Cartesian impedance for the library of a controller: the law of the nodes, whose gains become constants there."""

import numpy as np

from robot_dynamics_ros.codegen.c.impedance import ImpedanceCode, Step
from robot_dynamics_ros.control.laws.gain_limits import counted_period
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import (
    CartesianImpedance,
    Impedance,
    check_posture,
    impedance_torque,
)
from robot_dynamics_ros.control.laws.impedance.impedance_limits import LEAST_RATIO, ImpedanceLimit
from robot_dynamics_ros.control.laws.impedance.soft_limits import push_back
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

OF_A_STATE = 'T', 'T_d', 'J', 'M_inv', 'K_d', 'elapsed'
"""Parameters that a node binds to arrays of its own, and the function in C computes or is given."""


def impedance_code(
    robot: Robot, impedance: Impedance, stiffness: Stiffness, terms, rate: float, delay: float = 0.0
) -> ImpedanceCode:
    """Return the law of an impedance for a controller.

    Parameters
    ----------
    robot : Robot
        As of ``CartesianImpedance``, without a payload.
    impedance : Impedance
        Without a commanded wrench, which controllers do not have.
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
    check_posture(robot, impedance.frame, impedance.posture_stiffness, impedance.posture_damping)
    limit = ImpedanceLimit(robot, impedance)
    fault = limit.fault(counted_period(1.0 / rate, delay))
    if fault:
        raise ArgumentError(fault)
    law = CartesianImpedance(robot, impedance, terms, stiffness)
    numbers = {name: value for name, value in law.numbers.items() if name not in OF_A_STATE}
    springs = {name: value for name, value in law.springs.items() if name != 'M_inv'}
    return ImpedanceCode(
        law.frame,
        law.reference_frame,
        limit.period,
        delay,
        np.diagonal(stiffness.K).copy(),
        stiffness.may_be_free.tolist(),
        bool(impedance.damping_ratio >= LEAST_RATIO),
        bool(impedance.rest_friction),
        robot.nv,
        Step(impedance_torque, numbers, ('K', 'G', 'tank', 'taken')),
        Step(push_back, springs, ('lower', 'upper')),
    )
