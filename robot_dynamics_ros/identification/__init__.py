"""Identification of a robot from measured motions: logs, estimates of its parameters, and how well they predict.

Names are imported at their first use, because some need SciPy.
"""

import importlib

MODULES = {
    'ConditionNumbers': 'excitation',
    'FourierTrajectory': 'fourier_trajectory',
    'FrictionTracker': '.control.friction_tracker',
    'Identification': 'parameter_estimation',
    'Log': 'log',
    'LogError': 'log_files',
    'RecursiveLeastSquares': 'recursive',
    'ResidualFit': 'residual',
    'StandingPoses': 'standing_poses',
    'Validation': 'prediction',
    'condition_numbers': 'excitation',
    'cross_validate': 'cross_validation',
    'differentiate': 'signals',
    'estimate_delay': 'signals',
    'fit_residual': 'residual',
    'gravity_poses': 'standing_poses',
    'identify': 'parameter_estimation',
    'identify_gravity': 'gravity',
    'identify_payload': 'payload',
    'moving': 'signals',
    'optimise_excitation': 'excitation',
    'validate': 'prediction',
    'zero_phase': 'signals',
}
"""Public names, and the module that has each; those with a leading dot are not of this package."""


def __getattr__(name: str):
    """Return a public name from its module."""
    if name not in MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(importlib.import_module(f'.{MODULES[name]}', __name__), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(MODULES)
