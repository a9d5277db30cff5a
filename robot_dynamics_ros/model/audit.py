"""Physical consistency checks of a robot description; they yield findings and never raise or change anything.

Inertials are checked link by link as written, so that a finding names the element to correct. Whether forward dynamics
is regular (moving bodies without inertia) is checked on the moving bodies, links on fixed joints included; so is, by
``judged``, whether an inertial that no body has makes the inertia of a moving body wrong.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.model.closed_loops.loop_audit import audit_loops
from robot_dynamics_ros.model.inertial_parameters import central_parameters, symmetric
from robot_dynamics_ros.model.joint_types import KINDS, Joint, directions_of
from robot_dynamics_ros.model.linear_algebra import dot, product
from robot_dynamics_ros.model.model import Finding, Model

# Six printed decimals change each entry of a 3 x 3 inertia by at most 5e-7 kg m^2 and its principal moments by at most
# three times that (Weyl's inequality). A smaller violation may be rounding.
ROUNDING = 1.5e-6  # kg m^2
# Relative to the largest principal moment: rounding of the eigenvalue solver.
EIGENVALUE_ROUNDING = 1e-12
AFFECTED = ('masses', 'inertias', 'forward dynamics', 'friction', 'limits')
"""What errors make wrong. Gravity torques are computed from masses (and centres of mass) alone."""
MOST_TURNS = 20.0
"""rad, three turns: a larger position limit of a revolute joint is a winch's, or in degrees."""
FULL_TURNS = 720.0
"""Degrees: larger limits stand for none."""
# A pinhead has fifty times more about its own axis; the rounding errors of a mass on the axis are smaller.
SMALLEST_AXIS_INERTIA = 1e-12  # kg m^2, kg


def audit_inertial(link: str, mass: float, inertia: np.ndarray) -> Iterator[Finding]:
    """Yield findings on a link's mass (kg) and its inertia about the centre of mass (3, 3; kg m^2), as written."""
    where = f'link {link!r}'
    if mass < 0:
        yield Finding('error', where, f'its mass of {mass:g} kg is negative', 'masses')
    if not inertia.any():
        if mass > 0:
            yield Finding(
                'warning', where, f'it is a point mass of {mass:g} kg: no inertia about its centre', 'inertias'
            )
        return
    if mass == 0:
        yield Finding('error', where, 'it has an inertia but no mass', 'inertias')
    moments = np.linalg.eigvalsh(inertia)
    shown = ', '.join(f'{moment:.6g}' for moment in moments)
    excess = moments[2] - moments[1] - moments[0]
    if moments[0] <= EIGENVALUE_ROUNDING * abs(moments).max():
        yield Finding(
            'error' if moments[0] < -ROUNDING else 'warning',
            where,
            f'its inertia about the centre is not positive definite: principal moments {shown} kg m^2',
            'inertias',
        )
    elif excess > EIGENVALUE_ROUNDING * moments[2]:
        yield Finding(
            'error' if excess > ROUNDING else 'warning',
            where,
            f'its principal moments {shown} kg m^2 break the triangle inequality: no body has them',
            'inertias',
        )


def audit_joint(joint: Joint) -> Iterator[Finding]:
    """Yield findings on a joint's limits and friction."""
    if KINDS[joint.kind].coordinates > 1:
        return  # joints of several degrees of freedom have no limits
    where = f'joint {joint.name!r}'
    unknown = [field for field in ('effort', 'velocity') if np.isnan(getattr(joint, field))]
    if np.isnan(joint.lower) or np.isnan(joint.upper):
        unknown.append('lower/upper')
    if unknown:
        missing = ', '.join(unknown)
        yield Finding('warning', where, f'no limit known for {missing} (zero, negative or missing)')
    if joint.lower > joint.upper:
        yield Finding('error', where, f'its lower limit {joint.lower:g} is above the upper, {joint.upper:g}', 'limits')
    if joint.kind == 'revolute' and MOST_TURNS < max(abs(joint.lower), abs(joint.upper)) <= FULL_TURNS:
        message = f'its limits {joint.lower:g} and {joint.upper:g} rad are more than three turns: are they degrees?'
        yield Finding('warning', where, message)
    speed = 0.0 if np.isnan(joint.velocity) else joint.velocity
    at_limit = joint.coulomb + joint.viscous * speed + joint.quadratic * speed * speed
    if at_limit > joint.effort:
        message = (
            f'its friction and damping are {at_limit:g} N m (prismatic: N) at its velocity limit, more than its effort '
            f'limit {joint.effort:g}: are they values of a simulation?'
        )
        yield Finding('warning', where, message, 'friction')
    for quantity, value in (
        ('damping', joint.viscous),
        ('friction', joint.coulomb),
        ('Stribeck friction', joint.stribeck),
        ('load-dependent friction', joint.load),
        ('quadratic friction', joint.quadratic),
    ):
        if value < 0:
            yield Finding('error', where, f'its {quantity} of {value:g} is negative: it would add energy', 'friction')


