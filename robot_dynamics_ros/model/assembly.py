"""Order in which a tree of links is assembled, for divide-and-conquer algorithms.

An assembly is a connected part of the tree. It has a handle on its first link, the one nearest to the base, and
possibly a second handle on one other link, at which further assemblies are going to be attached. Each joint joins the
assembly that holds the joint's parent link and the one that begins with the joint's link. The order is a property of
the tree: every round joins pairs, leaves first, then neighbours along chains (tree contraction: Miller & Reif 1985). A
chain of n links needs log2(n) rounds and one for the base; a link that carries k leaves needs k rounds for them.
"""

import math
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.jit.kinds import Array3, Integers, Matrix, Vector
from robot_dynamics_ros.model.arrays import LINE, ModelArrays, aligned_zeros
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.model.linear_algebra import product, symmetric_inverse

LEAST_MOMENT = 1e-12
"""Least principal moment of inertia of a link relative to its largest one: a rod without thickness has none."""
PIECES_OF_A_PART = 8
"""Number of pieces of a part of the order, by which parts become equally long."""


class Assembly(NamedTuple):
    """The order of assembly, and the inverse inertia of each link. An assembly has the number of its first link."""

    order: Integers  # (n,) int64         joints: part by part, in each after those that they need; the last part last
    starts: Integers  # (parts + 2,) int64   part k has order[starts[k]:starts[k + 1]]; the last part needs the others
    above: Integers  # (n + 1,) int64     assembly that holds the joint's parent link when it is joined
    alone: Integers  # (n + 1,) int64     1 if the assembly beyond the joint is a single link that was not joined before
    alone_above: Integers  # (n + 1,) int64   the same of the assembly above
    through: Integers  # (n + 1,) int64   1 if the assembly beyond the joint has a second handle, which then remains
    kept: Integers  # (n + 1,) int64      1 if the second handle of the assembly above remains
    level: Integers  # (n + 1,) int64     round in which the joint is joined, from 1; joints of a round are independent
    Phi: Array3  # (n + 1, 6, 6)        inverse of each link's spatial inertia, link frame

    @property
    def parts(self) -> int:
        """Number of parts that are independent of each other."""
        return len(self.starts) - 2

    @classmethod
    def of(cls, arrays: ModelArrays, link_names, parts: int = 1) -> 'Assembly':
        """Return the assembly of a tree, with ``parts`` parts of equal length; results do not depend on them.

        ``arrays`` have the true inertial parameters. Raises ModelError for a link without mass or rotational inertia.
        """
        Phi = _inverse_inertias(arrays.I, link_names)
        rounds = _Rounds(arrays.parent)
        order, starts = _in_parts(rounds, parts)
        of_joints = rounds.above, rounds.alone, rounds.alone_above, rounds.through, rounds.kept, rounds.level
        integers = [np.array(it, np.int64) for it in (order, starts, *of_joints)]
        return cls._make([*integers, Phi])


