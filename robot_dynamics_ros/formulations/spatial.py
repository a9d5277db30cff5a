"""Spatial vectors in base coordinates: RNEA, CRBA and ABA, after Featherstone & Orin 2000, sections 3.1 to 3.3.

A motion vector is (angular, linear), a force vector (moment, force). All of them are at the origin of the base and in
its axes, the paper's absolute coordinates: no transform stands between the links. Symbols are the paper's: h_i is the
axis of joint i, I_i the inertia of link i, lambda(i) = ``tree.parent[i]`` its parent link. Joint i has the entry i - 1
of q, qd, qdd and tau. Trees of revolute and prismatic joints are represented.

The paper has no rotors; here rotor_i qdd_i is added to eq. 8, hence rotor_i to M_ii and to h_i' I_i^A h_i.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree, skew
from robot_dynamics_ros.robot import Robot


class Links(NamedTuple):
    """The links of a tree at q, in base coordinates; index 0 is the base."""

    h: list  # (6,)        axis of the joint
    I: list  # (6, 6)      inertia of the link
    origin: list  # (3,) m   origin of the link's frame


def inverse_dynamics(robot: Robot | KinematicTree, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Joint torques of a motion by the recursive Newton-Euler algorithm: tau = h' f^J + rotor qdd.

    Parameters
    ----------
    robot : Robot
        Revolute and prismatic joints, branches allowed.
    q, qd, qdd : array_like, (n,)
        Positions (rad, m), velocities and accelerations (per s, s^2).
    tip_wrench : array_like, (6,), optional
        Moment and force (N m, N) acting on the last link at its frame's origin, in axes of the base.

    Returns
    -------
    ndarray, (n,)
        N m (prismatic joints: N).

    Raises
    ------
    ModelError
        For a joint of another type.
    ArgumentError
        For a vector of wrong shape or with NaN or inf.

    References
    ----------
    Featherstone & Orin 2000, eq. 3, 4, 7, 8.
    """
    tree = KinematicTree.of(robot, 'spatial', serial=False)
    q, qd, qdd, wrench = tree.arguments(tip_wrench, q=q, qd=qd, qdd=qdd)
    links = links_at(tree, q)
    h, I, N = links.h, links.I, tree.n
    v, a = [np.zeros(6)], [base_acceleration(tree)]
    f_J = [np.zeros(6)]
    for i in range(1, N + 1):
        parent = tree.parent[i]
        # eq. 3
        v.append(v[parent] + h[i] * qd[i - 1])
        # eq. 4, with hdot_i = v_i x h_i
        a.append(a[parent] + motion_cross(v[i]) @ h[i] * qd[i - 1] + h[i] * qdd[i - 1])
        # eq. 7 without the children
        f_J.append(I[i] @ a[i] + force_cross(v[i]) @ (I[i] @ v[i]))
    # the only f^x_i is that on the last link
    f_J[N] = f_J[N] - at_base(wrench, links.origin[N])
    tau = []
    for i in range(N, 0, -1):
        # eq. 8
        tau.append(h[i] @ f_J[i] + tree.rotor[i] * qdd[i - 1])
        # the sum over the children in eq. 7
        f_J[tree.parent[i]] = f_J[tree.parent[i]] + f_J[i]
    return np.array(tau[::-1])


def mass_matrix(robot: Robot | KinematicTree, q) -> np.ndarray:
    """Joint-space mass matrix M (n, n) by the composite-rigid-body algorithm: M_ji = h_j' I_i^C h_i.

    Arguments and errors as in ``inverse_dynamics``. Featherstone & Orin 2000, eq. 9, 10.
    """
    tree = KinematicTree.of(robot, 'spatial', serial=False)
    q, _ = tree.arguments(q=q)
    h, I, _ = links_at(tree, q)
    # eq. 9
    I_C = list(I)
    for i in range(tree.n, 0, -1):
        I_C[tree.parent[i]] = I_C[tree.parent[i]] + I_C[i]
    # eq. 10; between branches it is zero
    M = [[0.0] * tree.n for _ in range(tree.n)]
    for i in range(1, tree.n + 1):
        f_C = I_C[i] @ h[i]
        M[i - 1][i - 1] = h[i] @ f_C + tree.rotor[i]
        j = tree.parent[i]
        while j > 0:
            M[j - 1][i - 1] = M[i - 1][j - 1] = h[j] @ f_C
            j = tree.parent[j]
    return np.array(M)


