"""Slow textbook twins of the kernels: dense 6 x 6 matrices, a line for a line of the tables in RBDA.

RBDA is Featherstone, Rigid Body Dynamics Algorithms (2008). The twins share nothing with the kernels but the
list of ``Joint`` that describes a robot: no arrays of ``Model``, no Rodrigues' formula folded into constants,
and an acceleration here is the spatial one.

A motion vector is (angular, linear), a force vector (moment, force). ``X[i]`` takes motion vectors from the
parent's coordinates to those of link i, its transpose takes force vectors back. Lists start with the base.
``momentum`` and what it calls also take complex q and qd, for derivatives by complex step.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import expm


def cross_matrix(a):
    """Return a x as a matrix."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def crm(v):
    """Return v x as a matrix, for a motion vector to its right (RBDA eq. 2.31)."""
    zero = np.zeros((3, 3))
    return np.block([[cross_matrix(v[:3]), zero], [cross_matrix(v[3:]), cross_matrix(v[:3])]])


def crf(v):
    """Return v x* as a matrix, for a force vector to its right (RBDA eq. 2.32)."""
    return -crm(v).T


def transform(E, r):
    """Return X = rot(E) xlt(r): the new frame's origin is r, its axes are E's rows (RBDA section 2.8)."""
    zero = np.zeros((3, 3))
    rot = np.block([[E, zero], [zero, E]])
    xlt = np.block([[np.eye(3), zero], [-cross_matrix(r), np.eye(3)]])
    return rot @ xlt


def spatial_inertia(parameters):
    """Return the inertia (6, 6) of a body from m, m c and J about the origin (RBDA eq. 2.63)."""
    m = parameters[0]
    h = cross_matrix(parameters[1:4])
    xx, xy, xz, yy, yz, zz = parameters[4:]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[J, h], [h.T, m * np.eye(3)]])


def parents(joints):
    """Return the number of each link's parent; -1 for the base."""
    number = {joint.link: i for i, joint in enumerate(joints, start=1)}
    return [-1] + [number.get(joint.parent, 0) for joint in joints]


def joint_axes(joints):
    """Return S (6) of each joint (RBDA table 4.1); None for the base."""
    axes = [None]
    for joint in joints:
        zero = np.zeros(3)
        axes.append(np.concatenate([joint.axis, zero] if joint.kind == 'revolute' else [zero, joint.axis]))
    return axes


def inertias(joints):
    """Return the inertia (6, 6) of each link; none for the base, which does not move."""
    return [np.zeros((6, 6))] + [spatial_inertia(joint.inertia) for joint in joints]


def rotors(joints):
    """Return the rotor inertia of each joint (n)."""
    return np.array([joint.rotor for joint in joints])


def joint_transforms(joints, q):
    """Return X[i] = X_J X_T of each joint (RBDA section 4.4); the identity for the base."""
    X = [np.eye(6)]
    for joint, q_i in zip(joints, q, strict=True):
        X_T = transform(joint.rotation.T, joint.origin)
        if joint.kind == 'revolute':
            X_J = transform(expm(-cross_matrix(joint.axis) * q_i), np.zeros(3))
        else:
            X_J = transform(np.eye(3), joint.axis * q_i)
        X.append(X_J @ X_T)
    return X


def base_transforms(joints, q):
    """Return the transform of each link from base coordinates, the product of the X on its path."""
    parent, X = parents(joints), joint_transforms(joints, q)
    X_0 = [np.eye(6)]
    for i in range(1, len(joints) + 1):
        X_0.append(X[i] @ X_0[parent[i]])
    return X_0


def link_poses(joints, q):
    """Return the homogeneous pose of each link in the base frame (n + 1, 4, 4)."""
    number = parents(joints)
    poses = [np.eye(4)]
    for i, (joint, q_i) in enumerate(zip(joints, q, strict=True), start=1):
        at_rest, moved = np.eye(4), np.eye(4)
        at_rest[:3, :3], at_rest[:3, 3] = joint.rotation, joint.origin
        if joint.kind == 'revolute':
            moved[:3, :3] = expm(cross_matrix(joint.axis) * q_i)
        else:
            moved[:3, 3] = joint.axis * q_i
        poses.append(poses[number[i]] @ at_rest @ moved)
    return np.array(poses)


