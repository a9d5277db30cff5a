"""Spatial operator algebra: shift operators, recursion from tip to base and factors of the mass matrix.

The bodies of a serial chain are numbered as in the papers, AGAINST the joints: body 1 is the tip, body n stands on the
base, which is n + 1. Velocities run from body k + 1 to body k by phi*(k + 1, k), forces back by phi(k + 1, k). Each
vector is (angular, linear) or (moment, force) at the origin O_k of its body, in the body's axes. A star is the
transpose. Accelerations are the classical ones, the time derivatives of (w, v): unlike the spatial ones of ``spatial``.

- "The paper": one in Chinese on efficient inverse dynamics of robots by spatial operator algebra, with a planar 6R arm,
  eq. 1 to 7: T = M thdd + C + J* f(0), M = H phi M phi* H*. It has neither gravity nor rotors: gravity is added as a
  fictitious acceleration of the base, rotor inertia as a diagonal matrix.
- Rodriguez, Jain & Kreutz-Delgado 1991: innovations factorisation of M and of its inverse.
- Featherstone & Orin 2000, section 3.5: its P^-1 is phi*, its M = H' P^-T I P^-1 H is eq. 2 of the paper.

f(0) is the force that the tip exerts on its environment, minus the wrench that acts on the tip.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree, skew
from robot_dynamics_ros.robot import Robot


class Chain(NamedTuple):
    """Operators of the bodies at q; index k is the body's number, 1 the tip; index 0 is zero."""

    R: list  # (3, 3)     axes of body k -> axes of body k + 1
    phi: list  # (6, 6)   phi(k + 1, k): force at O_k -> force at O_k+1
    H: list  # (6,)       the joint's axis: H(k) f is the torque of f
    M: list  # (6, 6)     inertia about O_k
    rotor: list  # kg m^2, kg


class Rates(NamedTuple):
    """Velocity-dependent accelerations and forces of each body; index k as in ``Chain``."""

    a: list  # (6,)   acceleration of body k against body k + 1 at thdd = 0
    b: list  # (6,)   gyroscopic force


class Factors(NamedTuple):
    """M = L D L*, M^-1 = L_inverse* D^-1 L_inverse; rows from the tip to the base."""

    L: np.ndarray  # (n, n)           1 + H phi K, lower triangular
    L_inverse: np.ndarray  # (n, n)   1 - H psi K
    D: (
        np.ndarray
    )  # (n,)             inertia that joint k accelerates: joints to the base are held, those to the tip free


