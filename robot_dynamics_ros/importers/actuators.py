"""What a URDF can't hold: rotor inertia, gear ratio, torque constant, friction offset and transition.

An actuator file is YAML, one table per figure, joint name -> number; ``config/aubo_i5.yaml`` is the example.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros.dynamics.errors import ModelError
from robot_dynamics_ros.dynamics.model import Model
from robot_dynamics_ros.importers.figures import shown
from robot_dynamics_ros.importers.reading import parsed_yaml, read_text

Source = str | Path | Mapping[str, Mapping[str, float]]

_Rule = tuple[str, Callable[[float], bool]]  # what a value must be, and the test for it
_ANY: _Rule = ('a finite number', math.isfinite)
_NOT_NEGATIVE: _Rule = ('a finite number >= 0', lambda value: 0.0 <= value < math.inf)
_POSITIVE: _Rule = ('a finite number > 0', lambda value: 0.0 < value < math.inf)
_FIGURES: dict[str, _Rule] = {
    'rotor_inertia': _NOT_NEGATIVE,  # kg m^2 (kg), reflected to the joint
    'gear_ratio': _POSITIVE,  # motor turns per joint turn
    'torque_constant': _POSITIVE,  # N m per A of motor current, at the joint
    'friction_offset': _ANY,  # N m (N)
    'friction_transition': _POSITIVE,  # rad/s (m/s)
}


def with_actuators(model: Model, source: Source) -> Model:
    """Return ``model`` with the rotor inertia and friction figures of an actuator file (path or mapping).

    A figure that the file leaves out stays as it is; a table must name every joint of the model. Raises
    ModelError naming the file and the key.
    """
    where, figures = _figures(source)
    columns = {}
    for figure, table in figures.items():
        unknown = [joint for joint in table if joint not in model.joint_names]
        missing = [joint for joint in model.joint_names if joint not in table]
        if unknown:
            raise ModelError(f'{where}: {figure}: no joint {unknown[0]!r} in {model.name}')
        if missing:
            expected = f'expected {len(model.joint_names)} joints, got {len(table)}'
            raise ModelError(f'{where}: {figure}: {expected}: {missing[0]!r} is missing')
        counts = np.diff(model.arrays.first[1:])  # the same for all velocities of a joint
        columns[figure] = np.repeat([table[joint] for joint in model.joint_names], counts)
        columns[figure].flags.writeable = False
    arrays, friction = model.arrays, model.friction
    if 'rotor_inertia' in columns:
        rotor = np.concatenate([[0.0], columns['rotor_inertia']])
        rotor.flags.writeable = False
        arrays = arrays._replace(rotor=rotor)
    if 'friction_offset' in columns:
        friction = friction._replace(offset=columns['friction_offset'])
    if 'friction_transition' in columns:
        friction = friction._replace(transition=columns['friction_transition'])
    return replace(model, arrays=arrays, friction=friction)


def torque_constants(source: Source) -> dict[str, float]:
    """Return each joint's torque constant, N m at the joint per A of motor current; ModelError if missing."""
    where, figures = _figures(source)
    if 'torque_constant' not in figures:
        raise ModelError(f'{where}: torque_constant: is missing')
    return figures['torque_constant']


def _figures(source: Source) -> tuple[str, dict[str, dict[str, float]]]:
    """Return what to call the source in errors, and its tables, every number checked."""
    where, content = ('actuators', source) if isinstance(source, Mapping) else (str(source), _loaded(source))
    if not isinstance(content, Mapping):
        raise ModelError(f'{where}: expected tables {", ".join(_FIGURES)}, got {type(content).__name__}')
    figures = {}
    for figure, table in content.items():
        if figure not in _FIGURES:
            raise ModelError(f'{where}: {figure}: unknown; expected some of {", ".join(_FIGURES)}')
        if not isinstance(table, Mapping):
            raise ModelError(f'{where}: {figure}: expected a table joint: number, got {shown(table)}')
        figures[figure] = {joint: _number(where, figure, joint, value) for joint, value in table.items()}
    return where, figures


def _number(where: str, figure: str, joint: str, value) -> float:
    """Return one value as a float; ModelError if it is not what its figure must be."""
    expected, valid = _FIGURES[figure]
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        try:
            if valid(float(value)):
                return float(value)
        except OverflowError:  # an integer beyond every float
            pass
    raise ModelError(f'{where}: {figure}: {joint}: expected {expected}, got {shown(value)}')


def _loaded(path: str | Path):
    """Return what a YAML file holds; ModelError if it can't be read."""
    try:
        return parsed_yaml(read_text(path))
    except ModelError as error:
        raise ModelError(f'{path}: {error}') from error
