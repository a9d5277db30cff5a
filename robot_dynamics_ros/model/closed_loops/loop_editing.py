"""Closed loops of an edited model, after a chain is cut out, joints are locked or a robot is attached.

Closures name frames, and editing keeps the names of all frames of the bodies that it keeps.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling, LoopClosure
from robot_dynamics_ros.model.closed_loops.loops import with_loops
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import Model

CLOSED = 1e-6
"""m, rad: largest error of a loop that locked joints close; their positions may be printed with six decimals."""


def with_loops_of_part(model: Model, part: Model) -> Model:
    """Return ``part`` of ``model`` with the loops whose links or joints are all in the part.

    Raises ModelError naming a loop of which only one side is in the part.
    """
    kept: list[LoopClosure | Coupling] = []
    for loop in model.loops.all:
        ends, known = _ends(loop, part)
        lost = [end for end in ends if end not in known]
        if not lost:
            kept.append(loop)
        elif len(lost) < len(ends):
            end = next(end for end in ends if end in known)
            raise ModelError(f'{_called(loop)}: {end!r} is kept, but {lost[0]!r} is not; remove the loop by with_loops')
    return with_loops(part, kept, model.loops.gain, model.loops.tolerance, *_moving(model, part))


def with_loops_of_both(model: Model, other: Model, prefix: str, joined: Model) -> Model:
    """Return ``joined`` with the loops of both models, ``prefix`` before all names of the other's.

    Gain and tolerance are those of ``model``, or those of the other model if ``model`` has no loops.
    """
    closures = [
        replace(it, name=prefix + it.name, link_a=f'{prefix}{it.link_a}', link_b=f'{prefix}{it.link_b}')
        for it in other.loops.closures
    ]
    couplings = [
        replace(it, joint=prefix + it.joint, other=None if it.other is None else prefix + it.other)
        for it in other.loops.couplings
    ]
    settings = model.loops if model.loops.all else other.loops
    actuated = *model.loops.actuated, *(prefix + joint for joint in other.loops.actuated)
    near = {**model.loops.near, **{prefix + joint: position for joint, position in other.loops.near.items()}}
    loops = [*model.loops.all, *closures, *couplings]
    return with_loops(joined, loops, settings.gain, settings.tolerance, actuated, near)


def with_loops_of_locked(model: Model, locked: Model) -> Model:
    """Return ``locked``, ``model`` with locked joints and those that are coupled to them, with the loops of ``model``.

    Couplings of locked joints are dropped, and a closure within one body where it is closed. Raises ModelError naming a
    closure that is open.
    """
    closures = [closure for closure in model.loops.closures if not _is_within_one_body(locked, closure)]
    couplings = [coupling for coupling in model.loops.couplings if coupling.joint in locked.joint_names]
    return with_loops(locked, [*closures, *couplings], model.loops.gain, model.loops.tolerance, *_moving(model, locked))


def _moving(model: Model, edited: Model) -> tuple[list[str], dict[str, float]]:
    """Return the joints with a motor, and the positions near which loops are closed, of joints that still move."""
    actuated = [joint for joint in model.loops.actuated if joint in edited.joint_names]
    return actuated, {joint: it for joint, it in model.loops.near.items() if joint in edited.joint_names}


def _is_within_one_body(model: Model, closure: LoopClosure) -> bool:
    """Return whether both links of a closure are one rigid body; ModelError if the closure is open there."""
    a, b = (model.frame(str(link)) for link in (closure.link_a, closure.link_b))
    if a.link != b.link:
        return False
    A, B = product(a.pose, closure.pose_a), product(b.pose, closure.pose_b)
    R, p = product(A[:3, :3].T, B[:3, :3]), product(A[:3, :3].T, B[:3, 3] - A[:3, 3])  # of B in A
    errors = {
        'point': p,
        'planar_point': p[:2],
        'weld': np.array([*p, *(R - np.eye(3)).ravel()]),
        'revolute': np.array([*p, *R[:, 2] - np.eye(3)[2]]),
    }
    error = abs(errors[closure.kind]).max()
    if error > CLOSED:
        raise ModelError(f'{_called(closure)}: it is open by {error:.2g} at the positions of the locked joints')
    return True


def coupled_positions(couplings: Iterable[Coupling], positions: Mapping[str, float]) -> dict[str, float]:
    """Return the positions (rad, m) of the joints that are coupled to joints at ``positions`` and are not among them.

    Raises ModelError naming a coupling that is open there, and one that does not determine its other joint.
    """
    left, held = list(couplings), dict(positions)
    # polynomials are inverted where nothing else determines their other joint
    while concerned := [it for it in left if it.other in held] or [it for it in left if it.joint in held]:
        coupling = concerned[0]
        joint, other = coupling.joint, coupling.other
        left.remove(coupling)
        if joint not in held:
            held[joint] = _value(coupling, held[str(other)])
        elif other is None or other in held or not any(coupling.polynomial[1:]):
            _check_closed(coupling, held[joint], held.get(str(other), 0.0))
        else:
            held[other] = _inverse(coupling, held[joint])
    return {joint: x for joint, x in held.items() if joint not in positions}


def _value(coupling: Coupling, x: float) -> float:
    """Return the polynomial at a position x of the other joint."""
    return float(np.polynomial.polynomial.polyval(x, coupling.polynomial))


def _inverse(coupling: Coupling, x: float) -> float:
    """Return the position of the other joint at a position x of the coupled one; ModelError unless there is one."""
    offset, slope, *higher = (*coupling.polynomial, 0.0)
    if slope == 0.0 or any(higher):
        raise ModelError(f'{_called(coupling)}: it does not determine {coupling.other!r}; lock that joint, too')
    return (x - offset) / slope


def _check_closed(coupling: Coupling, q: float, x: float) -> None:
    """Raise ModelError unless the position q of the joint is that of the coupling at x."""
    error = abs(q - _value(coupling, x))
    if error > CLOSED:
        raise ModelError(f'{_called(coupling)}: it is open by {error:.2g} at the positions of the locked joints')


def _ends(loop: LoopClosure | Coupling, model: Model) -> tuple[tuple[str, str], Collection[str]]:
    """Return the names of what a loop connects, and all names of that kind in the model."""
    if isinstance(loop, LoopClosure):
        return (str(loop.link_a), str(loop.link_b)), model.frames
    return (loop.joint, loop.other or loop.joint), model.joint_names


def _called(loop: LoopClosure | Coupling) -> str:
    """Return kind and name of a loop for an error message."""
    return f'loop {loop.name!r}' if isinstance(loop, LoopClosure) else f'coupling of joint {loop.joint!r}'
