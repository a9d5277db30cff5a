"""Models with other inertial parameters, friction or rotor inertias, such as those of an identification."""

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.audit import audit_inertial, audit_model, audited
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.model.model import Finding, Friction, Model


def with_inertial_parameters(model: Model, rows: np.ndarray) -> Model:
    """Return the model with ten parameters (n, 10) for each link that moves, and the findings on them."""
    inertias = model.arrays.I.copy()  # row by row in memory, as kernels read it
    inertias[1:] = rows
    found: list[Finding] = []
    for link, row in zip(model.link_names[1:], rows, strict=True):
        mass, _, inertia = central_parameters(row)
        found.extend(audit_inertial(link, mass, inertia))
    outdated = set(audit_model(model))
    kept = (it for it in model.findings if it not in outdated and not _is_on_moving_inertial(model, it))
    return audited(replace(model, arrays=model.arrays._replace(I=inertias)), (*kept, *found))


def with_friction(model: Model, columns: dict[str, np.ndarray]) -> Model:
    """Return the model with fields of ``Friction`` replaced by ``columns``, (nv,) each; ArgumentError naming one."""
    unknown = [field for field in columns if field not in Friction._fields]
    if unknown:
        raise ArgumentError(f'friction: no term {unknown[0]!r}; there are {", ".join(Friction._fields)}')
    for field, column in columns.items():
        positive = field in ('transition', 'stribeck_velocity')
        wrong = np.flatnonzero(column <= 0.0 if positive else (field != 'offset') & (column < 0.0))
        if len(wrong):
            joint, least = model.joint_of_velocity(int(wrong[0])), 'above 0' if positive else 'at least 0'
            raise ArgumentError(f'{field} of joint {joint!r}: expected {least}, got {column[wrong[0]]:g}')
    return _audited_again(model, replace(model, friction=model.friction._replace(**columns)))


def with_limits(model: Model, columns: dict[str, np.ndarray]) -> Model:
    """Return the model with fields of ``JointLimits`` replaced by ``columns``; ArgumentError naming one and the joint.

    Lower and upper ones are (nq,), the others (nv,); infinite ones are no limits.
    """
    limits = model.limits._replace(**columns)
    with np.errstate(invalid='ignore'):
        crossed = np.flatnonzero(limits.lower > limits.upper)
    if len(crossed):
        k = int(crossed[0])
        raise ArgumentError(
            f'lower of joint {model.joint_of_coordinate(k)!r}: {limits.lower[k]:g} is above upper, {limits.upper[k]:g}'
        )
    for field in ('velocity', 'effort'):
        column = columns.get(field, np.ones(1))
        wrong = np.flatnonzero(~(column > 0.0))
        if len(wrong):
            joint = model.joint_of_velocity(int(wrong[0]))
            raise ArgumentError(f'{field} of joint {joint!r}: expected above 0, got {column[wrong[0]]:g}')
    return _audited_again(model, replace(model, limits=limits))


def with_rotor_inertia(model: Model, rotor: np.ndarray) -> Model:
    """Return the model with these rotor inertias (nv, kg m^2 or kg, reflected); spins change alike."""
    before = model.arrays.rotor[1:]
    # spin = N I_m = rotor / N
    share = np.divide(rotor, before, out=np.ones_like(rotor), where=before > 0.0)
    arrays = model.arrays._replace(
        rotor=np.concatenate([[0.0], rotor]), spin=np.concatenate([[0.0], share * model.arrays.spin[1:]])
    )
    return _audited_again(model, replace(model, arrays=arrays))


def _audited_again(before: Model, changed: Model) -> Model:
    """Return ``changed`` with the findings that it has; those on what a file says stay."""
    outdated = set(audit_model(before))
    return audited(changed, [it for it in before.findings if it not in outdated])


def _is_on_moving_inertial(model: Model, finding: Finding) -> bool:
    """Return whether a finding is on the mass or inertia of a link that moves, links on fixed joints included."""
    moving = {f'link {name!r}' for name, frame in model.frames.items() if frame.link > 0}
    return finding.affects in ('masses', 'inertias') and finding.where in moving