def velocities(joints, q, qd):
    """Return v[i] = X[i] v[p] + S[i] qd[i], each link's velocity in its own coordinates."""
    parent, X, S = parents(joints), joint_transforms(joints, q), joint_axes(joints)
    v = [np.zeros(6)]
    for i in range(1, len(joints) + 1):
        v.append(X[i] @ v[parent[i]] + S[i] * qd[i - 1])
    return v


def inverse_dynamics(joints, q, qd, qdd, gravity, f_ext):
    """Return tau (n), and v, a, f of each link: recursive Newton-Euler (RBDA table 5.1, right column).

    Here f_ext is in each link's own coordinates, so no X* before it; f[0] is what holds the base in place.
    """
    n = len(joints)
    parent, X, S, inertia = parents(joints), joint_transforms(joints, q), joint_axes(joints), inertias(joints)
    v = velocities(joints, q, qd)
    a = [np.concatenate([np.zeros(3), -gravity])]
    f = [-f_ext[0]]
    for i in range(1, n + 1):
        a.append(X[i] @ a[parent[i]] + S[i] * qdd[i - 1] + crm(v[i]) @ S[i] * qd[i - 1])
        f.append(inertia[i] @ a[i] + crf(v[i]) @ inertia[i] @ v[i] - f_ext[i])
    tau = np.zeros(n)
    for i in range(n, 0, -1):
        tau[i - 1] = S[i] @ f[i] + joints[i - 1].rotor * qdd[i - 1]
        f[parent[i]] = f[parent[i]] + X[i].T @ f[i]
    return tau, v, a, f


def mass_matrix(joints, q):
    """Return M (n, n): the composite-rigid-body algorithm (RBDA table 6.2)."""
    n = len(joints)
    parent, X, S, I_c = parents(joints), joint_transforms(joints, q), joint_axes(joints), inertias(joints)
    M = np.zeros((n, n))
    for i in range(n, 0, -1):
        if parent[i] != 0:
            I_c[parent[i]] = I_c[parent[i]] + X[i].T @ I_c[i] @ X[i]
        F = I_c[i] @ S[i]
        M[i - 1, i - 1] = S[i] @ F + joints[i - 1].rotor
        j = i
        while parent[j] != 0:
            F = X[j].T @ F
            j = parent[j]
            M[i - 1, j - 1] = M[j - 1, i - 1] = F @ S[j]
    return M


def whole_inertia(joints, q):
    """Return the inertia (6, 6) of all links together at the base's origin: the sum of X_0' I X_0."""
    bodies = zip(base_transforms(joints, q), inertias(joints), strict=True)
    return np.sum([X.T @ I_i @ X for X, I_i in bodies], axis=0)


def jacobians(joints, q):
    """Return J[i] (6, n), with v[i] = J[i] qd in the coordinates of link i."""
    n = len(joints)
    parent, X, S = parents(joints), joint_transforms(joints, q), joint_axes(joints)
    J = [np.zeros((6, n))]
    for i in range(1, n + 1):
        J_i = X[i] @ J[parent[i]]
        J_i[:, i - 1] = S[i]
        J.append(J_i)
    return J


def mass_matrix_from_jacobians(joints, q):
    """Return M (n, n) as the sum of J' I J over the links, and the rotors."""
    terms = [J_i.T @ I_i @ J_i for J_i, I_i in zip(jacobians(joints, q), inertias(joints), strict=True)]
    return np.sum(terms, axis=0) + np.diag(rotors(joints))


