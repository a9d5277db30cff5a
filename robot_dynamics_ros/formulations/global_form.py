"""Global form: the equations of all links at once, in sparse matrices, after Featherstone & Orin 2000, section 3.5.

Composite vectors have six entries for each link, v = (v_1, ..., v_N). Motion and force vectors are those of
``spatial``, at the origin of the base and in its axes: P then has only the blocks 1 and -1. Symbols are the paper's:
h_i is the axis of joint i, lambda(i) = ``tree.parent[i]`` the parent of link i, T has the forces that joints exert on
links without power.

The paper has no rotors. Here a rotor is a force that resists the acceleration of its joint, psi_i rotor_i qdd_i on
link i and the opposite one on its parent, where psi_i is the force of a unit torque, psi_i' h_i = 1.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.formulations.forward import solved
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.formulations.spatial import (
    at_base,
    base_acceleration,
    force_cross,
    links_at,
    motion_cross,
)
from robot_dynamics_ros.robot import Robot

LEAST_PIVOT = 1e-13
"""Smallest over largest pivot of the sparse system below which the mass matrix is looked at for a weightless joint."""


class Links(NamedTuple):
    """The matrices of a tree at q, sparse; N links, n = N joints."""

    H: object  # (6N, n)    block diagonal: h_i
    P: object  # (6N, 6N)   incidence: 1 at (i, i), -1 at (i, lambda(i))
    I: object  # (6N, 6N)   block diagonal: I_i
    origin: np.ndarray  # (3,) m   of the last link


class Rates(NamedTuple):
    """What velocities, gravity and the wrench cause, (6N,) each."""

    Hdot_qd: np.ndarray  # acceleration of each link against its parent at qdd = 0; that of the base in the first ones
    v_Iv: np.ndarray  # v x I v
    f_x: np.ndarray  # external force


class SparseSystem(NamedTuple):
    """The system A (a, -beta) = b of equation 27, its rows and columns in an order that fills nothing in."""

    A: object  # (11N, 11N) sparse, symmetric
    b: np.ndarray  # (11N,)
    order: np.ndarray  # (11N,)   place in (a, -beta) of each unknown


def inverse_dynamics(robot: Robot | KinematicTree, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Joint torques of a motion: a = P^-1 (H qdd + Hdot qd), tau = H' P^-T (I a + v x I v - f_x) + rotor qdd.

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
    Featherstone & Orin 2000, eq. 23, 26, 29.
    """
    tree = KinematicTree.of(robot, 'global form', serial=False)
    q, qd, qdd, wrench = tree.arguments(tip_wrench, q=q, qd=qd, qdd=qdd)
    links = links_of(tree, q)
    Hdot_qd, v_Iv, f_x = rates(tree, links, qd, wrench)
    # eq. 29
    a = solve_outwards(links.P, links.H @ qdd + Hdot_qd)
    # eq. 23, and eq. 26 with S = P^-1 H
    f = links.I @ a + v_Iv - f_x
    return links.H.T @ solve_inwards(links.P, f) + tree.rotor[1:] * qdd


def mass_matrix(robot: Robot | KinematicTree, q) -> np.ndarray:
    """Joint-space mass matrix M (n, n; kg m^2, kg m, kg): H' P^-T I P^-1 H, the expression after eq. 29, and rotors.

    Arguments and errors as in ``inverse_dynamics``.
    """
    tree = KinematicTree.of(robot, 'global form', serial=False)
    q, _ = tree.arguments(q=q)
    links = links_of(tree, q)
    # S = P^-1 H: column j moves all links beyond joint j
    S = solve_outwards(links.P, links.H.toarray())
    return S.T @ (links.I @ S) + np.diag(tree.rotor[1:])


def by_mass_matrix(robot: Robot | KinematicTree, q, qd, tau, tip_wrench=None) -> np.ndarray:
    """Joint accelerations qdd (n,; rad/s^2, m/s^2) under joint torques tau (n,; N m, N): eq. 26, M qdd = tau - C.

    Other arguments and errors as in ``inverse_dynamics``; ModelError for a joint without inertia, too.
    """
    tree = KinematicTree.of(robot, 'global form', serial=False)
    q, qd, tau, _ = tree.arguments(q=q, qd=qd, tau=tau)
    C = inverse_dynamics(tree, q, qd, np.zeros(tree.n), tip_wrench)
    return solved(tree, mass_matrix(tree, q), tau - C)


def by_sparse_system(robot: Robot | KinematicTree, q, qd, tau, tip_wrench=None) -> np.ndarray:
    """Joint accelerations by the accelerations of all links and the forces of all joints at once: eq. 27.

    Arguments, result and errors as ``by_mass_matrix``. Each link is eliminated before its parent, which fills nothing
    in, so that operations grow as N (Baraff 1996).
    """
    from scipy.sparse.linalg import splu  # noqa: PLC0415

    tree = KinematicTree.of(robot, 'global form', serial=False)
    q, qd, tau, wrench = tree.arguments(tip_wrench, q=q, qd=qd, tau=tau)
    links = links_of(tree, q)
    forces = rates(tree, links, qd, wrench)
    A, b, order = sparse_system(tree, links, forces, tau)
    try:
        factors = splu(A, permc_spec='NATURAL', diag_pivot_thresh=0.0)
        pivots = np.abs(factors.U.diagonal())
        singular = pivots.min() < LEAST_PIVOT * pivots.max()
    except RuntimeError:
        singular = True
    if singular:
        # names a joint without inertia
        return by_mass_matrix(tree, q, qd, tau, tip_wrench)
    x = np.empty(len(b))
    x[order] = factors.solve(b)
    # qdd = Psi' (P a - Hdot qd)
    return torque_forces(links.H).T @ (links.P @ x[: 6 * tree.n] - forces.Hdot_qd)


