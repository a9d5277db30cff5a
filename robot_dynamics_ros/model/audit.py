"""What is physically wrong with a robot description, said as findings: nothing here raises, repairs or drops.

Inertias are judged per link as written, so that a finding names the line to correct; what decides whether the
robot can be simulated at all (moving bodies without inertia) is judged on the bodies that move, fixed links
included.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from robot_dynamics_ros.model.inertial_parameters import central_parameters, symmetric
from robot_dynamics_ros.model.joint_types import KINDS, Joint, directions_of
from robot_dynamics_ros.model.model import Finding, Model

# Vendor files print six decimals. That moves each entry of a 3 x 3 inertia by at most 5e-7 kg m^2, and its
# principal moments by at most three times as much (Weyl's inequality); a smaller violation may be that.
ROUNDING = 1.5e-6  # kg m^2
# The eigenvalue solver's own rounding, relative to the largest moment: up to here a moment counts as zero.
EIGENVALUE_ROUNDING = 1e-12
# A pinhead has fifty times more about its own axis; what is left of a mass that sits on the axis has less.
SMALLEST_AXIS_INERTIA = 1e-12  # kg m^2, kg


def audit_inertial(link: str, mass: float, inertia: np.ndarray) -> Iterator[Finding]:
    """Yield what is wrong with a link's mass (kg) and inertia about its centre (3, 3; kg m^2), as written."""
    where = f'link {link!r}'
    if mass < 0:
        yield Finding('error', where, f'its mass of {mass:g} kg is negative')
    if not inertia.any():
        if mass > 0:
            yield Finding('warning', where, f'it is a point mass of {mass:g} kg: no inertia about its centre')
        return
    if mass == 0:
        yield Finding('error', where, 'it has an inertia but no mass')
    moments = np.linalg.eigvalsh(inertia)
    shown = ', '.join(f'{moment:.6g}' for moment in moments)
    excess = moments[2] - moments[1] - moments[0]
    if moments[0] <= EIGENVALUE_ROUNDING * abs(moments).max():
        yield Finding(
            'error' if moments[0] < -ROUNDING else 'warning',
            where,
            f'its inertia about the centre is not positive definite: principal moments {shown} kg m^2',
        )
    elif excess > EIGENVALUE_ROUNDING * moments[2]:
        yield Finding(
            'error' if excess > ROUNDING else 'warning',
            where,
            f'its principal moments {shown} kg m^2 break the triangle inequality: no body has them',
        )


def audit_joint(joint: Joint) -> Iterator[Finding]:
    """Yield what is wrong with a joint's limits and friction."""
    if KINDS[joint.kind].coordinates > 1:
        return  # nothing states limits of a joint of several degrees of freedom
    where = f'joint {joint.name!r}'
    unknown = [field for field in ('effort', 'velocity') if np.isnan(getattr(joint, field))]
    if np.isnan(joint.lower) or np.isnan(joint.upper):
        unknown.append('lower/upper')
    if unknown:
        missing = ', '.join(unknown)
        yield Finding('warning', where, f'no limit known for {missing} (zero, negative or missing)')
    if joint.lower > joint.upper:
        yield Finding('error', where, f'its lower limit {joint.lower:g} is above the upper, {joint.upper:g}')
    for figure, value in (
        ('damping', joint.viscous),
        ('friction', joint.coulomb),
        ('Stribeck friction', joint.stribeck),
        ('friction for each unit of torque', joint.load),
    ):
        if value < 0:
            yield Finding('error', where, f'its {figure} of {value:g} is negative: it would drive the joint')


def audit_bodies(joints: Sequence[Joint]) -> Iterator[Finding]:
    """Yield the moving bodies (fixed links included) whose lack of mass or inertia matters."""
    parents = {joint.parent for joint in joints}
    for joint in joints:
        where = f'link {joint.link!r}'
        if joint.link not in parents and _least_moved(joint) + joint.rotor < SMALLEST_AXIS_INERTIA:
            message = f'joint {joint.name!r} moves no inertia and ends its chain: forward dynamics is singular'
            yield Finding('error', where, message)
        elif joint.inertia[0] == 0:
            yield Finding('warning', where, 'it moves, but neither it nor a link fixed to it has a mass')


def _least_moved(joint: Joint) -> float:
    """Return the least inertia (kg m^2, kg) that a joint's link puts in the way of one of the joint's velocities."""
    mass, directions = joint.inertia[0], directions_of(joint)
    turning = np.abs(np.diag(directions @ symmetric(joint.inertia[4:]) @ directions.T))
    turning += abs(mass) * joint.pitch**2
    return min(turning[k] if k < 3 else abs(mass) for k in KINDS[joint.kind].velocities)


def audit_rotors(joints: Sequence[Joint]) -> Iterator[Finding]:
    """Yield the rotors with more inertia about their axis than the moving link that carries them, rotor included."""
    carriers = {joint.link: joint.inertia for joint in joints}
    for joint in joints:
        if joint.spin == 0.0 or joint.parent not in carriers:
            continue
        # I_m = (N I_m)^2 / (N^2 I_m)
        own = joint.spin**2 / joint.rotor if joint.rotor > 0.0 else np.inf
        axis = joint.rotation @ joint.axis
        carried = axis @ central_parameters(carriers[joint.parent])[2] @ axis
        if own > carried + ROUNDING:
            message = f'its rotor has {own:g} kg m^2 about its axis, the link {joint.parent!r} with it only {carried:g}'
            yield Finding('error', f'joint {joint.name!r}', message)


def audit_model(model: Model) -> Iterator[Finding]:
    """Yield what is wrong with a model but for its inertials, which are judged link by link as written.

    The mass of the base is none of it: the base does not move, and no torque depends on it.
    """
    joints = model.joints
    for joint in joints:
        yield from audit_joint(joint)
    yield from audit_bodies(joints)
    yield from audit_rotors(joints)
