"""Forward dynamics with loop-closure constraints: by the whole system (KKT), and by elimination of variables.

A spanning tree has the equation of motion M qdd + C = tau + tau_c (eq. 15); its joints' positions are not independent:
phi(q) = 0 (eq. 16). Differentiated twice, phi' qdd = -dphi'/dt qd (eq. 17), and L qdd = c has its independent rows (eq.
18). The forces of the loops are tau_c = L' lambda (eq. 19; closing joints have no springs here, tau_a = 0). The state
has to satisfy phi = 0 and phi' qd = 0: nothing is stabilised.

Rows of phi' are unit wrenches of the closures on frame B, with their reactions on frame A: along or about the axes of
A, at the origin of B. Symbols and numbers of equations are those of Featherstone & Orin 2000, section 3.4, in absolute
coordinates as in ``spatial``.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formulations import spatial
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree, skew
from robot_dynamics_ros.model.closed_loops.loop_types import COMPONENTS, LoopClosure
from robot_dynamics_ros.robot import Robot

RANK = 1e-9
"""Largest entry that is left of a dependent row, relative to the largest of all."""
ABOUT = {0: 0, 1: 1, 2: 2, 6: 0, 7: 1}
"""By component of a closure, the axis of A about which it holds B; all others are along an axis."""


class Constraints(NamedTuple):
    """The constraints of all loops at a state."""

    phi_q: np.ndarray  # (m, n)   phi'
    c: np.ndarray  # (m,)         -dphi'/dt qd


class Eliminated(NamedTuple):
    """Independent constraints and what they leave free: qdd = K y + qdd_0."""

    rows: list[int]  # of phi', those of L
    K: np.ndarray  # (n, n - n_c)
    qdd_0: np.ndarray  # (n,)


def by_whole_system(robot: Robot, q, qd, tau) -> np.ndarray:
    """Joint accelerations by eq. 20, a linear system for qdd and lambda together: method 1 of section 3.4.

    Parameters
    ----------
    robot : Robot
        Revolute and prismatic joints, with closed loops, whose closing joints have no springs.
    q, qd, tau : array_like, (n,)
        Positions (rad, m) and velocities (per s) that keep the loops closed, and joint torques (N m; prismatic: N).

    Returns
    -------
    ndarray, (n,)
        rad/s^2 (prismatic joints: m/s^2).

    Raises
    ------
    ModelError
        For a joint of another type, and for a closing joint with a spring or damper.
    ArgumentError
        For a vector of wrong shape or with NaN or inf.

    References
    ----------
    Featherstone & Orin 2000, eq. 15 to 20.
    """
    tree, (q, qd, tau) = _spanning_tree(robot, q, qd, tau)
    M, C = spatial.mass_matrix(tree, q), spatial.inverse_dynamics(tree, q, qd, np.zeros(tree.n))
    phi_q, c = constraints(robot, tree, q, qd)
    # eq. 18
    rows = eliminated(phi_q, c).rows
    L, c = phi_q[rows], c[rows]
    # eq. 20
    system = np.block([[M, L.T], [L, np.zeros((len(L), len(L)))]])
    return np.linalg.solve(system, np.concatenate([tau - C, c]))[: tree.n]


def by_elimination(robot: Robot, q, qd, tau) -> np.ndarray:
    """Joint accelerations by eq. 22, in the motions that the loops leave free: method 3 of section 3.4.

    Arguments, result and errors as ``by_whole_system``. Featherstone & Orin 2000, eq. 15 to 19 and 22.
    """
    tree, (q, qd, tau) = _spanning_tree(robot, q, qd, tau)
    M, C = spatial.mass_matrix(tree, q), spatial.inverse_dynamics(tree, q, qd, np.zeros(tree.n))
    _, K, qdd_0 = eliminated(*constraints(robot, tree, q, qd))
    # eq. 22
    y = np.linalg.solve(K.T @ M @ K, K.T @ (tau - C - M @ qdd_0))
    return K @ y + qdd_0


METHODS = (by_whole_system, by_elimination)


def constraints(robot: Robot, tree: KinematicTree, q, qd) -> Constraints:
    """Return phi' and c = -dphi'/dt qd (eq. 17) of the loops of ``robot`` at q, qd (n,); ``tree`` is its spanning tree.

    The velocity of B against A is v_b - v_a. A row t' (v_b - v_a) has the derivative t' (a_b - a_a) + dt/dt' (v_b -
    v_a), where the wrench t = (p x x, x) along axis x of A moves with A and with the origin p of B.
    """
    links = spatial.links_at(tree, q)
    J, v, a = _motions(tree, links.h, q, qd)
    rows, c = [], []
    for closure in robot.loops.closures:
        (i, A), (k, B) = (_frame(robot, tree, q, *side) for side in _sides(closure))
        p = B[:3, 3]
        w_A, p_dot = v[i][:3], v[k][3:] + skew(v[k][:3]) @ p
        for component in COMPONENTS[closure.kind]:
            x = A[:3, ABOUT.get(component, component - 3)]
            x_dot = skew(w_A) @ x
            if component in ABOUT:
                t, t_dot = np.concatenate([x, np.zeros(3)]), np.concatenate([x_dot, np.zeros(3)])
            else:
                t = np.concatenate([skew(p) @ x, x])
                t_dot = np.concatenate([skew(p_dot) @ x + skew(p) @ x_dot, x_dot])
            rows.append(t @ (J[k] - J[i]))
            c.append(-(t @ (a[k] - a[i]) + t_dot @ (v[k] - v[i])))
    for coupling in robot.loops.couplings:
        # q_j - f(q_o) = 0: its rate is qd_j - f' qd_o, and the derivative of that qdd_j - f' qdd_o - f'' qd_o^2
        row = np.eye(tree.n)[robot.joint_names.index(coupling.joint)]
        second = 0.0
        if coupling.other is not None:
            other, f = robot.joint_names.index(coupling.other), np.polynomial.Polynomial(coupling.polynomial)
            row = row - f.deriv()(q[other]) * np.eye(tree.n)[other]
            second = f.deriv(2)(q[other]) * qd[other] ** 2
        rows.append(row)
        c.append(second)
    return Constraints(np.array(rows).reshape(-1, tree.n), np.array(c))


def eliminated(phi_q, c) -> Eliminated:
    """Return what Gauss-Jordan elimination with complete pivoting makes of phi' (m, n) qdd = c (m,).

    The rank is the number of pivots above RANK times the largest entry. The remaining entries of qdd are y.
    """
    m, n = phi_q.shape
    system = np.column_stack([phi_q, c])
    least = RANK * np.abs(phi_q).max(initial=0.0)
    rows, columns = [], []
    for _ in range(min(m, n)):
        left = np.abs(system[:, :n])
        left[rows] = 0.0
        row, column = np.unravel_index(np.argmax(left), left.shape)
        if left[row, column] <= least:
            break
        system[row] /= system[row, column]
        for other in range(m):
            if other != row:
                system[other] -= system[other, column] * system[row]
        rows.append(int(row))
        columns.append(int(column))
    free = [column for column in range(n) if column not in columns]
    K, qdd_0 = np.zeros((n, len(free))), np.zeros(n)
    K[free] = np.eye(len(free))
    # qdd of the pivots = c - (entries of the free columns) y
    K[columns] = -system[np.ix_(rows, free)]
    qdd_0[columns] = system[rows, n]
    return Eliminated(rows, K, qdd_0)


def _spanning_tree(robot: Robot, q, qd, tau) -> tuple[KinematicTree, list[np.ndarray]]:
    """Return the tree with all loops open, and the vectors; ModelError for a closing joint with a spring or damper."""
    for closure in robot.loops.closures:
        if closure.stiffness or closure.damping:
            raise ModelError(f'closed loops: closure {closure.name!r} has a spring or damper, which no formulation has')
    tree = KinematicTree.of(robot.with_loops([]), 'closed loops', serial=False)
    return tree, tree.arguments(q=q, qd=qd, tau=tau)[:3]


def _motions(tree: KinematicTree, h, q, qd) -> tuple[list, list, list]:
    """Return for the base and each link J (6, n), v = J qd (6,) and a = dJ/dt qd (6,), as in ``spatial``."""
    J, v, a = [np.zeros((6, tree.n))], [np.zeros(6)], [np.zeros(6)]
    for i in range(1, tree.n + 1):
        parent = tree.parent[i]
        J.append(J[parent] + np.outer(h[i], np.eye(tree.n)[i - 1]))
        # eq. 3, and eq. 4 for qdd = 0
        v.append(v[parent] + h[i] * qd[i - 1])
        a.append(a[parent] + spatial.motion_cross(v[i]) @ h[i] * qd[i - 1])
    return J, v, a


def _sides(closure: LoopClosure):
    """Return link and pose of A and of B."""
    return (closure.link_a, closure.pose_a), (closure.link_b, closure.pose_b)


def _frame(robot: Robot, tree: KinematicTree, q, name: str | None, pose) -> tuple[int, np.ndarray]:
    """Return the number of the link of a frame, and its pose (4, 4) in the base frame."""
    frame = robot.model.frame(name or robot.link_names[0])
    i, T = frame.link, frame.pose @ pose
    while i > 0:
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = tree.placement(i, q[i - 1])
        i, T = tree.parent[i], step @ T
    return frame.link, T
