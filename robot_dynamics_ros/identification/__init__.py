"""Identification of a robot from measured motions: logs, estimates of its parameters, and how well they predict.

Names are imported at their first use, because some need SciPy.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers, which read no ``__getattr__``
    from robot_dynamics_ros.control.observers.friction_tracker import FrictionTracker as FrictionTracker
    from robot_dynamics_ros.identification.delay import delay_of_torques as delay_of_torques
    from robot_dynamics_ros.identification.gravity import identify_gravity as identify_gravity
    from robot_dynamics_ros.identification.logs.log import Log as Log
    from robot_dynamics_ros.identification.logs.log_files import LogError as LogError
    from robot_dynamics_ros.identification.logs.plausibility import check_log as check_log
    from robot_dynamics_ros.identification.logs.signals import differentiate as differentiate
    from robot_dynamics_ros.identification.logs.signals import estimate_delay as estimate_delay
    from robot_dynamics_ros.identification.logs.signals import moving as moving
    from robot_dynamics_ros.identification.logs.signals import zero_phase as zero_phase
    from robot_dynamics_ros.identification.motions.excitation import ConditionNumbers as ConditionNumbers
    from robot_dynamics_ros.identification.motions.excitation import condition_numbers as condition_numbers
    from robot_dynamics_ros.identification.motions.excitation import optimise_excitation as optimise_excitation
    from robot_dynamics_ros.identification.motions.fourier_trajectory import FourierTrajectory as FourierTrajectory
    from robot_dynamics_ros.identification.parameter_estimation import Identification as Identification
    from robot_dynamics_ros.identification.parameter_estimation import cross_validate as cross_validate
    from robot_dynamics_ros.identification.parameter_estimation import identify as identify
    from robot_dynamics_ros.identification.parameter_table import IdentifiedParameter as IdentifiedParameter
    from robot_dynamics_ros.identification.payload import identify_payload as identify_payload
    from robot_dynamics_ros.identification.prediction import Validation as Validation
    from robot_dynamics_ros.identification.prediction import validate as validate
    from robot_dynamics_ros.identification.recursive import RecursiveLeastSquares as RecursiveLeastSquares
    from robot_dynamics_ros.identification.residual import ResidualFit as ResidualFit
    from robot_dynamics_ros.identification.residual import fit_residual as fit_residual
    from robot_dynamics_ros.identification.standing_poses import StandingPoses as StandingPoses
    from robot_dynamics_ros.identification.standing_poses import gravity_poses as gravity_poses

NAMES = {
    '.control.observers.friction_tracker': ('FrictionTracker',),
    'delay': ('delay_of_torques',),
    'motions.excitation': ('ConditionNumbers', 'condition_numbers', 'optimise_excitation'),
    'motions.fourier_trajectory': ('FourierTrajectory',),
    'gravity': ('identify_gravity',),
    'logs.log': ('Log',),
    'logs.log_files': ('LogError',),
    'parameter_estimation': ('Identification', 'cross_validate', 'identify'),
    'parameter_table': ('IdentifiedParameter',),
    'payload': ('identify_payload',),
    'logs.plausibility': ('check_log',),
    'prediction': ('Validation', 'validate'),
    'recursive': ('RecursiveLeastSquares',),
    'residual': ('ResidualFit', 'fit_residual'),
    'logs.signals': ('differentiate', 'estimate_delay', 'moving', 'zero_phase'),
    'standing_poses': ('StandingPoses', 'gravity_poses'),
}
"""Public names of each module; one with a leading dot is not of this package."""
MODULES = {name: module for module, names in NAMES.items() for name in names}
__all__ = list(MODULES)


def __getattr__(name: str):
    """Return a public name from its module."""
    if name not in MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(importlib.import_module(f'.{MODULES[name]}', __name__), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(MODULES)
