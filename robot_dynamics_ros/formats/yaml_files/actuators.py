"""Actuator files: rotors, gears, torque constants and friction terms that a URDF has no element for.

An actuator file is YAML with one table per quantity, joint name -> number; see ``config/aubo_i5.yaml``.

    gear_ratio                  motor turns per joint turn (rad/m for a joint that slides)
    torque_constant             joint torque per motor current, N m/A (N/A), gear ratio included
    rotor_inertia               kg m^2 (kg), reflected to the joint; or
    motor_inertia               kg m^2, about the motor's axis; reflected to the joint it is gear_ratio^2 times as large
    rotor_direction             1 or -1: the rotor is mounted on the parent link of a revolute joint and turns about the
                                joint axis with or against the joint; 0: the rotor's angular momentum is neglected
    friction_offset             N m (N), independent of the direction of motion
    friction_transition         rad/s (m/s), transition velocity of the smooth sign function
    friction_stribeck           N m (N), Stribeck friction: friction at zero velocity minus Coulomb friction
    friction_stribeck_velocity  rad/s (m/s), velocity at which Stribeck friction has dropped to half
    friction_load               N m/(N m), Coulomb friction per transmitted torque
    friction_quadratic          N m s^2/rad^2 (N s^2/m^2), friction that grows with the square of the velocity

One table is of another kind, and names only the joints that it concerns:

    motor_coupling              of a joint's motor, by other joint -> its turns per turn of that joint, both in turns of
                                the joint: {joint_6: {joint_5: 1.0}} where motor 6 turns with q6 + q5
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import ModelError, alternatives
from robot_dynamics_ros.formats.untrusted_text import read_text
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.audit import audit_rotors
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.model.model import Actuators, Friction, Model, with_spin

Source = str | Path | Mapping[str, Mapping[str, object]]

COUPLING = 'motor_coupling'
_NOT_NEGATIVE, _POSITIVE = {'least': 0.0}, {'above': 0.0}
_QUANTITIES: dict[str, dict[str, float]] = {
    'rotor_inertia': _NOT_NEGATIVE,
    'gear_ratio': _POSITIVE,
    'torque_constant': _POSITIVE,
    'motor_inertia': _NOT_NEGATIVE,
    'rotor_direction': {},
    'friction_offset': {},
    'friction_transition': _POSITIVE,
    'friction_stribeck': _NOT_NEGATIVE,
    'friction_stribeck_velocity': _POSITIVE,
    'friction_load': _NOT_NEGATIVE,
    'friction_quadratic': _NOT_NEGATIVE,
}
_ROTOR = (
    'rotor_inertia',
    'motor_inertia',
    'gear_ratio',
    'rotor_direction',
)  # quantities that the rotor spin depends on


def with_actuators(model: Model, source: Source) -> Model:
    """Return ``model`` with the quantities of an actuator file (path or mapping).

    Quantities that the file omits stay unchanged. Each table must name every joint of the model. Raises ModelError
    naming the file and the key.
    """
    where, tables, coupling = _tables(source)
    columns: dict[str, np.ndarray] = {}
    for quantity, table in tables.items():
        unknown = [joint for joint in table if joint not in model.joint_names]
        missing = [joint for joint in model.joint_names if joint not in table]
        if unknown:
            known = alternatives(unknown[0], model.joint_names)
            raise ModelError(f'{where}: {quantity}: no joint {unknown[0]!r} in {model.name}; {known}')
        if missing:
            expected = f'expected {len(model.joint_names)} joints, got {len(table)}'
            raise ModelError(f'{where}: {quantity}: {expected}: {missing[0]!r} is missing')
        counts = np.diff(model.arrays.first[1:])  # all velocities of a joint have the same value
        columns[quantity] = np.repeat([table[joint] for joint in model.joint_names], counts)
    of_friction = {f'friction_{field}': field for field in Friction._fields}
    changed = replace(
        model,
        friction=model.friction._replace(**{of_friction[it]: columns[it] for it in columns if it in of_friction}),
        actuators=model.actuators._replace(**{it: columns[it] for it in columns if it in Actuators._fields}),
    )
    if coupling is not None:
        changed = replace(changed, motor_coupling=_coupled(f'{where}: {COUPLING}', model, coupling))
    if not columns.keys() & set(_ROTOR):
        return changed
    with_rotors = replace(changed, arrays=_with_rotors(changed, where, columns))
    before = set(audit_rotors(model.joints))
    kept = (finding for finding in model.findings if finding not in before)
    return replace(with_rotors, findings=(*kept, *audit_rotors(with_rotors.joints)))


def _with_rotors(model: Model, where: str, columns: Mapping[str, np.ndarray]) -> ModelArrays:
    """Return the arrays of ``model``, whose gear ratios are set, with the rotor inertias and spins of an actuator file.

    ``columns`` holds the values of each quantity, (nv,).
    """
    arrays, ratio = model.arrays, model.actuators.gear_ratio
    if {'rotor_inertia', 'motor_inertia'} <= columns.keys():
        raise ModelError(f'{where}: motor_inertia: expected this or rotor_inertia, got both')
    motor = columns.get('motor_inertia', np.zeros(arrays.nv))
    direction = columns.get('rotor_direction', np.sign(arrays.spin[1:]))
    kinds = dict(zip(model.joint_names, model.joint_kinds, strict=True))
    with np.errstate(over='ignore', invalid='ignore'):
        # rotor = N^2 I_m, spin = N I_m = rotor / N
        reflected = np.where(motor > 0.0, ratio * ratio * motor, 0.0)
        rotor = reflected if 'motor_inertia' in columns else columns.get('rotor_inertia', arrays.rotor[1:])
        spin = np.where(direction != 0.0, direction * rotor / ratio, 0.0)
    for k, joint in enumerate(model.joint_of_velocity(k) for k in range(arrays.nv)):
        quantity = 'motor_inertia' if motor[k] > 0.0 else 'rotor_direction'
        if (motor[k] > 0.0 or direction[k] != 0.0) and np.isnan(ratio[k]):
            raise ModelError(f'{where}: {quantity}: {joint}: its gear_ratio is missing')
        if direction[k] != 0.0 and kinds[joint] != 'revolute':
            raise ModelError(f'{where}: rotor_direction: {joint}: expected 0 for a {kinds[joint]} joint')
        if not np.isfinite(rotor[k] + spin[k]):
            raise ModelError(f'{where}: {quantity}: {joint}: with its gear_ratio of {ratio[k]:g} it overflows')
    return with_spin(arrays._replace(rotor=np.concatenate([[0.0], rotor])), model.joints, spin)


def _coupled(where: str, model: Model, table: Mapping[str, Mapping[str, float]]) -> tuple[tuple[int, int, float], ...]:
    """Return ``Model.motor_coupling`` of a table; ModelError naming a joint that cannot be coupled."""
    kinds, first = dict(zip(model.joint_names, model.joint_kinds, strict=True)), model.arrays.first[1:] - 1
    velocity = dict(zip(model.joint_names, first[:-1].tolist(), strict=True))
    found = []
    for joint, ratios in table.items():
        for other, ratio in ratios.items():
            for name in (joint, other):
                if name not in kinds:
                    raise ModelError(f'{where}: no joint {name!r} in {model.name}')
                if KINDS[kinds[name]].coordinates > 1:
                    raise ModelError(
                        f'{where}: joint {name!r}: expected one degree of freedom, got a {kinds[name]} joint'
                    )
            if joint == other:
                raise ModelError(f'{where}: joint {joint!r} is coupled with itself')
            found.append((velocity[joint], velocity[other], ratio))
    return tuple(sorted(found))


def _tables(source: Source) -> tuple[str, dict[str, dict[str, float]], dict[str, dict[str, float]] | None]:
    """Return the name of the source for errors, its tables with every number checked, and that of coupled motors."""
    where, content = ('actuators', source) if isinstance(source, Mapping) else (str(source), _loaded(source))
    given = untrusted_values.table(where, content, (*_QUANTITIES, COUPLING))
    tables = {
        quantity: _table(f'{where}: {quantity}', quantity, table)
        for quantity, table in given.items()
        if quantity != COUPLING
    }
    if COUPLING not in given:
        return where, tables, None
    at = f'{where}: {COUPLING}'
    return (
        where,
        tables,
        {joint: ratios_of(f'{at}: {joint}', it) for joint, it in untrusted_values.table(at, given[COUPLING]).items()},
    )


def ratios_of(where: str, value) -> dict[str, float]:
    """Return the ratios of a coupled motor by joint; ModelError for anything but numbers."""
    return {
        joint: untrusted_values.number(f'{where}: {joint}', it)
        for joint, it in untrusted_values.table(where, value).items()
    }


def _table(where: str, quantity: str, table) -> dict[str, float]:
    """Return the numbers of one table; ModelError for a value that its quantity cannot have."""
    numbers = {}
    for joint, value in untrusted_values.table(where, table).items():
        numbers[joint] = untrusted_values.number(f'{where}: {joint}', value, **_QUANTITIES[quantity])
        if quantity == 'rotor_direction' and numbers[joint] not in (1.0, -1.0, 0.0):
            raise ModelError(f'{where}: {joint}: expected 1, -1 or 0, got {value}')
    return numbers


def _loaded(path: str | Path):
    """Return the content of a YAML file; ModelError if it cannot be read."""
    from robot_dynamics_ros.formats.yaml_files.untrusted_yaml import parsed_yaml  # noqa: PLC0415  (slow to import)

    try:
        return parsed_yaml(read_text(path))
    except ModelError as error:
        raise ModelError(f'{path}: {error}') from error