def forward_dynamics(robot: Robot | KinematicTree, q, qd, tau, tip_wrench=None) -> np.ndarray:
    """Joint accelerations qdd (n,; rad/s^2, m/s^2) under joint torques tau (n,; N m, N) by articulated bodies.

    Other arguments and errors as in ``inverse_dynamics``; ModelError for a joint without inertia, too. Featherstone &
    Orin 2000, eq. 3, 12, 13, 14 and 4. In eq. 13 the print has tau_i where tau_j, of the child, is meant.
    """
    tree = KinematicTree.of(robot, 'spatial', serial=False)
    q, qd, tau, wrench = tree.arguments(tip_wrench, q=q, qd=qd, tau=tau)
    links = links_at(tree, q)
    h, N = links.h, tree.n
    v, hdot_qd = [np.zeros(6)], [np.zeros(6)]
    I_A, p_A = list(links.I), [np.zeros(6)]
    for i in range(1, N + 1):
        # eq. 3
        v.append(v[tree.parent[i]] + h[i] * qd[i - 1])
        hdot_qd.append(motion_cross(v[i]) @ h[i] * qd[i - 1])
        # p_i of eq. 13
        p_A.append(force_cross(v[i]) @ (links.I[i] @ v[i]))
    p_A[N] = p_A[N] - at_base(wrench, links.origin[N])
    p_alpha, D = [np.zeros(6)] * (N + 1), [0.0] * (N + 1)
    for j in range(N, 0, -1):
        i, I_h = tree.parent[j], I_A[j] @ h[j]
        D[j] = tree.accelerated(j, h[j] @ I_h + tree.rotor[j])
        # eq. 12: what child j adds to I_i^A
        I_A[i] = I_A[i] + I_A[j] - np.outer(I_h, I_h / D[j])
        # eq. 13: what it adds to p_i^A
        p_alpha[j] = p_A[j] + I_A[j] @ hdot_qd[j]
        p_A[i] = p_A[i] + p_alpha[j] + I_h * ((tau[j - 1] - h[j] @ p_alpha[j]) / D[j])
    a, qdd = [base_acceleration(tree)], []
    for i in range(1, N + 1):
        parent = tree.parent[i]
        # eq. 14
        qdd.append((tau[i - 1] - h[i] @ (I_A[i] @ a[parent] + p_alpha[i])) / D[i])
        # eq. 4
        a.append(a[parent] + hdot_qd[i] + h[i] * qdd[i - 1])
    return np.array(qdd)


def links_at(tree: KinematicTree, q) -> Links:
    """Return joint axes, inertias and origins of the links at q (n,), in base coordinates.

    h_i = (z, p x z) of a revolute joint along z through p, (0, z) of a prismatic one.
    """
    links = Links([np.zeros(6)], [np.zeros((6, 6))], [np.zeros(3)])
    rotation = [np.eye(3)]
    for i in range(1, tree.n + 1):
        parent = tree.parent[i]
        R, r = tree.placement(i, q[i - 1])
        R, p = rotation[parent] @ R, links.origin[parent] + rotation[parent] @ r
        z = R @ tree.axis[i]
        rotation.append(R)
        links.h.append(np.concatenate([z, skew(p) @ z] if tree.revolute[i] else [np.zeros(3), z]))
        links.I.append(spatial_inertia(tree.mass[i], p + R @ tree.com[i], R @ tree.inertia[i] @ R.T))
        links.origin.append(p)
    return links


def spatial_inertia(mass: float, c, J) -> np.ndarray:
    """Return the inertia (6, 6) about the origin of a body of ``mass`` (kg) at c (3, m); J (3, 3) about its centre.

    I = [ J + m c~ c~'   m c~ ]
        [ m c~'          m 1  ]
    """
    c = skew(c)
    return np.block([[J + mass * c @ c.T, mass * c], [mass * c.T, mass * np.eye(3)]])


def motion_cross(v) -> np.ndarray:
    """Return the matrix (6, 6) of v x for a motion vector to its right: (w, v_0) x (w2, v2) = (w x w2, ...)."""
    w, v_0 = skew(v[:3]), skew(v[3:])
    return np.block([[w, np.zeros((3, 3))], [v_0, w]])


def force_cross(v) -> np.ndarray:
    """Return the matrix (6, 6) of v x for a force vector to its right: -(v x)' of motion vectors."""
    return -motion_cross(v).T


def at_base(wrench, point) -> np.ndarray:
    """Return a wrench (6; N m, N) at ``point`` (3, m) as the force vector at the base's origin: (n + p x f, f)."""
    return np.concatenate([wrench[:3] + skew(point) @ wrench[3:], wrench[3:]])


def base_acceleration(tree: KinematicTree) -> np.ndarray:
    """Return a_0 = -g (6,): gravity as a fictitious acceleration of the base (section 3.1)."""
    return np.concatenate([np.zeros(3), -tree.gravity])
