"""Slow textbook twins of the kernels: dense 6 x 6 matrices, a line for a line of the tables in RBDA.

RBDA is Featherstone, Rigid Body Dynamics Algorithms (2008). The twins share nothing with the kernels but the
list of ``Joint`` that describes a robot: no arrays of ``Model``, no Rodrigues' formula folded into constants,
and an acceleration here is the spatial one.

A motion vector is (angular, linear), a force vector (moment, force). ``X[i]`` takes motion vectors from the
parent's coordinates to those of link i, its transpose takes force vectors back. Lists start with the base.
``body_coriolis`` and what it calls also take complex q and qd, for derivatives by complex step.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.linalg import cho_factor, cho_solve, expm
from scipy.spatial.transform import Rotation


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


SIZES = {
    'revolute': (1, 1), 'prismatic': (1, 1), 'helical': (1, 1), 'cylindrical': (2, 2), 'planar': (3, 3),
    'spherical': (4, 3), 'free': (7, 6),
}  # fmt: skip
"""Coordinates and velocities of each kind of joint."""


def places(joints):
    """Return where each joint's coordinates stand in q, and its velocities in qd: slices."""
    ends = np.cumsum([[0, 0], *(SIZES[joint.kind] for joint in joints)], axis=0)
    return [(slice(a[0], b[0]), slice(a[1], b[1])) for a, b in pairwise(ends)]


def parts(joints, vector):
    """Return the part of qd (or qdd, tau) that belongs to each joint."""
    return [vector[of_v] for _, of_v in places(joints)]


