"""What the loops of a robot close, how many degrees of freedom they leave, and whether its motors fit."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.model.closed_loops.loop_types import COMPONENTS
from robot_dynamics_ros.model.closed_loops.loops import last_common_link
from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

RANDOM_STARTS = 8
"""Positions, beside 0 and the middle of the limits, from which loops are closed: one of them may be singular."""
REACH = 1.0
"""rad, m: distance from position 0 of those of joints without limits."""


WIDE_OPEN = 0.05
"""rad, m: a loop that is more open than this at positions near which it is said to be closed may have a wrong pose."""


class LoopRow(NamedTuple):
    """One loop of a robot."""

    name: str  # of the closure, or of the joint that is coupled
    kind: str  # of the closure, or 'coupling'
    ends: tuple[str, str]  # links that are held together, or joints
    constraints: int
    opening: float  # rad or m, largest error at the stated position; NaN where frames are turned by half a turn
    joints: tuple[str, ...]  # that move in the loop
    actuated: tuple[str, ...]  # of them, with a motor


def loop_rows(robot: Robot) -> Iterator[LoopRow]:
    """Yield closures and couplings of a robot in the order of their constraints."""
    loops, errors = robot.loops, _errors(robot)
    counts = [*(len(COMPONENTS[it.kind]) for it in loops.closures), *(1 for _ in loops.couplings)]
    ends = np.cumsum(counts)
    openings = [float(errors[end - count : end].max()) for end, count in zip(ends, counts, strict=True)]
    for c, closure in enumerate(loops.closures):
        joints = joints_between(robot, str(closure.link_a), str(closure.link_b))
        links = str(closure.link_a), str(closure.link_b)
        yield LoopRow(
            closure.name, closure.kind, links, counts[c], openings[c], joints, _driven(joints, loops.actuated)
        )
    for coupling, opening in zip(loops.couplings, openings[len(loops.closures) :], strict=True):
        joints = tuple(joint for joint in (coupling.joint, coupling.other) if joint is not None)
        pair = coupling.joint, coupling.other or 'a constant'
        yield LoopRow(coupling.joint, 'coupling', pair, 1, opening, joints, _driven(joints, loops.actuated))


def stated_position(robot: Robot) -> np.ndarray:
    """Return the positions (nq; rad, m) near which loops are said to be closed, 0 where nothing is said."""
    q, names = robot.neutral(), [robot.model.joint_of_coordinate(k) for k in range(robot.nq)]
    for joint, position in robot.loops.near.items():
        q[names.index(joint)] = position
    return q


def effective_mobility(robot: Robot) -> int | None:
    """Return the least mobility at positions with closed loops, without those of a free base; None if none is found.

    At a singular position, such as that of a flat parallelogram, the mobility is larger.
    """
    found: list[int] = []
    for start in _starts(robot):
        try:
            found.append(int(robot.mobility(robot.close_loops(start).q)))
        except DynamicsError:  # not from here, or a link that moves has no mass
            continue
    floating = sum(len(KINDS[kind].velocities) for kind in robot.model.joint_kinds if kind == 'free')
    return min(found) - floating if found else None


def motor_findings(robot: Robot) -> Iterator[Finding]:
    """Yield a finding where the joints with a motor of a robot with closures do not fit its degrees of freedom."""
    if not robot.loops.closures:
        return
    where, freedom, motors = f'robot {robot.name!r}', effective_mobility(robot), robot.loops.actuated
    if freedom is None:
        message = (
            'its loops cannot be closed near position 0, or a link that moves has no mass: the degrees of freedom are '
            'unknown; check poses and links of the loops'
        )
        yield Finding('warning', where, message)
        return
    leave = f'its loops leave {freedom} degree{"" if freedom == 1 else "s"} of freedom'
    have = f'{len(motors)} joint{" has" if len(motors) == 1 else "s have"} a motor ({", ".join(motors)})'
    if not freedom:
        message = (
            f"{leave}: it cannot move; in a planar mechanism take the kind 'planar_point', or a larger tolerance where "
            'axes are rounded'
        )
    elif not motors:
        message = (
            f'{leave}, and nothing says which joints have a motor: state {freedom} of them as actuated in a loops '
            'file, or a <transmission> or command interface of each in the URDF, an <actuator> in the MJCF'
        )
    elif len(motors) < freedom:
        message = f'{leave}, and {have}: {freedom - len(motors)} of the motions have none; a loop or a motor is missing'
    elif len(motors) > freedom:
        message = (
            f'{leave}, and {have}: {len(motors) - freedom} more than that; the positions of these joints depend on '
            'each other'
        )
    else:
        return
    yield Finding('warning', where, message)


def opening_findings(robot: Robot) -> Iterator[Finding]:
    """Yield a finding for each loop that is wide open at the stated positions near which it is said to be closed."""
    for row in loop_rows(robot) if robot.loops.near else ():
        if row.opening > WIDE_OPEN:
            message = (
                f'it is open by {row.opening:.2g} rad or m at the positions near which it is said to be closed: check '
                'these positions (near), and the poses of the loop'
            )
            yield Finding('warning', f'loop {row.name!r}', message)


def _starts(robot: Robot) -> Iterator[np.ndarray]:
    """Yield positions (nq,) from which loops are closed: as stated, the middle of the limits, random ones between."""
    yield stated_position(robot)
    single = all(KINDS[kind].coordinates == 1 for kind in robot.model.joint_kinds)
    rng = np.random.default_rng(0)
    if not single:
        for _ in range(RANDOM_STARTS):
            yield robot.integrate(robot.neutral(), 0.3 * REACH * rng.uniform(-1.0, 1.0, robot.nv))
        return
    lower = np.where(np.isfinite(robot.limits.lower), robot.limits.lower, -REACH)
    upper = np.where(np.isfinite(robot.limits.upper), robot.limits.upper, REACH)
    yield (lower + upper) / 2.0
    for _ in range(RANDOM_STARTS):
        yield rng.uniform(np.minimum(lower, upper), np.maximum(lower, upper))


def _errors(robot: Robot) -> np.ndarray:
    """Return the magnitudes of the errors of loops at the stated position (m,), NaN where they have none."""
    try:
        return np.abs(robot.loop_errors(stated_position(robot)))
    except DynamicsError:
        return np.full(robot.model.arrays.constraints, np.nan)


def joints_between(robot: Robot, a: str, b: str) -> tuple[str, ...]:
    """Return the joints between two links or frames, in the order of the robot."""
    arrays = robot.model.arrays
    ends = [robot.model.frame(link).link for link in (a, b)]
    common, found = last_common_link(arrays, *ends), set()
    for end in ends:
        i = end
        while i != common:
            found.add(i)
            i = int(arrays.parent[i])
    return tuple(robot.joint_names[i - 1] for i in sorted(found))


def _driven(joints: tuple[str, ...], actuated: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of the joints that have a motor."""
    return tuple(joint for joint in joints if joint in actuated)
