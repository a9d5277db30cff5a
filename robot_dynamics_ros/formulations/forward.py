"""Forward dynamics in four ways: by inverse dynamics, mass matrix, articulated bodies and factorised operators.

All solve M(q) qdd + C(q, qd) = tau for qdd; C includes gravity and the wrench at the tip.
"""

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.formulations import operators, spatial
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.robot import Robot


def by_inverse_dynamics(robot: Robot | KinematicTree, q, qd, tau, tip_wrench=None) -> np.ndarray:
    """Joint accelerations by n + 1 calls of inverse dynamics D(q, qd, qdd): method 1 of Walker & Orin 1982.

    C = D(q, qd, 0), column i of M is D(q, 0, delta_i) without gravity and wrench, where D(q, 0, 0) = 0.

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
        For a joint of another type or without inertia.
    ArgumentError
        For a vector of wrong shape or with NaN or inf.

    References
    ----------
    Featherstone & Orin 2000, section 3.2, third equation.
    """
    tree = KinematicTree.of(robot, 'forward dynamics by inverse dynamics', serial=False)
    q, qd, tau, _ = tree.arguments(q=q, qd=qd, tau=tau)
    still = np.zeros(tree.n)
    weightless = replace(tree, gravity=np.zeros(3))
    C = spatial.inverse_dynamics(tree, q, qd, still, tip_wrench)
    M = np.array([spatial.inverse_dynamics(weightless, q, still, delta_i) for delta_i in np.eye(tree.n)]).T
    return solved(tree, M, tau - C)


def by_mass_matrix(robot: Robot | KinematicTree, q, qd, tau, tip_wrench=None) -> np.ndarray:
    """Joint accelerations by composite rigid bodies and Cholesky factors: M = L L', qdd = L'^-1 L^-1 (tau - C).

    Arguments, result and errors as ``by_inverse_dynamics``. Method 3 of Walker & Orin 1982; Featherstone & Orin 2000,
    eq. 9, 10 for M and 3, 4, 7, 8 for C.
    """
    tree = KinematicTree.of(robot, 'forward dynamics by mass matrix', serial=False)
    q, qd, tau, _ = tree.arguments(q=q, qd=qd, tau=tau)
    C = spatial.inverse_dynamics(tree, q, qd, np.zeros(tree.n), tip_wrench)
    return solved(tree, spatial.mass_matrix(tree, q), tau - C)


def by_articulated_bodies(robot: Robot | KinematicTree, q, qd, tau, tip_wrench=None) -> np.ndarray:
    """Joint accelerations by the articulated-body algorithm.

    Arguments, result and errors as ``by_inverse_dynamics``. Featherstone & Orin 2000, eq. 3, 12, 13, 14 and 4.
    """
    return spatial.forward_dynamics(robot, q, qd, tau, tip_wrench)


def by_operators(robot: Robot | KinematicTree, q, qd, tau, tip_wrench=None) -> np.ndarray:
    """Joint accelerations by the factors of M^-1: qdd = (1 - H psi K)* D^-1 (1 - H psi K) (tau - C).

    Arguments, result and errors as ``by_inverse_dynamics``; branches are refused, too. Rodriguez, Jain &
    Kreutz-Delgado 1991.
    """
    tree = KinematicTree.of(robot, 'forward dynamics by operators')
    q, qd, tau, _ = tree.arguments(q=q, qd=qd, tau=tau)
    C = operators.inverse_dynamics(tree, q, qd, np.zeros(tree.n), tip_wrench)
    _, L_inverse, D = operators.factors(tree, q)
    # rows from the tip to the base
    innovations = L_inverse @ (tau - C)[::-1]
    return (L_inverse.T @ (innovations / D))[::-1]


METHODS = (by_inverse_dynamics, by_mass_matrix, by_articulated_bodies, by_operators)


def solved(tree: KinematicTree, M, b) -> np.ndarray:
    """Return x (n,) of M x = b by Cholesky factors; M (n, n) is a mass matrix.

    Raises ModelError, which names the joint where M stops being positive definite.
    """
    n = len(b)
    L = cholesky(tree, M)
    # L y = b
    y = []
    for i in range(n):
        y.append((b[i] - sum(L[i][j] * y[j] for j in range(i))) / L[i][i])
    # L' x = y
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (y[i] - sum(L[j][i] * x[j] for j in range(i + 1, n))) / L[i][i]
    return np.array(x)


def cholesky(tree: KinematicTree, M) -> list[list]:
    """Return the rows of L, lower triangular, M = L L': L_ii^2 = M_ii - sum L_ik^2, L_ij = (M_ij - ...) / L_jj."""
    L: list[list] = []
    for i in range(len(M)):
        row: list = []
        for j in range(i):
            row.append((M[i][j] - sum(row[k] * L[j][k] for k in range(j))) / L[j][j])
        row.append(np.sqrt(tree.accelerated(i + 1, M[i][i] - sum(entry * entry for entry in row))))
        L.append(row)
    return L
