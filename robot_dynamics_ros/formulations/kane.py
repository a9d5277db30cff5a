"""Kane's equations: partial velocities, generalised active and inertia forces.

Everything is a vector in axes of the base. The generalised speeds are the joint velocities: u_r = qd_r. Body i has the
angular velocity w_i and its centre the velocity v_i; both are linear in the speeds, with the partial velocities w_r and
v_r as factors. For each speed the generalised active forces F_r and the generalised inertia forces F*_r cancel:

    F_r + F*_r = 0
    F_r = tau_r + sum of (v_r . (m_i g + f_i) + w_r . n_i)
    F*_r = -sum of (v_r . m_i a_i + w_r . (J_i alpha_i + w_i x J_i w_i)) - rotor_r qdd_r

No constraint force of a joint appears: a partial velocity is a motion that the joints allow. Trees of revolute and
prismatic joints are represented.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.robot import Robot


class Body(NamedTuple):
    """A body of a tree at a state, in axes of the base."""

    rotation: np.ndarray  # (3, 3)       link -> base
    origin: np.ndarray  # (3,) m         of the link's frame
    w: np.ndarray  # (3,) rad/s          angular velocity
    alpha: np.ndarray  # (3,) rad/s^2    angular acceleration
    a: np.ndarray  # (3,) m/s^2          acceleration of the link's origin
    w_r: list  # (3,) each               partial angular velocity for each speed
    v_r: list  # (3,) each               partial velocity of the link's origin for each speed


def inverse_dynamics(robot: Robot | KinematicTree, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Joint torques of a motion by Kane's equations: tau_r = -F*_r - (active forces other than tau_r).

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
    Kane & Levinson 1983, which Featherstone & Orin 2000, section 4, name for symbolic equations of motion.
    """
    tree = KinematicTree.of(robot, 'kane', serial=False)
    q, qd, qdd, wrench = tree.arguments(tip_wrench, q=q, qd=qd, qdd=qdd)
    moved = bodies(tree, q, qd, qdd)
    tau = [*(tree.rotor[1:] * qdd)]
    for i in range(1, tree.n + 1):
        body = moved[i]
        c, J = body.rotation @ tree.com[i], body.rotation @ tree.inertia[i] @ body.rotation.T
        a = body.a + np.cross(body.alpha, c) + np.cross(body.w, np.cross(body.w, c))
        force = tree.mass[i] * (a - tree.gravity)
        moment = J @ body.alpha + np.cross(body.w, J @ body.w)
        if i == tree.n:
            # the wrench's part of F_r
            force, moment = force - wrench[3:], moment - wrench[:3] + np.cross(c, wrench[3:])
        for r in _speeds(tree, i):
            # -F*_r and the weight's part of F_r, by the partial velocity of the centre of mass
            v_r = body.v_r[r] + np.cross(body.w_r[r], c)
            tau[r] = tau[r] + v_r @ force + body.w_r[r] @ moment
    return np.array(tau)


def bodies(tree: KinematicTree, q, qd, qdd) -> list[Body]:
    """Return the base and all bodies at q, qd, qdd (n,), each with its partial velocities."""
    zero = np.zeros(3)
    moved = [Body(np.eye(3), zero, zero, zero, zero, [zero] * tree.n, [zero] * tree.n)]
    for i in range(1, tree.n + 1):
        parent = moved[tree.parent[i]]
        R, r = tree.placement(i, q[i - 1])
        R, r = parent.rotation @ R, parent.rotation @ r
        z, w, alpha = R @ tree.axis[i], parent.w, parent.alpha
        # of the point of the parent that coincides with the link's origin
        a = parent.a + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
        w_r, v_r = list(parent.w_r), list(parent.v_r)
        for speed in _speeds(tree, tree.parent[i]):
            v_r[speed] = v_r[speed] + np.cross(w_r[speed], r)
        if tree.revolute[i]:
            alpha = alpha + z * qdd[i - 1] + np.cross(w, z * qd[i - 1])
            w = w + z * qd[i - 1]
            w_r[i - 1] = z
        else:
            a = a + z * qdd[i - 1] + 2.0 * np.cross(w, z * qd[i - 1])
            v_r[i - 1] = z
        moved.append(Body(R, parent.origin + r, w, alpha, a, w_r, v_r))
    return moved


def _speeds(tree: KinematicTree, i: int) -> list[int]:
    """Return the indices of the speeds on which the motion of link ``i`` depends: those of the joints before it."""
    speeds = []
    while i > 0:
        speeds.append(i - 1)
        i = tree.parent[i]
    return speeds
