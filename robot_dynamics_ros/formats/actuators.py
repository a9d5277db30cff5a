"""What a URDF can't hold: rotors, gears, torque constants, and friction beyond the viscous and Coulomb parts.

An actuator file is YAML, one table per figure, joint name -> number; ``config/aubo_i5.yaml`` is the example.

    gear_ratio                  motor turns per joint turn (rad/m for a joint that slides)
    torque_constant             N m at the joint per A of motor current (N/A), the gear ratio in it
    rotor_inertia               kg m^2 (kg), reflected to the joint; or
    motor_inertia               kg m^2, of the rotor about its own axis: reflected, gear_ratio^2 times that
    rotor_direction             1, -1: the rotor turns with (against) its revolute joint, on the link before it and
                                about the same direction; 0: where it turns is left out
    friction_offset             N m (N), the same whichever way the joint moves
    friction_transition         rad/s (m/s), over which the sign of the velocity is smooth
    friction_stribeck           N m (N), what friction at rest has beyond the Coulomb one
    friction_stribeck_velocity  rad/s (m/s), at which half of that is left
    friction_load               N m/(N m), Coulomb friction for each unit of transmitted torque
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import parsed_yaml, read_text
from robot_dynamics_ros.model.audit import audit_rotors
from robot_dynamics_ros.model.checked import shown
from robot_dynamics_ros.model.model import Actuators, Friction, Model, ModelArrays, with_spin

Source = str | Path | Mapping[str, Mapping[str, float]]

_Rule = tuple[str, Callable[[float], bool]]  # what a value must be, and the test for it
_ANY: _Rule = ('a finite number', math.isfinite)
_NOT_NEGATIVE: _Rule = ('a finite number >= 0', lambda value: 0.0 <= value < math.inf)
_POSITIVE: _Rule = ('a finite number > 0', lambda value: 0.0 < value < math.inf)
_FIGURES: dict[str, _Rule] = {
    'rotor_inertia': _NOT_NEGATIVE,
    'gear_ratio': _POSITIVE,
    'torque_constant': _POSITIVE,
    'motor_inertia': _NOT_NEGATIVE,
    'rotor_direction': ('1, -1 or 0', lambda value: value in (1.0, -1.0, 0.0)),
    'friction_offset': _ANY,
    'friction_transition': _POSITIVE,
    'friction_stribeck': _NOT_NEGATIVE,
    'friction_stribeck_velocity': _POSITIVE,
    'friction_load': _NOT_NEGATIVE,
}
_ROTOR = ('rotor_inertia', 'motor_inertia', 'gear_ratio', 'rotor_direction')  # what a rotor's spin follows from


def with_actuators(model: Model, source: Source) -> Model:
    """Return ``model`` with the figures of an actuator file (path or mapping).

    A figure that the file leaves out stays as it is; a table must name every joint of the model. Raises
    ModelError naming the file and the key.
    """
    where, figures = _figures(source)
    columns: dict[str, np.ndarray] = {}
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
    of_friction = {f'friction_{field}': field for field in Friction._fields}
    changed = replace(
        model,
        friction=model.friction._replace(**{of_friction[it]: columns[it] for it in columns if it in of_friction}),
        actuators=model.actuators._replace(**{it: columns[it] for it in columns if it in Actuators._fields}),
    )
    if not columns.keys() & set(_ROTOR):
        return changed
    turning = replace(changed, arrays=_with_rotors(changed, where, columns))
    before = set(audit_rotors(model.joints))
    kept = (finding for finding in model.findings if finding not in before)
    return replace(turning, findings=(*kept, *audit_rotors(turning.joints)))


def _with_rotors(model: Model, where: str, columns: Mapping[str, np.ndarray]) -> ModelArrays:
    """Return the arrays of ``model``, which has the gear ratios, with the rotors of an actuator file's columns."""
    arrays, ratio = model.arrays, model.actuators.gear_ratio
    if {'rotor_inertia', 'motor_inertia'} <= columns.keys():
        raise ModelError(f'{where}: motor_inertia: expected this or rotor_inertia, got both')
    motor = columns.get('motor_inertia', np.zeros(arrays.nv))
    direction = columns.get('rotor_direction', np.sign(arrays.spin[1:]))
    kinds = dict(zip(model.joint_names, model.joint_kinds, strict=True))
    with np.errstate(over='ignore', invalid='ignore'):
        # N^2 I_m, and N I_m: the reflected inertia over N
        reflected = np.where(motor > 0.0, ratio * ratio * motor, 0.0)
        rotor = reflected if 'motor_inertia' in columns else columns.get('rotor_inertia', arrays.rotor[1:])
        spin = np.where(direction != 0.0, direction * rotor / ratio, 0.0)
    for k, joint in enumerate(model.joint_of_velocity(k) for k in range(arrays.nv)):
        figure = 'motor_inertia' if motor[k] > 0.0 else 'rotor_direction'
        if (motor[k] > 0.0 or direction[k] != 0.0) and np.isnan(ratio[k]):
            raise ModelError(f'{where}: {figure}: {joint}: its gear_ratio is missing')
        if direction[k] != 0.0 and kinds[joint] != 'revolute':
            raise ModelError(f'{where}: rotor_direction: {joint}: expected 0 for a {kinds[joint]} joint')
        if not np.isfinite(rotor[k] + spin[k]):
            raise ModelError(f'{where}: {figure}: {joint}: with its gear_ratio of {ratio[k]:g} it overflows')
    return with_spin(arrays._replace(rotor=np.concatenate([[0.0], rotor])), model.joints, spin)


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