def forward_dynamics(joints, q, qd, tau, gravity, f_ext):
    """Return qdd (n): the articulated-body algorithm (RBDA table 7.1, right column)."""
    n = len(joints)
    parent, X, S, inertia = parents(joints), joint_transforms(joints, q), joint_axes(joints), inertias(joints)
    v, c = velocities(joints, q, qd), [np.zeros(6)]
    I_A, p_A = list(inertia), [np.zeros(6)]
    for i in range(1, n + 1):
        c.append(crm(v[i]) @ S[i] * qd[i - 1])
        p_A.append(crf(v[i]) @ inertia[i] @ v[i] - f_ext[i])
    U, d, u = [None] * (n + 1), [None] * (n + 1), [None] * (n + 1)
    for i in range(n, 0, -1):
        U[i] = I_A[i] @ S[i]
        d[i] = S[i] @ U[i] + joints[i - 1].rotor
        u[i] = tau[i - 1] - S[i] @ p_A[i]
        if parent[i] != 0:
            I_a = I_A[i] - np.outer(U[i], U[i]) / d[i]
            p_a = p_A[i] + I_a @ c[i] + U[i] * u[i] / d[i]
            I_A[parent[i]] = I_A[parent[i]] + X[i].T @ I_a @ X[i]
            p_A[parent[i]] = p_A[parent[i]] + X[i].T @ p_a
    a = [np.concatenate([np.zeros(3), -gravity])]
    qdd = np.zeros(n)
    for i in range(1, n + 1):
        a_i = X[i] @ a[parent[i]] + c[i]
        qdd[i - 1] = (u[i] - U[i] @ a_i) / d[i]
        a.append(a_i + S[i] * qdd[i - 1])
    return qdd


def kinetic_energy(joints, q, qd):
    """Return the sum of v' I v / 2 over the links, and of the rotors."""
    bodies = zip(velocities(joints, q, qd), inertias(joints), strict=True)
    return 0.5 * sum(v_i @ I_i @ v_i for v_i, I_i in bodies) + 0.5 * rotors(joints) @ qd**2


def potential_energy(joints, q, gravity):
    """Return minus the sum of m g . c over the links, c in the base frame."""
    first_moments = [T[:3, :3] @ joint.inertia[1:4] + joint.inertia[0] * T[:3, 3]
                     for T, joint in zip(link_poses(joints, q)[1:], joints, strict=True)]  # fmt: skip
    return -gravity @ np.sum(first_moments, axis=0)


def torque_regressor(joints, q, qd, qdd, gravity):
    """Return Y (n, 10 n), column by column: the torques where one parameter of one body is 1 and all else is 0."""
    no_wrenches = np.zeros((len(joints) + 1, 6))
    columns = [inverse_dynamics(bodies, q, qd, qdd, gravity, no_wrenches)[0] for bodies in unit_bodies(joints)]
    return np.transpose(columns)


def unit_bodies(joints):
    """Return the robot 10 n times: each time one parameter of one body is 1, and all else and all rotors are 0."""
    robots = []
    for parameters in np.eye(10 * len(joints)).reshape(-1, len(joints), 10):
        robots.append([replace(joint, inertia=row, rotor=0.0) for joint, row in zip(joints, parameters, strict=True)])
    return robots


def momentum(joints, q, qd):
    """Return the momentum (6) of all links about the base's origin, base coordinates: the sum of X_0' I v."""
    X_0, inertia, v = base_transforms(joints, q), inertias(joints), velocities(joints, q, qd)
    return np.sum([X.T @ I_i @ v_i for X, I_i, v_i in zip(X_0, inertia, v, strict=True)], axis=0)


def total_wrench(joints, q, gravity, f_ext):
    """Return the wrench (6) of gravity and f_ext on everything, base included, about the base's origin."""
    X_0, inertia = base_transforms(joints, q), inertias(joints)
    a_g = np.concatenate([np.zeros(3), gravity])
    return np.sum([X.T @ (I_i @ X @ a_g + f) for X, I_i, f in zip(X_0, inertia, f_ext, strict=True)], axis=0)
