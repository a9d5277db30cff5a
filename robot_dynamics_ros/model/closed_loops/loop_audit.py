"""Check of closed loops: constraints that depend on others only up to the rounding of axes in a description.

All hinges of a planar loop are parallel, and three of the five constraints of its closing hinge have no effect. Axes
that are rounded leave a remainder of them, which is neither an error of arithmetic nor a constraint that was meant.
"""

from collections.abc import Iterator

import numpy as np

from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import Finding, Model
from robot_dynamics_ros.model.rotations import sine_and_cosine

LEAST, MOST = 1e-12, 1e-3
"""Remainders between these, relative to the effect on all joints, are due to rounding in a description.

Arithmetic leaves 1e-15, three decimals of an angle leave some 1e-3, and constraints of mechanisms that move as they
should have 0.005 to 1 (2026-11-23)."""
POSITIONS = (0.9, 2.1)
"""rad. Loops are checked at two positions, open or not: a constraint that depends on others by parallel or intersecting
axes does so at all of them, one of a singular position at that one only."""
DIRECTION = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 0, 7: 1}
"""Component of the velocity of B against A that a constraint of a closure holds, by its component."""


def audit_loops(model: Model) -> Iterator[Finding]:
    """Yield a finding for each closure that has a constraint which depends on its others up to rounding."""
    arrays = model.arrays
    if not len(arrays.loop_link):
        return
    states = [_poses(arrays, first) for first in POSITIONS]
    for c, closure in enumerate(model.loops.closures):
        components = arrays.constrained[arrays.constrained[:, 0] == c, 1]
        remainders = np.array([_remainders(arrays, c, components, *poses) for poses in states]).max(0)
        found = remainders[(remainders > LEAST) & (remainders < MOST)].max(initial=0.0)
        if found:
            tolerance = model.loops.tolerance
            effect = (
                'has no effect, but nodes refuse positions where it is open' if found < tolerance else 'locks a joint'
            )
            message = (
                f'a constraint depends on others up to {found:.1g}, as rounded axes do; it {effect}, since the '
                f'tolerance of with_loops is {tolerance:g}. In a planar mechanism, the kind '
                "'planar_point' leaves such constraints out; else state axes with all digits"
            )
            yield Finding('warning', f'loop {closure.name!r}', message)


def characteristic_length(arrays: ModelArrays) -> float:
    """Return the largest distance of a joint or closure from its link's origin, m; 1 where all are zero."""
    points = np.concatenate([arrays.r0[1:], arrays.loop_p.reshape(-1, 3)])
    return float(_length(points).max(initial=0.0)) or 1.0


def _poses(arrays: ModelArrays, first: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (n + 1, 3, 3) and origin (n + 1, 3) of all links in the base, at an irregular position."""
    R, p = np.tile(np.eye(3), (arrays.n + 1, 1, 1)), np.zeros((arrays.n + 1, 3))
    size = characteristic_length(arrays)
    for i in range(1, arrays.n + 1):
        # no two joints that are near each other have the same position
        x, parent = first + 0.6 * (0.618 * i % 1.0), arrays.parent[i]
        sine, cosine = sine_and_cosine(x if arrays.angle[i] >= 0 else 0.0)
        E = arrays.E0[i] + arrays.Ec[i] * cosine + arrays.Es[i] * sine
        r = arrays.r0[i] + arrays.r1[i, : arrays.slides[i]].sum(0) * (0.5 * size * x)
        R[i] = product(R[parent], E.T)
        p[i] = p[parent] + product(R[parent], r)
    return R, p


def _remainders(arrays: ModelArrays, c: int, components: np.ndarray, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return what is left of each constraint of closure ``c`` after those before it, relative to its whole effect."""
    end = p[arrays.loop_link[c, 1]] + product(R[arrays.loop_link[c, 1]], arrays.loop_p[c, 1])
    velocities, links = [], []
    for side, sign in ((0, -1.0), (1, 1.0)):
        i = arrays.loop_link[c, side]
        while i != arrays.loop_link[c, 2]:
            for k in range(arrays.first[i], arrays.first[i + 1]):
                w, v = product(R[i], arrays.S[k, :3]), product(R[i], arrays.S[k, 3:])
                velocities.append(sign * np.concatenate([w, v + np.cross(w, end - p[i])]))
            links.append(arrays.r0[i])
            i = arrays.parent[i]
    motion, size = np.array(velocities).reshape(-1, 2, 3), _length(np.array([*links, *arrays.loop_p[c]])).max() or 1.0
    # in the axes of A; a slide moves by the length of the loop where a hinge turns by 1 rad
    A = product(R[arrays.loop_link[c, 0]], arrays.loop_R[c, 0])
    motion = product(motion.reshape(-1, 3), A).reshape(-1, 2, 3)
    slides = ~motion[:, 0].any(1)
    motion[:, 1] /= size
    motion[slides] *= size
    turns = (motion[:, 0] ** 2).sum()
    natural = np.sqrt([turns, turns + slides.sum()])
    rows, left = motion.reshape(-1, 6).T, []
    basis: list[np.ndarray] = []
    for component in components:
        direction = DIRECTION[int(component)]
        row = rows[direction].copy()
        for unit in basis:
            row -= unit * (unit * row).sum()
        length, whole = np.sqrt((row * row).sum()), natural[int(direction >= 3)]
        left.append(length / whole if whole else 0.0)
        if left[-1] > MOST:
            basis.append(row / length)
    return np.array(left)


def _length(points: np.ndarray) -> np.ndarray:
    """Return the lengths of vectors (..., 3)."""
    return np.sqrt((points * points).sum(-1))