class AssemblyWorkspace(NamedTuple):
    """Scratch arrays of ``kernels.divide_and_conquer.passes``. Rows of an assembly are those of its first link."""

    E: Array3  # (n + 1, 3, 3)          rotation parent -> link
    r: Matrix  # (n + 1, 3) m           origin of the link in the parent's frame
    R: Array3  # (n + 1, 3, 3)          rotation first link -> link of the second handle
    w_R: Matrix  # (n + 1, 3) rad/s     angular velocity of that link relative to the first one, its frame
    D: Array3  # (n + 1, 3, 3)          rotation first link of the assembly above -> link
    w_D: Matrix  # (n + 1, 3) rad/s     angular velocity relative to that link, link frame
    w: Matrix  # (n + 1, 3) rad/s       angular velocity, link frame
    a: Matrix  # (n + 1, 6)             zeros
    B: Array3  # (n + 1, 3, 3) 1/s^2    w x w x, link frame
    p: Matrix  # (n + 1, 6) N m, N      bias force, link frame
    Phi_11: Array3  # (n + 1, 6, 6)     inverse inertia of the first handle, upper triangle
    Phi_12: Array3  # (n + 1, 6, 6)     acceleration of the first handle per force on the second one
    Phi_22: Array3  # (n + 1, 6, 6)     inverse inertia of the second handle, upper triangle
    b_1: Matrix  # (n + 1, 6)           acceleration of the first handle without forces on the handles
    b_2: Matrix  # (n + 1, 6)           the same of the second one
    L: Array3  # (n + 1, 6, 6)          L D L' of the joint's sum of inverse inertias: L below, D^-1 on the diagonal
    G_1: Array3  # (n + 1, 6, 6)        L^-1 times relative acceleration per force on the first handle
    G_2: Array3  # (n + 1, 6, 6)        the same of the second one, negative
    g: Matrix  # (n + 1, 6)             L^-1 times relative acceleration without forces on the handles
    z: Matrix  # (nv + 1, 6)            L^-1 S
    y: Matrix  # (nv + 1, 6)            z as the joint's velocities before leave it, times D^-1
    h_1: Matrix  # (nv + 1, 6)          y' G_1
    h_2: Matrix  # (nv + 1, 6)          y' G_2
    d: Vector  # (nv + 1,)              articulated inertia along each velocity, rotor included
    u: Vector  # (nv + 1,) N m, N       torque that accelerates the velocity without forces on the handles
    f_1: Matrix  # (n + 1, 6) N m, N    force on the first handle, link frame
    f_2: Matrix  # (n + 1, 6) N m, N    force on the second one, frame of its link
    f_ext: Matrix  # (n + 1, 6) N m, N  external wrench on the link, link frame
    T: Array3  # (n + 1, 4, 4) m        pose of the link in the base frame, for external wrenches

    @classmethod
    def of(cls, model: ModelArrays, dtype=float) -> 'AssemblyWorkspace':
        """Return a workspace of zeros for a model.

        Its arrays are in one piece of memory, so that a large one uses large pages: 10,000 links need 5.2 ms instead
        of 5.7 ms to 12 ms (2026-11-22).
        """
        of_links = [(3, 3), (3,), (3, 3), (3,), (3, 3), (3,), (3,), (6,), (3, 3), (6,), *3 * [(6, 6)], (6,), (6,)]
        of_links += [*3 * [(6, 6)], (6,)]
        shapes = [(model.n + 1, *shape) for shape in of_links]
        shapes += [*4 * [(model.nv + 1, 6)], *2 * [(model.nv + 1,)], *3 * [(model.n + 1, 6)], (model.n + 1, 4, 4)]
        sizes = [math.prod(shape) for shape in shapes]
        begins = np.cumsum([0, *(-(-size // LINE) * LINE for size in sizes)])
        memory = aligned_zeros((int(begins[-1]),), dtype)
        arrays = zip(begins[:-1], sizes, shapes, strict=True)
        return cls(*(memory[begin : begin + size].reshape(shape) for begin, size, shape in arrays))


class _Rounds:
    """Contraction of a tree in rounds, and the assemblies that each joint connects; lists as those of ``Assembly``."""

    def __init__(self, parent):
        """Contract each tree on the base to one assembly, then join it to the base."""
        self._parent = [int(p) for p in parent]
        count = len(self._parent)
        self.above, self.alone, self.alone_above, self.through, self.kept, self.level = ([0] * count for _ in range(6))
        self.joints: list[int] = []
        self.needs: list[list[int]] = [[] for _ in range(count)]
        self._last = [0] * count  # joint that was joined last in each assembly
        # by assembly: assemblies that are attached to its second handle, those of a single handle apart
        self._pending = [0] * count
        self._leaves: list[list[int]] = [[] for _ in range(count)]
        self._holder = list(range(count))  # by link of a second handle: its assembly
        self._handle = list(range(count))  # by assembly: link of its second handle
        self._contract()

    def _contract(self) -> None:
        """Join in rounds until each assembly is one of the base's children; then join these to the base."""
        parent, count = self._parent, len(self._parent)
        self._next: list[set[int]] = [set() for _ in range(count)]  # by link: joints beyond it that are not joined yet
        for i in range(1, count):
            self._next[parent[i]].add(i)
        for i in range(1, count):
            if parent[i] and not self._next[i]:
                self._leaves[parent[i]].append(i)
        inner, level = [i for i in range(1, count) if self._next[i]], 0
        while inner:
            level += 1
            self._round(inner, level)
            inner = [i for i in inner if self._holder[self._handle[i]] == i and self._next[self._handle[i]]]
        for i in range(1, count):
            if not parent[i]:
                self._join(0, i, self.level[self._last[i]] + 1)

    def _round(self, inner: list[int], level: int) -> None:
        """Join pairs of assemblies, of which those of ``inner`` have a second handle; each one at most once."""
        used: set[int] = set()
        ended: list[int] = []
        # leaves, the assemblies farthest from the base first
        for j in reversed(inner):
            leaves = self._leaves[self._handle[j]]
            if leaves and j not in used:
                self._join(j, leaves.pop(0), level)
                used.add(j)
                if not self._next[self._handle[j]]:
                    ended.append(j)
        # chains: the only assembly beyond a second handle
        for j in inner:
            following = self._next[self._handle[j]]
            if j not in used and len(following) == 1:
                (i,) = following
                if i not in used and self._next[self._handle[i]]:
                    self._join(j, i, level)
                    used.update((i, j))
        for j in ended:
            if self._parent[j]:
                self._leaves[self._parent[j]].append(j)

    def _join(self, j: int, i: int, level: int) -> None:
        """Join assembly ``i`` to assembly ``j``, which holds its parent link."""
        self.joints.append(i)
        self.above[i], self.level[i] = j, level
        self.needs[i] = [joint for joint in {self._last[i], self._last[j] if j else 0} if joint]
        self.alone[i], self.alone_above[i] = int(not self._last[i]), int(j > 0 and not self._last[j])
        link = self._handle[j]
        self._next[link].discard(i)
        beyond = self._handle[i]
        self.through[i] = int(bool(self._next[beyond]))
        self.kept[i] = int(j > 0 and bool(self._next[link]))
        self._last[i] = self._last[j] = i
        if self.through[i]:
            self._handle[j] = beyond
            self._holder[beyond] = j


def _in_parts(rounds: _Rounds, parts: int) -> tuple[list[int], list[int]]:
    """Return order and starts of ``parts`` parts and the last one, see ``Assembly``."""
    size = [0] * len(rounds.needs)
    for i in rounds.joints:
        size[i] = 1 + sum(size[joint] for joint in rounds.needs[i])
    pieces = [i for i in rounds.joints if not rounds.above[i]]
    most = len(rounds.joints) / (PIECES_OF_A_PART * parts)
    last: list[int] = []
    # the joints of large pieces that need all others of the piece make the last part
    waiting, pieces = (pieces, []) if parts > 1 else ([], pieces)
    while waiting:
        i = waiting.pop()
        if size[i] > most:
            last.append(i)
            waiting += rounds.needs[i]
        else:
            pieces.append(i)
    own: list[list[int]] = [[] for _ in range(parts)]
    for i in sorted(pieces, key=lambda joint: -size[joint]):
        min(own, key=len).extend(_after_needed(rounds.needs, i))
    last.sort(key=lambda joint: rounds.level[joint])
    order = [joint for part in own for joint in part] + last
    starts = np.cumsum([0, *(len(part) for part in own), len(last)])
    return order, [int(start) for start in starts]


def _after_needed(needs: list[list[int]], root: int) -> list[int]:
    """Return ``root`` and all joints that it needs, each after those that it needs, which follow each other closely."""
    order, waiting = [], [root]
    while waiting:
        i = waiting.pop()
        order.append(i)
        waiting += needs[i]
    return order[::-1]


def _inverse_inertias(inertias: np.ndarray, link_names) -> np.ndarray:
    """Return the inverses (n + 1, 6, 6) of spatial inertias given by ten parameters (n + 1, 10); zero for the base."""
    Phi = np.zeros((len(inertias), 6, 6))
    for i, parameters in enumerate(inertias[1:], start=1):
        mass, com, inertia = central_parameters(parameters) if parameters[0] > 0.0 else (0.0, np.zeros(3), np.eye(3))
        moments = np.linalg.eigvalsh(inertia)
        if not (mass > 0.0 and moments[0] > LEAST_MOMENT * moments[2]):
            what = 'rotational inertia about every axis' if mass > 0.0 else 'mass'
            raise ModelError(f'divide and conquer: link {link_names[i]!r} has no {what}; use another method')
        # alpha = J^-1 (n - c x f),  a = f / m + c x alpha
        P, cx = symmetric_inverse(inertia), np.cross(np.eye(3), com)
        below = product(cx, P)
        Phi[i] = np.block([[P, below.T], [below, np.eye(3) / mass - product(below, cx)]])
    return Phi
