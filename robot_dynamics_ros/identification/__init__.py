"""Identification of a robot from measured motions: logs, estimates of its parameters, and how well they predict.

Names are imported at their first use, because some need SciPy.
"""

import importlib

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
