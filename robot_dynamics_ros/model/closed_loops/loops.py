"""Closed loops of a robot: closures that hold frames of two links together, and couplings of two joints.

The joints of the model are those of a spanning tree; a closure stands for each joint that is not in it (Featherstone &
Orin 2000, section 3.4).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError, alternatives
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.closed_loops.loop_audit import audit_loops
from robot_dynamics_ros.model.closed_loops.loop_types import (
    COMPONENTS,
    GAIN,
    LARGEST_TOLERANCE,
    LEAST_TOLERANCE,
    TOLERANCE,
    Coupling,
    LoopClosure,
    Loops,
)
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import Model

MOST_CONSTRAINTS = 1000
"""Of all loops together: their matrix needs 8 MB then."""
LARGEST_POLYNOMIAL = 5
"""Coefficients of a coupling, as in MJCF."""


def with_loops(
    model: Model,
    loops: Iterable[LoopClosure | Coupling],
    gain: float = GAIN,
    tolerance: float = TOLERANCE,
    actuated: Iterable[str] = (),
    near: Mapping[str, float] | None = None,
) -> Model:
    """Return the model with these loops in place of its own.

    ``gain`` (1/s) is that of ``forward_dynamics``: errors decay with exp(-gain t). ``tolerance`` is the share of its
    effect up to which a constraint counts as dependent on those before it, see ``kernels.closed_loops.multipliers``.
    Findings name closures with such a constraint that rounding of axes leaves, see ``loop_audit``. ``actuated`` are
    joints with a motor, in the order of the model afterwards, and loops are closed ``near`` these positions by
    joint (rad, m). Raises ArgumentError
    for anything that is no loop, UnknownNameError naming a closure whose link does not exist, and ModelError naming a
    loop that is wrong, such as a coupling whose joint does not exist.
    """
    try:
        given = list(loops)
    except TypeError:
        raise ArgumentError(f'loops: expected a list, got {untrusted_values.shown(loops)}') from None
    for loop in given:
        if not isinstance(loop, LoopClosure | Coupling):
            raise ArgumentError(f'loops: expected a LoopClosure or a Coupling, got {untrusted_values.shown(loop)}')
    found = Loops(
        tuple(checked_closure(model, loop) for loop in given if isinstance(loop, LoopClosure)),
        tuple(checked_coupling(model, loop) for loop in given if isinstance(loop, Coupling)),
        untrusted_values.number('gain', gain, least=0.0),
        untrusted_values.number('tolerance', tolerance, least=LEAST_TOLERANCE, most=LARGEST_TOLERANCE),
        _actuated(model, actuated),
        _near(model, {} if near is None else near),
    )
    names = [closure.name for closure in found.closures]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f'loop {name!r}: the name occurs twice')
    joints = [coupling.joint for coupling in found.couplings]
    for joint in joints:
        if joints.count(joint) > 1:
            raise ModelError(f'coupling of joint {joint!r}: the joint has two couplings')
    arrays = _arrays(model, found)
    if arrays.constraints > MOST_CONSTRAINTS:
        raise ModelError(f'loops: {arrays.constraints} constraints; expected up to {MOST_CONSTRAINTS}')
    before = set(audit_loops(model))
    closed = replace(model, arrays=arrays, loops=found)
    kept = (finding for finding in model.findings if finding not in before)
    return replace(closed, findings=(*kept, *audit_loops(closed)))


def check_tree(model: Model, name: str) -> None:
    """Raise ModelError naming a loop of a model with closed loops, which ``name`` cannot take into account."""
    for row_name in model.loops.constraint_names[:1]:
        driven = '; compute with the joints that others mimic: control.arm.driven_robot.in_driven_joints'
        raise ModelError(
            f'{name}: not available for {model.name}, which has closed loops: {row_name}'
            + (driven if model.loops.are_mimic_joints else '')
        )


def _actuated(model: Model, joints) -> tuple[str, ...]:
    """Return the names of joints with a motor in the order of the model; UnknownNameError, ModelError for wrong ones.

    Each has one coordinate and one velocity.
    """
    if isinstance(joints, str) or not isinstance(joints, Iterable):
        raise ArgumentError(f'actuated: expected a list of joint names, got {untrusted_values.shown(joints)}')
    given = list(joints)
    for joint in given:
        _check_of_one_coordinate(model, 'actuated', joint)
        if given.count(joint) > 1:
            raise ModelError(f'actuated: joint {joint!r} occurs twice')
    return tuple(name for name in model.joint_names if name in given)


def _near(model: Model, positions) -> dict[str, float]:
    """Return positions by joint; UnknownNameError, ModelError naming a joint that has none."""
    if not isinstance(positions, Mapping):
        raise ArgumentError(f'near: expected positions by joint, got {untrusted_values.shown(positions)}')
    for joint in positions:
        _check_of_one_coordinate(model, 'near', joint)
    return {joint: untrusted_values.number(f'near: joint {joint!r}', it) for joint, it in positions.items()}


def _check_of_one_coordinate(model: Model, where: str, joint) -> None:
    if not isinstance(joint, str) or joint not in model.joint_names:
        known = alternatives(joint, model.joint_names)
        raise UnknownNameError(f'{where}: no joint {untrusted_values.shown(joint)}; {known}')
    kind = model.joint_kinds[model.joint_names.index(joint)]
    if KINDS[kind].coordinates != 1:
        raise ModelError(f'{where}: joint {joint!r} is {kind}; expected a joint of one coordinate')


def checked_closure(model: Model, loop: LoopClosure) -> LoopClosure:
    """Return a closure with checked entries, its base named; UnknownNameError or ModelError naming what is wrong."""
    where = f'loop {untrusted_values.name("loops: name", loop.name)!r}'
    base = model.link_names[0]
    kind = untrusted_values.choice(f'{where}: kind', loop.kind, tuple(COMPONENTS))
    link_a, link_b = (base if link is None else link for link in (loop.link_a, loop.link_b))
    for side, link in (('link_a', link_a), ('link_b', link_b)):
        if not isinstance(link, str) or link not in model.frames:
            known = alternatives(link, model.frames)
            raise UnknownNameError(f'{where}: {side}: no link {untrusted_values.shown(link)}; {known}')
    if model.frame(link_a).link == model.frame(link_b).link:
        raise ModelError(f'{where}: {link_a!r} and {link_b!r} are one rigid body')
    forces = {
        'stiffness': untrusted_values.number(f'{where}: stiffness', loop.stiffness, least=0.0),
        'damping': untrusted_values.number(f'{where}: damping', loop.damping, least=0.0),
        'rest': untrusted_values.number(f'{where}: rest', loop.rest),
    }
    if kind != 'revolute' and any(forces.values()):
        raise ModelError(f'{where}: stiffness, damping and rest are of revolute closures only, not of a {kind}')
    if abs(forces['rest']) > np.pi:
        raise ModelError(f'{where}: rest: expected an angle between -pi and pi, got {forces["rest"]:g}')
    pose_a, pose_b = (untrusted_values.pose(f'{where}: {side}', getattr(loop, side)) for side in ('pose_a', 'pose_b'))
    return LoopClosure(loop.name, link_a, pose_a, link_b, pose_b, kind, **forces)


def checked_coupling(model: Model, loop: Coupling) -> Coupling:
    """Return a coupling with checked entries; ModelError naming the joint and what is wrong."""
    where = f'coupling of joint {untrusted_values.shown(loop.joint)}'
    for joint in (loop.joint, loop.other):
        if joint is None and joint is not loop.joint:
            continue
        if joint not in model.joint_names:
            known = alternatives(joint, model.joint_names)
            raise ModelError(f'{where}: no joint {untrusted_values.shown(joint)}; {known}')
        kind = model.joint_kinds[model.joint_names.index(joint)]
        if KINDS[kind].coordinates != 1:
            raise ModelError(f'{where}: joint {joint!r} is {kind}; expected a joint of one coordinate')
    if loop.joint == loop.other:
        raise ModelError(f'{where}: it is coupled to itself')
    coefficients = np.atleast_1d(np.asarray(loop.polynomial, object)).tolist()
    if not 0 < len(coefficients) <= LARGEST_POLYNOMIAL:
        raise ModelError(f'{where}: polynomial: expected 1 to {LARGEST_POLYNOMIAL} numbers, got {len(coefficients)}')
    polynomial = untrusted_values.array(f'{where}: polynomial', coefficients, (len(coefficients),))
    if loop.other is None and polynomial[1:].any():
        raise ModelError(f'{where}: polynomial: expected a constant without another joint')
    return Coupling(loop.joint, loop.other, tuple(polynomial.tolist()))


def _arrays(model: Model, loops: Loops) -> ModelArrays:
    """Return the arrays of the model with those of loops."""
    closures, couplings, arrays = loops.closures, loops.couplings, model.arrays
    count = len(closures)
    links, R, p = np.zeros((count, 3), np.int64), np.zeros((count, 2, 3, 3)), np.zeros((count, 2, 3))
    for c, closure in enumerate(closures):
        for side, (link, pose) in enumerate(((closure.link_a, closure.pose_a), (closure.link_b, closure.pose_b))):
            frame = model.frame(str(link))
            in_link = product(frame.pose, pose)
            links[c, side], R[c, side], p[c, side] = frame.link, in_link[:3, :3], in_link[:3, 3]
        links[c, 2] = last_common_link(arrays, *links[c, :2])
    constrained = [(c, component) for c, closure in enumerate(closures) for component in COMPONENTS[closure.kind]]
    coupled = [(*_place(model, it.joint), *_place(model, it.other)) for it in couplings]
    polynomial = np.zeros((len(couplings), LARGEST_POLYNOMIAL))
    for k, it in enumerate(couplings):
        polynomial[k, : len(it.polynomial)] = it.polynomial
    sprung = [c for c, closure in enumerate(closures) if closure.stiffness or closure.damping]
    spring = [(closures[c].stiffness, closures[c].damping, closures[c].rest) for c in sprung]
    return arrays._replace(
        loop_link=links,
        loop_R=R,
        loop_p=p,
        constrained=np.array(constrained, np.int64).reshape(-1, 2),
        coupled=np.array(coupled, np.int64).reshape(-1, 6),
        polynomial=polynomial,
        sprung=np.array(sprung, np.int64),
        spring=np.array(spring, float).reshape(-1, 3),
        # as in a model that never had loops
        loop_gain=np.array([loops.gain if closures or couplings else 0.0]),
        loop_tolerance=np.array([loops.tolerance if closures or couplings else 0.0]),
    )


def _place(model: Model, joint: str | None) -> tuple[int, int, int]:
    """Return velocity (0: none), index in q and link of a joint of one coordinate."""
    if joint is None:
        return 0, 0, 0
    i, arrays = model.joint_names.index(joint) + 1, model.arrays
    coordinate = arrays.angle[i] if arrays.angle[i] >= 0 else arrays.slide[i]
    return int(arrays.first[i]), int(coordinate), i


def last_common_link(arrays: ModelArrays, a: int, b: int) -> int:
    """Return the number of the last link that is an ancestor of both links, or one of them."""
    while a != b:
        a, b = (int(arrays.parent[a]), b) if a > b else (a, int(arrays.parent[b]))
    return a