def across(axis):
    """Return the two directions of a planar joint in its plane: x projected into it (y where x is near the axis)."""
    seed = np.array([1.0, 0.0, 0.0]) if abs(axis[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    first = seed - np.outer(axis, axis) @ seed
    first = first / np.sqrt(first @ first)
    return first, cross_matrix(axis) @ first


def joint_axes(joints):
    """Return S (6, d) of each joint, in the link's coordinates (RBDA table 4.1); None for the base."""
    axes = [None]
    for joint in joints:
        a, zero = np.asarray(joint.axis), np.zeros(3)
        x, y = across(a)
        columns = {
            'revolute': [[*a, *zero]],
            'prismatic': [[*zero, *a]],
            'helical': [[*a, *(joint.pitch * a)]],
            'cylindrical': [[*a, *zero], [*zero, *a]],
            'planar': [[*zero, *x], [*zero, *y], [*a, *zero]],
            'spherical': np.eye(6)[:3],
            'free': np.eye(6),
        }[joint.kind]
        axes.append(np.array(columns).T)
    return axes


def joint_pose(joint, q):
    """Return rotation (3, 3; moved link -> link at rest) and translation (3, at rest) of one joint at its part of q."""
    axis = np.asarray(joint.axis)
    x, y = across(axis)
    turned = {
        'revolute': lambda: expm(cross_matrix(axis) * q[0]),
        'prismatic': lambda: np.eye(3),
        'helical': lambda: expm(cross_matrix(axis) * q[0]),
        'cylindrical': lambda: expm(cross_matrix(axis) * q[0]),
        'planar': lambda: expm(cross_matrix(axis) * q[2]),
        'spherical': lambda: Rotation.from_quat(q).as_matrix(),
        'free': lambda: Rotation.from_quat(q[3:]).as_matrix(),
    }[joint.kind]()
    moved = {
        'revolute': lambda: np.zeros(3),
        'prismatic': lambda: axis * q[0],
        'helical': lambda: axis * (joint.pitch * q[0]),
        'cylindrical': lambda: axis * q[1],
        'planar': lambda: x * q[0] + y * q[1],
        'spherical': lambda: np.zeros(3),
        'free': lambda: q[:3],
    }[joint.kind]()
    return turned, moved


def tangents(joints, q):
    """Return how q moves with a unit of each velocity, (nq, nv): CONVENTIONS 23 and 24, and q' = q w/2 (RBDA 4.4)."""
    result = np.zeros((len(q), len(rotors(joints))))
    for joint, (of_q, of_v) in zip(joints, places(joints), strict=True):
        own, block = q[of_q], result[of_q, of_v]
        if joint.kind == 'planar':
            block[:2, :2] = [[np.cos(own[2]), -np.sin(own[2])], [np.sin(own[2]), np.cos(own[2])]]
            block[2, 2] = 1.0
        elif joint.kind in ('spherical', 'free'):
            x, y, z, w = own[-4:]
            block[-4:, :3] = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
            if joint.kind == 'free':
                block[:3, 3:] = Rotation.from_quat(own[-4:]).as_matrix()
        else:
            block[:] = np.eye(len(own))
    return result


def inertias(joints):
    """Return the inertia (6, 6) of each link; none for the base, which does not move."""
    return [np.zeros((6, 6))] + [spatial_inertia(joint.inertia) for joint in joints]


def rotors(joints):
    """Return the rotor inertia at each velocity (nv)."""
    return np.array([joint.rotor for joint in joints for _ in range(SIZES[joint.kind][1])])


def joint_transforms(joints, q):
    """Return X[i] = X_J X_T of each joint (RBDA section 4.4); the identity for the base."""
    X = [np.eye(6)]
    for joint, (of_q, _) in zip(joints, places(joints), strict=True):
        turned, moved = joint_pose(joint, q[of_q])
        X.append(transform(turned.T, moved) @ transform(joint.rotation.T, joint.origin))
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
    for i, (joint, (of_q, _)) in enumerate(zip(joints, places(joints), strict=True), start=1):
        at_rest, moved = np.eye(4), np.eye(4)
        at_rest[:3, :3], at_rest[:3, 3] = joint.rotation, joint.origin
        moved[:3, :3], moved[:3, 3] = joint_pose(joint, q[of_q])
        poses.append(poses[number[i]] @ at_rest @ moved)
    return np.array(poses)


REST = np.zeros(6)


def velocities(joints, q, qd, v_0=REST):
    """Return v[i] = X[i] v[p] + S[i] qd[i], each link's velocity in its own coordinates; the base's is v_0."""
    parent, X, S = parents(joints), joint_transforms(joints, q), joint_axes(joints)
    v = [v_0]
    for i, rates in enumerate(parts(joints, qd), start=1):
        v.append(X[i] @ v[parent[i]] + S[i] @ rates)
    return v


def inverse_dynamics(joints, q, qd, qdd, gravity, f_ext, v_0=REST, a_0=REST):
    """Return tau (nv), and v, a, f of each link: recursive Newton-Euler (RBDA table 5.1, right column).

    Here f_ext is in each link's own coordinates, so no X* before it; f[0] is what holds the base in place. The base
    has the velocity v_0 and the acceleration a_0, a spatial one.
    """
    n = len(joints)
    parent, X, S, inertia = parents(joints), joint_transforms(joints, q), joint_axes(joints), inertias(joints)
    v = velocities(joints, q, qd, v_0)
    a = [a_0 - np.concatenate([np.zeros(3), gravity])]
    f = [-f_ext[0]]
    rates, accelerations = parts(joints, qd), parts(joints, qdd)
    for i in range(1, n + 1):
        a.append(X[i] @ a[parent[i]] + S[i] @ accelerations[i - 1] + crm(v[i]) @ S[i] @ rates[i - 1])
        f.append(inertia[i] @ a[i] + crf(v[i]) @ inertia[i] @ v[i] - f_ext[i])
    tau = [None] * n
    for i in range(n, 0, -1):
        tau[i - 1] = S[i].T @ f[i] + joints[i - 1].rotor * accelerations[i - 1]
        f[parent[i]] = f[parent[i]] + X[i].T @ f[i]
    return np.concatenate(tau), v, a, f


def mass_matrix(joints, q):
    """Return M (nv, nv): the composite-rigid-body algorithm (RBDA table 6.2)."""
    n, place = len(joints), [None, *(of_v for _, of_v in places(joints))]
    parent, X, S, I_c = parents(joints), joint_transforms(joints, q), joint_axes(joints), inertias(joints)
    M = np.diag(rotors(joints))
    for i in range(n, 0, -1):
        if parent[i] != 0:
            I_c[parent[i]] = I_c[parent[i]] + X[i].T @ I_c[i] @ X[i]
        F = I_c[i] @ S[i]
        M[place[i], place[i]] += S[i].T @ F
        j = i
        while parent[j] != 0:
            F = X[j].T @ F
            j = parent[j]
            M[place[i], place[j]] = F.T @ S[j]
            M[place[j], place[i]] = M[place[i], place[j]].T
    return M


def whole_inertia(joints, q):
    """Return the inertia (6, 6) of all links together at the base's origin: the sum of X_0' I X_0."""
    bodies = zip(base_transforms(joints, q), inertias(joints), strict=True)
    return np.sum([X.T @ I_i @ X for X, I_i in bodies], axis=0)


def jacobians(joints, q):
    """Return J[i] (6, nv), with v[i] = J[i] qd in the coordinates of link i."""
    parent, X, S = parents(joints), joint_transforms(joints, q), joint_axes(joints)
    J = [np.zeros((6, len(rotors(joints))))]
    for i, (_, of_v) in enumerate(places(joints), start=1):
        J_i = X[i] @ J[parent[i]]
        J_i[:, of_v] = S[i]
        J.append(J_i)
    return J


def mass_matrix_from_jacobians(joints, q):
    """Return M (nv, nv) as the sum of J' I J over the links, and the rotors."""
    terms = [J_i.T @ I_i @ J_i for J_i, I_i in zip(jacobians(joints, q), inertias(joints), strict=True)]
    return np.sum(terms, axis=0) + np.diag(rotors(joints))


def forward_dynamics(joints, q, qd, tau, gravity, f_ext):
    """Return qdd (nv): the articulated-body algorithm (RBDA table 7.1, right column)."""
    n, rates, torques = len(joints), parts(joints, qd), parts(joints, tau)
    parent, X, S, inertia = parents(joints), joint_transforms(joints, q), joint_axes(joints), inertias(joints)
    v, c = velocities(joints, q, qd), [np.zeros(6)]
    I_A, p_A = list(inertia), [np.zeros(6)]
    for i in range(1, n + 1):
        c.append(crm(v[i]) @ S[i] @ rates[i - 1])
        p_A.append(crf(v[i]) @ inertia[i] @ v[i] - f_ext[i])
    U, d, u = [None] * (n + 1), [None] * (n + 1), [None] * (n + 1)
    for i in range(n, 0, -1):
        U[i] = I_A[i] @ S[i]
        d[i] = np.linalg.inv(S[i].T @ U[i] + joints[i - 1].rotor * np.eye(len(torques[i - 1])))
        u[i] = torques[i - 1] - S[i].T @ p_A[i]
        if parent[i] != 0:
            I_a = I_A[i] - U[i] @ d[i] @ U[i].T
            p_a = p_A[i] + I_a @ c[i] + U[i] @ d[i] @ u[i]
            I_A[parent[i]] = I_A[parent[i]] + X[i].T @ I_a @ X[i]
            p_A[parent[i]] = p_A[parent[i]] + X[i].T @ p_a
    a = [np.concatenate([np.zeros(3), -gravity])]
    qdd = []
    for i in range(1, n + 1):
        a_i = X[i] @ a[parent[i]] + c[i]
        qdd.append(d[i] @ (u[i] - U[i].T @ a_i))
        a.append(a_i + S[i] @ qdd[-1])
    return np.concatenate(qdd)


def forward_dynamics_by_inverse_dynamics(joints, q, qd, tau, gravity, f_ext):
    """Return qdd (nv) by nv + 1 inverse dynamics and Cholesky's factor (Walker & Orin 1982, method 1): the slowest way.

    The torques at zero acceleration are h; those of a unit acceleration alone are a column of M; M qdd = tau - h.
    """
    rest, no_gravity, no_wrenches = np.zeros(len(qd)), np.zeros(3), np.zeros((len(joints) + 1, 6))
    h = inverse_dynamics(joints, q, qd, rest, gravity, f_ext)[0]
    columns = [inverse_dynamics(joints, q, rest, unit, no_gravity, no_wrenches)[0] for unit in np.eye(len(qd))]
    return cho_solve(cho_factor(np.transpose(columns)), tau - h)


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
