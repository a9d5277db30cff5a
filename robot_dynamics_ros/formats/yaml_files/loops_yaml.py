"""Closed loops in YAML: the section ``loops`` of a model's file, or of a file beside a URDF or MJCF.

Entries have the names of the records' fields. Only ``name`` of a closure, ``joint`` and ``polynomial`` of a coupling
are required; the others have the defaults of the records. A pose is a matrix (4, 4), or as <origin> of a URDF.
``model_yaml`` has another example. A loops file has this section alone::

    loops:
      actuated: [motor]                          # joints with a motor; default: those that the description names
      near: {motor: 1.2}                         # positions near which the loops are closed, rad or m; default: 0
      closures:
      - name: pin
        link_a: rocker
        pose_a: {xyz: [0.3, 0.0, 0.0]}           # m, in the frame of link_a; rpy in rad
        link_b: coupler
        pose_b: {xyz: [0.5, 0.0, 0.0], rpy: [0.0, 0.0, 1.5708]}
        kind: planar_point                       # see model.closed_loops.loop_types
      couplings:
      - {joint: left_finger, other: right_finger, polynomial: [0.0, -1.0]}
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import ModelError, alternatives
from robot_dynamics_ros.formats.untrusted_text import read_text
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.closed_loops.loop_types import GAIN, TOLERANCE, Coupling, LoopClosure, Loops
from robot_dynamics_ros.model.closed_loops.loops import LARGEST_POLYNOMIAL, with_loops
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.rotations import from_rpy

_CLOSURE = tuple(field.name for field in fields(LoopClosure))
_COUPLING = tuple(field.name for field in fields(Coupling))
FIELDS = 'gain', 'tolerance', 'actuated', 'near', 'closures', 'couplings'


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
    """Return the model with the loops of a section ``loops`` added to its own; ModelError naming loop and field.

    Gain, tolerance, joints with a motor, and near, are those of the section where it states them, else those of the
    model.
    """
    section = untrusted_values.table('loops', content, FIELDS)
    own = model.loops
    closures = [_closure(model, *row) for row in _rows('closure', section.get('closures', []))]
    couplings = [_coupling(*row) for row in _rows('coupling', section.get('couplings', []))]
    gain = untrusted_values.number('loops: gain', section.get('gain', own.gain), least=0.0)
    tolerance = untrusted_values.number('loops: tolerance', section.get('tolerance', own.tolerance))
    actuated, near = section.get('actuated', list(own.actuated)), section.get('near', dict(own.near))
    if not isinstance(actuated, list):
        raise ModelError(f'loops: actuated: expected a list, got {untrusted_values.shown(actuated)}')
    if not isinstance(near, dict):
        raise ModelError(f'loops: near: expected a table, got {untrusted_values.shown(near)}')
    _check_joints(model, 'actuated', actuated)
    _check_joints(model, 'near', near)
    return with_loops(model, [*own.all, *closures, *couplings], gain, tolerance, actuated, near)


def with_loops_file(model: Model, path: str | Path, following: Collection[str] = ()) -> Model:
    """Return the model with the loops of a file added to its own.

    ``following`` are joints that mimic others in the description. Raises ModelError naming the file, and a joint that
    the description couples, too.
    """
    from robot_dynamics_ros.formats.yaml_files.untrusted_yaml import parsed_yaml  # noqa: PLC0415  (slow to import)

    try:
        content = untrusted_values.table('the file', parsed_yaml(read_text(path)), ('loops',), needed=('loops',))
        coupled = {*following, *(coupling.joint for coupling in model.loops.couplings)}
        section = content['loops']
        couplings = section.get('couplings', []) if isinstance(section, Mapping) else []
        for row in couplings if isinstance(couplings, list) else []:
            joint = row.get('joint') if isinstance(row, Mapping) else None
            if isinstance(joint, str) and joint in coupled:
                raise ModelError(
                    f'coupling of joint {joint!r}: the description couples this joint, too, such as by <mimic>; state '
                    'it in one of them'
                )
        return with_loops_read(model, section)
    except ModelError as error:
        raise ModelError(f'{path}: {error}') from error


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
    poses = {side: _pose(f'{where}: {side}', row[side]) for side in ('pose_a', 'pose_b') if side in row}
    return LoopClosure(**{**row, **poses})


def _pose(where: str, value):
    """Return the pose (4, 4; m) of a table with xyz and rpy; another value as it is, to be checked as a matrix."""
    if not isinstance(value, Mapping):
        return value
    table = untrusted_values.table(where, value, ('xyz', 'rpy'))
    pose = np.eye(4)
    pose[:3, :3] = from_rpy(*untrusted_values.array(f'{where}: rpy', table.get('rpy', [0.0, 0.0, 0.0]), (3,)))
    pose[:3, 3] = untrusted_values.array(f'{where}: xyz', table.get('xyz', [0.0, 0.0, 0.0]), (3,))
    return pose


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
