"""Signs that a tree is a mechanism whose loops are cut, where nothing in its description says so."""

from collections.abc import Iterator

import numpy as np

from robot_dynamics_ros.model.linear_algebra import cross, dot, product
from robot_dynamics_ros.model.model import Finding, Model

PARALLEL = 1e-6
"""Largest difference of two parallel unit vectors: axes are printed with six decimals."""
IN_PLANE = 1e-3
"""m along the axes between two hinges of one plane: fingers that are beside each other are farther apart."""
_STATE_THEM = 'state the loops in a loops file, else the torques are those of a tree'


def planar_branches(model: Model) -> Iterator[Finding]:
    """Yield a finding for each link from which hinges of one plane branch off, as those of a linkage do.

    A palletizer whose pins are cut is such a tree. Joints that follow others count as little as wheels, which turn
    without limits and carry no joint, or legs that do not stay in the plane. None is yielded for a model with closures.
    """
    if model.loops.closures:
        return
    joints, following = model.joints, {coupling.joint for coupling in model.loops.couplings}
    carries: dict[str, list[int]] = {link: [] for link in model.link_names}
    for k, joint in enumerate(joints):
        carries[joint.parent].append(k)
    for link, places in carries.items():
        found: list[int] = []
        for k in places:
            is_wheel = not carries[joints[k].link] and not np.isfinite([joints[k].lower, joints[k].upper]).any()
            if joints[k].kind == 'revolute' and joints[k].name not in following and not is_wheel:
                found.append(k)
        names = [joints[k].name for k in found if any(_share_a_plane(model, k, other) for other in found if other != k)]
        if any(_stays_in_plane(model, k, carries) for k in found if joints[k].name in names):
            message = (
                f'{", ".join(names)} turn in one plane, as the branches of a palletizer or a linkage do: where pins '
                f'join these again, {_STATE_THEM}'
            )
            yield Finding('warning', f'link {link!r}', message)


def joints_without_effort(model: Model) -> Iterator[Finding]:
    """Yield a finding on joints of a tree whose effort limit is unknown, where that of others is known."""
    following = {coupling.joint for coupling in model.loops.couplings}
    single = [joint for joint in model.joints if joint.kind in ('revolute', 'prismatic')]
    without = [it.name for it in single if not it.effort > 0.0 and it.name not in following]
    if model.loops.closures or len(without) == len(single) or not without:
        return
    message = f'unlike for the other joints, no effort limit is known for {", ".join(without)}: where these have no '
    yield Finding('warning', f'robot {model.name!r}', f'{message}motor and loops move them, {_STATE_THEM}')


def _share_a_plane(model: Model, one: int, other: int) -> bool:
    """Return whether two hinges of the same link have parallel axes and their origins in a plane across them."""
    a, b = model.joints[one], model.joints[other]
    axis = product(a.rotation, a.axis)
    if np.abs(cross(axis, product(b.rotation, b.axis))).max() > PARALLEL:
        return False
    return abs(dot(axis, b.origin - a.origin)) < IN_PLANE


def _stays_in_plane(model: Model, first: int, carries: dict[str, list[int]]) -> bool:
    """Return whether all hinges that a hinge carries are parallel to it, at position 0."""
    joints = model.joints
    reached: list[tuple[int, np.ndarray]] = [(first, joints[first].axis)]
    while reached:
        k, axis = reached.pop()
        for carried in carries[joints[k].link]:
            here = product(joints[carried].rotation.T, axis)
            if joints[carried].kind != 'revolute' or np.abs(cross(joints[carried].axis, here)).max() > PARALLEL:
                return False
            reached.append((carried, here))
    return True
