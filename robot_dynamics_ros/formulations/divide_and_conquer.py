"""Forward dynamics by divide and conquer: articulated bodies are joined in pairs, level by level, then separated.

An assembly is a connected part of the tree. Its handles are the links on which joints to other assemblies act. The
forces of these joints accelerate the handles by a = Phi f + b: Phi has the inverse articulated-body inertias, b the
accelerations due to velocities, torques and wrenches. A joint joins two assemblies to one. The joints of a level are
independent of each other, and a chain of n joints has ceil(log2(n + 1)) levels.

Featherstone 1999, part 1 for chains, part 2 for trees. An assembly of a chain has two handles, whose equations part 1
writes apart; here they are stacked, so that a link, a chain and a branched tree are one case. Motion and force vectors
are those of ``spatial``, in axes of the base, but at the origin of their link: inverse inertias at a distant point lose
digits. Equations with a number are those of Featherstone & Orin 2000. Rotors are added as in ``spatial``.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formulations import spatial
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree, skew
from robot_dynamics_ros.robot import Robot

LEAST_MOMENT = 1e-12
"""Smallest principal moment of inertia over the largest one below which a link has no inverse inertia."""


class Step(NamedTuple):
    """Joint i joins two assemblies; an assembly has the number of its first link."""

    i: int  # joint, and the assembly beyond it
    j: int  # assembly that holds the joint's parent link; 0 for the base
    handles: list[int]  # those of the new assembly


class Assembly(NamedTuple):
    """A connected part of the tree as its k handles see it: a = Phi f + b."""

    handles: list[int]  # (k,)   numbers of the links
    Phi: np.ndarray  # (6k, 6k)  accelerations of the handles per force on them
    b: np.ndarray  # (6k,)       accelerations of the handles without forces on them


class Links(NamedTuple):
    """The links of a tree at q and qd; index 0 is the base."""

    h: list  # (6,)         axis of the joint
    X: list  # (6, 6)       motion vector at the parent's origin -> at the link's origin
    hdot_qd: list  # (6,)   acceleration across the joint for qdd = 0
    free: list[Assembly]  # each link alone


class Joint(NamedTuple):
    """What a joint needs to separate the two assemblies that it joined, whose k handles are stacked."""

    handles: list[int]  # (k,)
    R: np.ndarray  # (6k, 6)    accelerations of the handles per force of the joint
    V: np.ndarray  # (6, 6)     force of the joint per acceleration across it
    beta: np.ndarray  # (6,)    acceleration across the joint that its force causes for qdd = 0 and f = 0
    d: float  # kg m^2, kg      h' V h + rotor, the inertia that the joint accelerates


def forward_dynamics(robot: Robot | KinematicTree, q, qd, tau, tip_wrench=None) -> np.ndarray:
    """Joint accelerations by inverse inertias of assemblies: joined level by level, separated in the reverse order.

    Parameters
    ----------
    robot : Robot
        Revolute and prismatic joints, branches allowed.
    q, qd, tau : array_like, (n,)
        Positions (rad, m), velocities (per s) and joint torques (N m; prismatic joints: N).
    tip_wrench : array_like, (6,), optional
        Moment and force (N m, N) acting on the last link at its frame's origin, in axes of the base.

    Returns
    -------
    ndarray, (n,)
        rad/s^2 (prismatic joints: m/s^2).

    Raises
    ------
    ModelError
        For a joint of another type, and for a link without mass or without rotational inertia about some axis.
    ArgumentError
        For a vector of wrong shape or with NaN or inf.

    References
    ----------
    Featherstone 1999, parts 1 and 2.
    """
    tree = KinematicTree.of(robot, 'divide and conquer', serial=False)
    q, qd, tau, wrench = tree.arguments(tip_wrench, q=q, qd=qd, tau=tau)
    steps_of_levels, links = levels(tree), links_at(tree, q, qd, wrench)
    joints, assemblies = {}, list(links.free)
    for steps in steps_of_levels:
        for step in steps:
            i, j, _ = step
            joints[i], assemblies[j or i] = join(tree, links, assemblies, step, tau[i - 1])
    # f: forces on each link, of the joints that are separated
    qdd, f = np.zeros(tree.n), np.zeros((tree.n + 1, 6))
    for steps in reversed(steps_of_levels):
        for i, _, _ in steps:
            handles, R, V, beta, d = joints[i]
            h = links.h[i]
            # V^-1 f_i = h qdd + g, and h' f_i = tau - rotor qdd
            g = beta - R.T @ f[handles].ravel()
            qdd[i - 1] = (tau[i - 1] - h @ V @ g) / d
            f_i = V @ (h * qdd[i - 1] + g)
            f[i] += f_i
            f[tree.parent[i]] -= links.X[i].T @ f_i
    return qdd


def levels(tree: KinematicTree) -> list[list[Step]]:
    """Return the steps of each level, which are independent of each other.

    An assembly takes part in one step of a level, which joins it to the one above if nothing is beyond it, or if the
    one above has nothing else beyond. So it has at most two handles: its first link and one other. The base does not
    move and connects nothing: each joint on it has a base of its own.
    """
    N, parent = tree.n, tree.parent
    # by link the first link of its assembly; by first link the handles
    first, handles = list(range(N + 1)), [[i] for i in range(N + 1)]
    waiting, found = set(range(1, N + 1)), []
    while waiting:
        beyond: list[list[int]] = [[] for _ in range(N + 1)]
        for i in waiting:
            beyond[first[parent[i]]].append(i)
        above: dict[int, int] = {}
        used: set[int] = set()
        # from the tips to the base
        for i in sorted(waiting, reverse=True):
            j = first[parent[i]]
            if not used & {i, j} and (j == 0 or not beyond[i] or beyond[j] == [i]):
                above[i] = j
                used |= {i, j} - {0}
        waiting -= above.keys()
        needed = waiting | {parent[k] for k in waiting} - {0}
        steps = [Step(i, j, [k for k in handles[j] + handles[i] if k in needed]) for i, j in above.items()]
        for i, j, remaining in steps:
            handles[j or i] = remaining
        first = [above.get(j) or j for j in first]
        found.append(steps)
    return found


def links_at(tree: KinematicTree, q, qd, wrench) -> Links:
    """Return the links at q, qd (n,), with ``wrench`` (6,) on the last one; joints do not connect them yet.

    Positions and velocities are computed from the base to the tips, eq. 3. They are sums along the tree, which need
    log(n) levels, too, with a processor for each link.
    """
    rotation, v = [np.eye(3)], [np.zeros(6)]
    # any force accelerates the base by -g
    base = Assembly([0], np.zeros((6, 6)), spatial.base_acceleration(tree))
    links = Links([np.zeros(6)], [np.eye(6)], [np.zeros(6)], [base])
    for i in range(1, tree.n + 1):
        parent = tree.parent[i]
        R, r = tree.placement(i, q[i - 1])
        R, r = rotation[parent] @ R, rotation[parent] @ r
        z = R @ tree.axis[i]
        h = np.concatenate([z, np.zeros(3)] if tree.revolute[i] else [np.zeros(3), z])
        X = np.block([[np.eye(3), np.zeros((3, 3))], [-skew(r), np.eye(3)]])
        rotation.append(R)
        v.append(X @ v[parent] + h * qd[i - 1])
        links.h.append(h)
        links.X.append(X)
        links.hdot_qd.append(spatial.motion_cross(v[i]) @ h * qd[i - 1])
        # I a + v x I v = f + f_x
        I = spatial.spatial_inertia(tree.mass[i], R @ tree.com[i], R @ tree.inertia[i] @ R.T)
        _check_inertia(tree, i)
        Phi, f_x = np.linalg.inv(I), wrench if i == tree.n else np.zeros(6)
        links.free.append(Assembly([i], Phi, Phi @ (f_x - spatial.force_cross(v[i]) @ I @ v[i])))
    return links


def join(
    tree: KinematicTree, links: Links, assemblies: list[Assembly], step: Step, tau: float
) -> tuple[Joint, Assembly]:
    """Return the joint of a step and the assembly that it makes; ``tau`` is its torque (N m, N).

    Phi, b of both assemblies are stacked. The joint's force f_i acts on link i, -X' f_i on its parent: E f_i in all.
    """
    i, j, remaining = step
    above, below = assemblies[j], assemblies[i]
    handles, h = above.handles + below.handles, links.h[i]
    k = 6 * len(above.handles)
    Phi, b = np.zeros((6 * len(handles), 6 * len(handles))), np.concatenate([above.b, below.b])
    Phi[:k, :k], Phi[k:, k:] = above.Phi, below.Phi
    on_links = {i: np.eye(6), tree.parent[i]: -links.X[i].T}
    E = np.concatenate([on_links.get(link, np.zeros((6, 6))) for link in handles])
    # a = Phi f + R f_i + b, and across the joint E' a = h qdd + hdot qd: V^-1 f_i = h qdd + beta - R' f
    R = Phi @ E
    V, beta = np.linalg.inv(E.T @ R), links.hdot_qd[i] - E.T @ b
    # h' f_i + rotor qdd = tau: f_i = W (beta - R' f) + V h tau / d
    d = h @ V @ h + tree.rotor[i]
    W = V - np.outer(V @ h, h @ V) / d
    Phi, b = Phi - R @ W @ R.T, b + R @ (W @ beta + V @ h * (tau / d))
    kept = np.repeat([link in remaining for link in handles], 6)
    return Joint(handles, R, V, beta, d), Assembly(remaining, Phi[np.ix_(kept, kept)], b[kept])


def _check_inertia(tree: KinematicTree, i: int) -> None:
    """Raise ModelError for a link ``i`` whose inertia has no inverse; its joint is named."""
    moments = np.linalg.eigvalsh(tree.inertia[i])
    if not (tree.mass[i] > 0.0 and moments[0] > LEAST_MOMENT * moments[2]):
        what = 'rotational inertia about every axis' if tree.mass[i] > 0.0 else 'mass'
        raise ModelError(f'divide and conquer: the link of joint {tree.names[i]!r} has no {what}')