def sparse_system(tree: KinematicTree, links: Links, forces: Rates, tau) -> SparseSystem:
    """Return the system of eq. 27 for the accelerations a of the links and the forces beta of the joints.

    [ I   T ] [  a    ]   [ f_a - v x I v ]
    [ T'  0 ] [ -beta ] = [ T' a_0        ]
    """
    from scipy import sparse  # noqa: PLC0415

    H, P, I, _ = links
    N, psi = tree.n, torque_forces(H)
    # of each joint the forces without power, T_i' h_i = 0, on its link, and the opposite ones on the parent
    of_joints = sparse.block_diag([powerless_forces(H[6 * i : 6 * i + 6, i].toarray().ravel()) for i in range(N)])
    T = P.T @ of_joints
    # torques and rotors: f_a = P' psi (tau - rotor qdd), qdd = psi' (P a - Hdot qd)
    rotors = psi @ sparse.diags(tree.rotor[1:]) @ psi.T
    A = sparse.bmat([[I + P.T @ rotors @ P, T], [T.T, None]])
    f_a = P.T @ (psi @ tau + rotors @ forces.Hdot_qd) + forces.f_x
    # T' a_0 with a_0 = P^-1 Hdot qd
    b = np.concatenate([f_a - forces.v_Iv, of_joints.T @ forces.Hdot_qd])
    # tips first: link i, then the forces of its joint
    order = [
        k for i in reversed(range(N)) for k in (*range(6 * i, 6 * i + 6), *range(6 * N + 5 * i, 6 * N + 5 * i + 5))
    ]
    return SparseSystem(A.tocsr()[order][:, order].tocsc(), b[order], np.array(order))


def links_of(tree: KinematicTree, q) -> Links:
    """Return the matrices of the links at q (n,)."""
    from scipy import sparse  # noqa: PLC0415

    h, I, origin = links_at(tree, q)
    N = tree.n
    # rows and columns of the links that have a parent other than the base
    i = np.array([i for i in range(1, N + 1) if tree.parent[i] > 0], int)
    parents = sparse.coo_matrix((np.ones(len(i)), (i - 1, np.array(tree.parent)[i] - 1)), (N, N))
    return Links(
        H=sparse.block_diag([axis[:, np.newaxis] for axis in h[1:]], 'csr'),
        P=sparse.kron(sparse.identity(N) - parents, np.eye(6), 'csc'),
        I=sparse.block_diag(I[1:], 'csr'),
        origin=origin[N],
    )


def rates(tree: KinematicTree, links: Links, qd, wrench) -> Rates:
    """Return the quantities that depend on the velocities qd (n,), on gravity and on the wrench on the last link."""
    # P v = H qd
    v = solve_outwards(links.P, links.H @ qd).reshape(-1, 6)
    # hdot_i = v_i x h_i
    joints = (links.H @ qd).reshape(-1, 6)
    Hdot_qd = np.array([motion_cross(v_i) @ joint for v_i, joint in zip(v, joints, strict=True)])
    # gravity as the acceleration of the base, the parent of links that P gives none
    for i in range(1, tree.n + 1):
        if tree.parent[i] == 0:
            Hdot_qd[i - 1] += base_acceleration(tree)
    momentum = (links.I @ v.ravel()).reshape(-1, 6)
    v_Iv = np.array([force_cross(v_i) @ p_i for v_i, p_i in zip(v, momentum, strict=True)])
    f_x = np.zeros(6 * tree.n)
    f_x[-6:] = at_base(wrench, links.origin)
    return Rates(Hdot_qd.ravel(), v_Iv.ravel(), f_x)


def torque_forces(H):
    """Return psi (6N, n), sparse: the force vectors of unit torques, psi_i = h_i / (h_i' h_i)."""
    from scipy import sparse  # noqa: PLC0415

    return H @ sparse.diags(1.0 / np.asarray(H.multiply(H).sum(axis=0)).ravel())


def powerless_forces(h) -> np.ndarray:
    """Return T_i (6, 5): an orthonormal basis of the forces that have no power along h (6,)."""
    return np.linalg.svd(h[np.newaxis])[2][1:].T


def solve_outwards(P, b) -> np.ndarray:
    """Return P^-1 b: each link's entry is the sum of those from the base to it."""
    return _triangular(P).solve(b)


def solve_inwards(P, b) -> np.ndarray:
    """Return P^-T b: each link's entry is the sum of those from it to the tips."""
    return _triangular(P).solve(b, 'T')


def _triangular(P):
    """Return the factors of P, which are P and 1."""
    from scipy.sparse.linalg import splu  # noqa: PLC0415

    return splu(P, permc_spec='NATURAL', diag_pivot_thresh=0.0)