def inverse_dynamics(robot: Robot | KinematicTree, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Joint torques of a motion: velocities from base to tip, forces from tip to base.

    Parameters
    ----------
    robot : Robot
        A serial chain of revolute and prismatic joints.
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
        For a branch or a joint of another type.
    ArgumentError
        For a vector of wrong shape or with NaN or inf.

    References
    ----------
    The paper's eq. 1 to 6 as recursions.
    """
    tree = KinematicTree.of(robot, 'operators')
    q, qd, qdd, wrench = tree.arguments(tip_wrench, q=q, qd=qd, qdd=qdd)
    chain, thdd = chain_at(tree, q), tip_first(qdd)
    a, b = rates(chain, qd)
    R, phi, H, M, n = chain.R, chain.phi, chain.H, chain.M, tree.n
    # alpha(k) = phi*(k + 1, k) alpha(k + 1) + H*(k) thdd(k) + a(k)
    alpha = [np.zeros(6)] * (n + 1) + [base_acceleration(tree)]
    for k in range(n, 0, -1):
        alpha[k] = phi[k].T @ alpha[k + 1] + H[k] * thdd[k] + a[k]
    # f(k) = phi(k, k - 1) f(k - 1) + M(k) alpha(k) + b(k),  T(k) = H(k) f(k)
    f = tip_force(R, -wrench) + M[1] @ alpha[1] + b[1]
    T = [H[1] @ f + chain.rotor[1] * thdd[1]]
    for k in range(2, n + 1):
        f = phi[k - 1] @ f + M[k] @ alpha[k] + b[k]
        T.append(H[k] @ f + chain.rotor[k] * thdd[k])
    return np.array(T[::-1])


def mass_matrix(robot: Robot | KinematicTree, q) -> np.ndarray:
    """Joint-space mass matrix M (n, n; kg m^2, kg m, kg) by global operators: H phi M phi* H*, the paper's eq. 2."""
    tree = KinematicTree.of(robot, 'operators')
    q, _ = tree.arguments(q=q)
    chain = chain_at(tree, q)
    H_phi = diagonal(chain.H) @ products(chain.phi)
    return (H_phi @ diagonal(chain.M) @ H_phi.T + np.diag(chain.rotor[1:]))[::-1, ::-1]


def bias_torque(robot: Robot | KinematicTree, q, qd) -> np.ndarray:
    """Joint torques at zero acceleration (n,; N m, N) by global operators, gravity included.

    C = H phi (M phi* a + b), the paper's eq. 6; the acceleration -g of the base enters a(n).
    """
    tree = KinematicTree.of(robot, 'operators')
    q, qd, _ = tree.arguments(q=q, qd=qd)
    chain = chain_at(tree, q)
    a, b = rates(chain, qd)
    a[tree.n] = a[tree.n] + chain.phi[tree.n].T @ base_acceleration(tree)
    phi = products(chain.phi)
    a, b = np.concatenate(a[1:]), np.concatenate(b[1:])
    return (diagonal(chain.H) @ phi @ (diagonal(chain.M) @ phi.T @ a + b))[::-1]


def jacobian(robot: Robot | KinematicTree, q) -> np.ndarray:
    """Jacobian (6, n) of the last link's origin, in axes of the base: J = B* phi* H*, the paper's eq. 7.

    B has phi(1, 0) in its first rows: frame 0 stands at O_1 with the axes of the base, so J* f(0) are the torques of
    a tip force.
    """
    tree = KinematicTree.of(robot, 'operators')
    q, _ = tree.arguments(q=q)
    chain = chain_at(tree, q)
    B = np.concatenate([tip_force(chain.R, np.eye(6)), np.zeros((6 * tree.n - 6, 6))])
    return (diagonal(chain.H) @ products(chain.phi) @ B).T[:, ::-1]


def mass_matrix_inverse(robot: Robot | KinematicTree, q) -> np.ndarray:
    """Inverse (n, n) of the mass matrix by its factors, without forming M: (1 - H psi K)* D^-1 (1 - H psi K).

    Raises ModelError for a joint without inertia. Rodriguez, Jain & Kreutz-Delgado 1991.
    """
    _, L_inverse, D = factors(robot, q)
    return (L_inverse.T @ (L_inverse / D[:, np.newaxis]))[::-1, ::-1]


def factors(robot: Robot | KinematicTree, q) -> Factors:
    """Innovations factorisation of M and of its inverse, rows from the tip to the base.

    M = (1 + H phi K) D (1 + H phi K)*, (1 + H phi K)^-1 = 1 - H psi K. P(k) is the inertia of the articulated body from
    the tip to body k, I_i^A of Featherstone & Orin 2000, eq. 12. The rotors are in D as the noise of a measurement
    is in that of a Kalman filter. Raises ModelError for a joint without inertia. Rodriguez, Jain & Kreutz-Delgado 1991.
    """
    tree = KinematicTree.of(robot, 'operators')
    q, _ = tree.arguments(q=q)
    _, phi, H, M, rotor = chain_at(tree, q)
    D, K, psi = [], [np.zeros(6)], [np.zeros((6, 6))]
    P_plus = np.zeros((6, 6))
    for k in range(1, tree.n + 1):
        # P(k) = phi(k, k - 1) P+(k - 1) phi*(k, k - 1) + M(k)
        P = phi[k - 1] @ P_plus @ phi[k - 1].T + M[k]
        # D(k) = H(k) P(k) H*(k) + rotor(k),  G(k) = P(k) H*(k) D^-1(k)
        P_H = P @ H[k]
        D.append(tree.accelerated(tree.n + 1 - k, H[k] @ P_H + rotor[k]))
        G = P_H / D[-1]
        # P+(k) = (1 - G(k) H(k)) P(k)
        P_plus = P - np.outer(G, P_H)
        # K(k + 1, k) = phi(k + 1, k) G(k),  psi(k + 1, k) = phi(k + 1, k) (1 - G(k) H(k))
        K.append(phi[k] @ G)
        psi.append(phi[k] - np.outer(K[k], H[k]))
    all_H, all_K, unit = diagonal(H), shifted(K), np.eye(tree.n)
    return Factors(unit + all_H @ products(phi) @ all_K, unit - all_H @ products(psi) @ all_K, np.array(D))


def chain_at(tree: KinematicTree, q) -> Chain:
    """Return the operators of the bodies of ``tree`` at q (n,), the tip first."""
    chain = Chain([np.zeros((3, 3))], [np.zeros((6, 6))], [np.zeros(6)], [np.zeros((6, 6))], [0.0])
    for i in range(tree.n, 0, -1):
        R, l = tree.placement(i, q[i - 1])
        # phi(k + 1, k) = [ R  l~ R ]   l from O_k+1 to O_k, in axes of body k + 1
        #                 [ 0  R    ]
        chain.R.append(R)
        chain.phi.append(np.block([[R, skew(l) @ R], [np.zeros((3, 3)), R]]))
        still = np.zeros(3)
        chain.H.append(np.concatenate([tree.axis[i], still] if tree.revolute[i] else [still, tree.axis[i]]))
        # eq. 5: M(k) = [ J     m p~ ]   p from O_k to the centre of mass, J about O_k
        #               [ -m p~  m 1 ]
        m, p = tree.mass[i], skew(tree.com[i])
        chain.M.append(np.block([[tree.inertia[i] - m * p @ p, m * p], [-m * p, m * np.eye(3)]]))
        chain.rotor.append(tree.rotor[i])
    return chain


def rates(chain: Chain, qd) -> Rates:
    """Return a(k) and b(k) of eq. 6 at the velocities qd (n,), from base to tip.

    a(k) = phidot*(k + 1, k) V(k + 1) + Hdot*(k) thd(k)
    b(k) = Mdot(k) V(k) - phidot(p(k)) M(k) V(k) = (w x J w, m w x (w x p))
    """
    R, phi, H, M, thd = chain.R, chain.phi, chain.H, chain.M, tip_first(qd)
    n = len(H) - 1
    V = [np.zeros(6)] * (n + 2)
    a, b = [np.zeros(6)] * (n + 1), [np.zeros(6)] * (n + 1)
    for k in range(n, 0, -1):
        # V(k) = phi*(k + 1, k) V(k + 1) + H*(k) thd(k)
        before, joint = phi[k].T @ V[k + 1], H[k] * thd[k]
        V[k] = before + joint
        # the columns of H turn with w(k); phidot* has ldot, the velocity of O_k against O_k+1, seen from body k
        w_before, w = skew(before[:3]), skew(V[k][:3])
        ldot = V[k][3:] - R[k].T @ V[k + 1][3:]
        a[k] = np.concatenate([w @ joint[:3], w_before @ ldot + w @ joint[3:]])
        # J and m p~ are blocks of M(k): m w x p = (-m p~) w
        J, m_p = M[k][:3, :3], M[k][3:, :3]
        b[k] = np.concatenate([w @ (J @ V[k][:3]), w @ (m_p @ V[k][:3])])
    return Rates(a, b)


def products(shifts: list) -> np.ndarray:
    """Return the global operator (6 n, 6 n) of shifts s(k + 1, k): blocks s(i, i - 1) ... s(j + 1, j), 1 for i = j.

    Equals (1 - E)^-1 where E has the blocks s(k + 1, k) below its diagonal. The shift to the base, the last, is not in
    it.
    """
    n = len(shifts) - 1
    rows = [[np.eye(6)]]
    for i in range(2, n + 1):
        rows.append([*(shifts[i - 1] @ block for block in rows[-1]), np.eye(6)])
    return np.block([[*row, *[np.zeros((6, 6))] * (n - len(row))] for row in rows])


def diagonal(blocks: list) -> np.ndarray:
    """Return the block-diagonal matrix of the bodies' blocks, (6 n, 6 n) of matrices, (n, 6 n) of rows (6,)."""
    blocks = [np.atleast_2d(block) for block in blocks[1:]]
    none = np.zeros(blocks[0].shape)
    return np.block([[block if i == j else none for j in range(len(blocks))] for i, block in enumerate(blocks)])


def shifted(K: list) -> np.ndarray:
    """Return the matrix (6 n, n) with the columns K(k + 1, k) (6,) below its diagonal, K(n + 1, n) left out."""
    return np.concatenate([np.zeros((6, len(K) - 1)), diagonal(K).T[:-6]])


def tip_force(R: list, f) -> np.ndarray:
    """Return phi(1, 0) f: a force (6,), or columns (6, m), at O_1, rotated from base axes to those of body 1."""
    moment, force = f[:3], f[3:]
    for rotation in R[:0:-1]:
        moment, force = rotation.T @ moment, rotation.T @ force
    return np.concatenate([moment, force])


def tip_first(vector) -> list:
    """Return the entries of a joint vector (n,) by numbers of bodies; index 0 is zero."""
    return [0.0, *vector[::-1]]


def base_acceleration(tree: KinematicTree) -> np.ndarray:
    """Return alpha(n + 1) = -g (6,): gravity as a fictitious acceleration of the base, whose axes are those of g."""
    return np.concatenate([np.zeros(3), -tree.gravity])