def audit_bodies(joints: Sequence[Joint]) -> Iterator[Finding]:
    """Yield findings on moving bodies (links on fixed joints included) without mass or inertia."""
    parents = {joint.parent for joint in joints}
    for joint in joints:
        where = f'link {joint.link!r}'
        if joint.link not in parents and _smallest_inertia(joint) + joint.rotor < SMALLEST_AXIS_INERTIA:
            message = f'joint {joint.name!r} moves no inertia and ends its chain: forward dynamics is singular'
            yield Finding('error', where, message, 'forward dynamics')
        elif joint.inertia[0] == 0:
            yield Finding('warning', where, 'it moves, but neither it nor a link fixed to it has a mass')


def _smallest_inertia(joint: Joint) -> float:
    """Return the smallest inertia S' I S (kg m^2, kg) of a joint's link over the joint's velocities."""
    mass, directions = joint.inertia[0], directions_of(joint)
    rotational = np.abs(np.diag(product(directions, symmetric(joint.inertia[4:]), directions.T)))
    rotational += abs(mass) * joint.pitch**2
    return min(rotational[k] if k < 3 else abs(mass) for k in KINDS[joint.kind].velocities)


def audit_rotors(joints: Sequence[Joint]) -> Iterator[Finding]:
    """Yield findings on rotors with more inertia about their axis than the moving link that they are mounted on.

    The inertia of that link includes the rotor.
    """
    inertias = {joint.link: joint.inertia for joint in joints}
    for joint in joints:
        if joint.spin == 0.0 or joint.parent not in inertias:
            continue
        # I_m = (N I_m)^2 / (N^2 I_m)
        of_rotor = joint.spin**2 / joint.rotor if joint.rotor > 0.0 else np.inf
        axis = product(joint.rotation, joint.axis)
        of_link = dot(axis, product(central_parameters(inertias[joint.parent])[2], axis))
        if of_rotor > of_link + ROUNDING:
            message = (
                f'its rotor has {of_rotor:g} kg m^2 about its axis, link {joint.parent!r} with it only {of_link:g}'
            )
            yield Finding('error', f'joint {joint.name!r}', message, 'inertias')


def audit_model(model: Model) -> Iterator[Finding]:
    """Yield all findings on a model except those on its inertials, which ``audit_inertial`` checks as written.

    The base's inertia is not checked: the base does not move, and no torque depends on it.
    """
    joints = model.joints
    for joint in joints:
        yield from audit_joint(joint)
    if _has_mass(joints):
        yield from audit_bodies(joints)
    elif joints:
        message = 'no link that moves has a mass: the description lacks its inertials, and no torque can be computed'
        yield Finding('error', f'robot {model.name!r}', message, 'masses')
    yield from audit_rotors(joints)
    yield from audit_loops(model)


def audited(model: Model, written: Iterable[Finding]) -> Model:
    """Return the model with its findings, errors on its masses first; ``written`` are those on what the source says."""
    found = [*written, *audit_model(model)]
    first = [it for it in found if it.severity == 'error' and it.affects == 'masses']
    return replace(model, findings=(*first, *(it for it in found if it not in first)))


def judged(model: Model) -> tuple[Finding, ...]:
    """Return a model's findings, with errors on inertials as warnings where no moving body is impossible by them.

    So it is for a link that is fixed to the base, and for one that is a part of a body whose inertia is that of a body:
    links on fixed joints and locked joints are lumped into the link that moves them.
    """
    bodies = {f'link {name!r}': frame.link for name, frame in model.frames.items()}
    impossible = {body: body > 0 and _is_impossible(model.arrays.I[body]) for body in set(bodies.values())}

    def judge(finding: Finding) -> Finding:
        body = bodies.get(finding.where)
        if finding.severity != 'error' or body is None:
            return finding
        possible = finding.affects == 'inertias' and not impossible[body]
        on_base = finding.affects in ('inertias', 'masses') and body == 0
        return finding._replace(severity='warning') if possible or on_base else finding

    return tuple(judge(finding) for finding in model.findings)


def refusals(findings: Iterable[Finding], needed: Collection[str] = AFFECTED) -> list[Finding]:
    """Return the errors that make something wrong that is ``needed``, of ``AFFECTED``."""
    return [finding for finding in findings if finding.severity == 'error' and finding.affects in needed]


def _has_mass(joints: Sequence[Joint]) -> bool:
    """Return whether a link that moves has a mass."""
    return any(joint.inertia[0] != 0.0 for joint in joints)


def _is_impossible(row: np.ndarray) -> bool:
    """Return whether no body has the inertia of ten parameters (10,), beyond ``ROUNDING``."""
    mass, _, inertia = central_parameters(row)
    if mass <= 0.0:
        return bool(inertia.any())
    moments = np.linalg.eigvalsh(inertia)
    return bool(moments[0] < -ROUNDING or moments[2] - moments[1] - moments[0] > ROUNDING)
