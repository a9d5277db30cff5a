"""Closed loops in YAML: the section ``loops`` of a model's file; ``model_yaml`` has an example.

Entries have the names of the records' fields; ``actuated`` lists the joints with a motor, and ``near`` has
the positions near which loops are closed, by joint. Only ``name`` of a closure, ``joint`` and ``polynomial`` of a
coupling are required; the others have the defaults of the records.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields

import numpy as np

from robot_dynamics_ros.errors import ModelError, alternatives
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.closed_loops.loop_types import GAIN, TOLERANCE, Coupling, LoopClosure, Loops
from robot_dynamics_ros.model.closed_loops.loops import LARGEST_POLYNOMIAL, with_loops
from robot_dynamics_ros.model.model import Model

_CLOSURE = tuple(field.name for field in fields(LoopClosure))
_COUPLING = tuple(field.name for field in fields(Coupling))


def loops_written(loops: Loops) -> dict:
    """Return the entry 'loops' of a file, nothing for a model without loops and with default settings."""
    if not (loops.all or loops.actuated or loops.near) and (loops.gain, loops.tolerance) == (GAIN, TOLERANCE):
        return {}
    closures = [{field: _plain(getattr(closure, field)) for field in _CLOSURE} for closure in loops.closures]
    couplings = [{field: _plain(getattr(coupling, field)) for field in _COUPLING} for coupling in loops.couplings]
    settings: dict = {'gain': loops.gain, 'tolerance': loops.tolerance}
    if loops.actuated:
        settings['actuated'] = list(loops.actuated)
    if loops.near:
        settings['near'] = dict(loops.near)
    return {'loops': {**settings, 'closures': closures, 'couplings': couplings}}


def with_loops_read(model: Model, content) -> Model:
    """Return the model with the loops of a section ``loops``; ModelError naming loop and field."""
    section = untrusted_values.table(
        'loops', content, ('gain', 'tolerance', 'actuated', 'near', 'closures', 'couplings')
    )
    closures = [_closure(model, *row) for row in _rows('closure', section.get('closures', []))]
    couplings = [_coupling(*row) for row in _rows('coupling', section.get('couplings', []))]
    gain = untrusted_values.number('loops: gain', section.get('gain', GAIN), least=0.0)
    tolerance = untrusted_values.number('loops: tolerance', section.get('tolerance', TOLERANCE))
    actuated, near = section.get('actuated', []), section.get('near', {})
    if not isinstance(actuated, list):
        raise ModelError(f'loops: actuated: expected a list, got {untrusted_values.shown(actuated)}')
    if not isinstance(near, dict):
        raise ModelError(f'loops: near: expected a table, got {untrusted_values.shown(near)}')
    _check_joints(model, 'actuated', actuated)
    _check_joints(model, 'near', near)
    return with_loops(model, [*closures, *couplings], gain, tolerance, actuated, near)


def _check_joints(model: Model, field: str, joints: Iterable) -> None:
    """Raise ModelError for the first of ``joints`` that the model lacks."""
    for joint in joints:
        if untrusted_values.name(f'loops: {field}', joint) not in model.joint_names:
            raise ModelError(f'loops: {field}: no joint {joint!r}; {alternatives(joint, model.joint_names)}')


def _rows(kind: str, rows) -> Iterable[tuple[str, Mapping]]:
    """Yield each row of a list, with its number for errors."""
    if not isinstance(rows, list):
        raise ModelError(f'loops: {kind}s: expected a list, got {untrusted_values.shown(rows)}')
    for number, row in enumerate(rows, start=1):
        yield f'{kind} number {number}', row


def _closure(model: Model, where: str, row) -> LoopClosure:
    """Return the closure of a row."""
    untrusted_values.table(where, row, _CLOSURE, ('name',))
    where = f'loop {untrusted_values.name(f"{where}: name", row["name"])!r}'
    for side in ('link_a', 'link_b'):
        link = row.get(side)
        if link is not None and untrusted_values.name(f'{where}: {side}', link) not in model.frames:
            raise ModelError(f'{where}: {side}: no link {link!r}; {alternatives(link, model.frames)}')
    return LoopClosure(**row)


def _coupling(where: str, row) -> Coupling:
    """Return the coupling of a row."""
    untrusted_values.table(where, row, _COUPLING, ('joint', 'polynomial'))
    joint, polynomial = untrusted_values.name(f'{where}: joint', row['joint']), row['polynomial']
    if not isinstance(polynomial, list) or not 0 < len(polynomial) <= LARGEST_POLYNOMIAL:
        expected = f'expected a list of 1 to {LARGEST_POLYNOMIAL} numbers'
        raise ModelError(
            f'coupling of joint {joint!r}: polynomial: {expected}, got {untrusted_values.shown(polynomial)}'
        )
    return Coupling(joint, row.get('other'), tuple(polynomial))


def _plain(value):
    """Return a field as YAML needs it: names and numbers, arrays and tuples as lists of numbers."""
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | tuple) else value
