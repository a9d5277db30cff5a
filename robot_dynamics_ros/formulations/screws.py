"""Inverse dynamics and forward kinematics by twists, wrenches and exponentials; link frames at the centres of mass.

Source: the course, section 03 ("Newton-Euler equations by screws", equations 4-44 to 4-58, table 4.1), after Lynch &
Park, "Modern Robotics". A twist is V = (w, v), a wrench F = (n, f): angular part first. T (4, 4) is a pose in SE(3).
Table 4.1 of the course writes ad_T in places where Ad_T of equation 4-51 is meant.
"""

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree, skew


def inverse_dynamics(robot, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Joint torques of a motion: F_i' A_i, rotor inertia included.

    Parameters
    ----------
    robot : Robot
        Serial chain of revolute and prismatic joints.
    q, qd, qdd : array_like, (n,)
        Joint positions, velocities and accelerations; rad or m, per s, per s^2.
    tip_wrench : array_like, (6,), optional
        Moment (N m) and force (N) acting on the last link at its frame's origin, in axes of the base.

    Returns
    -------
    ndarray, (n,)
        N m (prismatic joints: N).

    Raises
    ------
    ModelError
        For a robot with branches or other joints; it names the joint.
    ArgumentError
        For an array of another shape, or with NaN or inf; it names the argument.

    References
    ----------
    The course, table 4.1.
    """
    chain = ScrewChain.of(robot, 'screws')
    q, qd, qdd, wrench = chain.tree.arguments(tip_wrench, q=q, qd=qd, qdd=qdd)
    n, A, G = chain.n, chain.A, chain.G
    T = chain.transforms(q)
    # V_0 = 0,  Vd_0 = (0, -g)
    V, Vd = [np.zeros(6)], [chain.base_acceleration]
    for i in range(1, n + 1):
        # V_i = A_i qd_i + Ad_T V_i-1
        V.append(A[i] * qd[i - 1] + adjoint(T[i]) @ V[i - 1])
        # Vd_i = A_i qdd_i + ad_V A_i qd_i + Ad_T Vd_i-1
        Vd.append(A[i] * qdd[i - 1] + ad(V[i]) @ A[i] * qd[i - 1] + adjoint(T[i]) @ Vd[i - 1])
    # F_n+1 is what the last link exerts on its surroundings
    F, T_outer = -wrench, chain.tip_transform(T)
    tau = []
    for i in range(n, 0, -1):
        # F_i = G_i Vd_i - ad_V' G_i V_i + Ad_T' F_i+1
        F = G[i] @ Vd[i] - ad(V[i]).T @ G[i] @ V[i] + adjoint(T_outer).T @ F
        # tau_i = F_i' A_i
        tau.append(F @ A[i])
        T_outer = T[i]
    return np.array(tau[::-1]) + chain.tree.rotor[1:] * qdd


def forward_kinematics(robot, q) -> np.ndarray:
    """Return the poses (n + 1, 4, 4) of base and links in the base, by the product of exponentials.

    T_i(q) = e^[S_1]q_1 ... e^[S_i]q_i H_i, where H_i is the pose of link i's frame at q = 0: the product of all 4-56 of
    the course, with 4-50. Raises as ``inverse_dynamics`` does.
    """
    chain = ScrewChain.of(robot, 'screws')
    q, _ = chain.tree.arguments(q=q)
    poses, product = [np.eye(4)], np.eye(4)
    for i in range(1, chain.n + 1):
        product = product @ exp(chain.S[i], q[i - 1])
        poses.append(product @ chain.H[i])
    return np.array(poses)


@dataclass(frozen=True)
class ScrewChain:
    """A chain at its zero position, as screws; every array has a row for the base."""

    tree: KinematicTree
    H: np.ndarray  # (n + 1, 4, 4)   pose of a link's frame in the base at q = 0
    M: np.ndarray  # (n + 1, 4, 4)   pose of frame {i} in the base at q = 0: at the centre of mass, axes of the link
    S: np.ndarray  # (n + 1, 6)      screw axis of a joint at q = 0, base frame
    A: np.ndarray  # (n + 1, 6)      screw axis of a joint, frame {i}
    G: np.ndarray  # (n + 1, 6, 6)   spatial inertia, frame {i}

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.tree.n

    @property
    def base_acceleration(self) -> np.ndarray:
        """Vd_0 = (0, -g), (6,): gravity as an acceleration of the base (table 4.1)."""
        return np.concatenate([np.zeros(3), -self.tree.gravity])

    @classmethod
    def of(cls, robot, formulation: str) -> 'ScrewChain':
        """Return the screws of ``robot``; raises as ``KinematicTree.of`` does, for ``formulation``."""
        tree = KinematicTree.of(robot, formulation)
        H, M, S, A, G = [np.eye(4)], [np.eye(4)], [np.zeros(6)], [np.zeros(6)], [np.zeros((6, 6))]
        for i in range(1, tree.n + 1):
            H.append(H[i - 1] @ pose(*tree.placement(i, 0.0)))
            M.append(H[i] @ pose(np.eye(3), tree.com[i]))
            # the axis at the link's origin: (a, 0) of revolute, (0, a) of prismatic joints
            a, zero = tree.axis[i], np.zeros(3)
            S.append(adjoint(H[i]) @ np.concatenate([a, zero] if tree.revolute[i] else [zero, a]))
            # A_i = Ad_(M_i^-1) S_i                                                                       (4-50)
            A.append(adjoint(inverse(M[i])) @ S[i])
            # G_i = (I 0; 0 m 1)                                                                          (4-58)
            G.append(np.block([[tree.inertia[i], np.zeros((3, 3))], [np.zeros((3, 3)), tree.mass[i] * np.eye(3)]]))
        return cls(tree, *(np.array(rows) for rows in (H, M, S, A, G)))

    def transforms(self, q) -> list[np.ndarray]:
        """Return T_i,i-1 (4, 4), the pose of frame {i - 1} in {i}, of each joint; the base has the identity.

        T_i,i-1 = e^(-[A_i] q_i) M_i^-1 M_i-1 (4-57).
        """
        return [
            np.eye(4),
            *(exp(self.A[i], -q[i - 1]) @ inverse(self.M[i]) @ self.M[i - 1] for i in range(1, self.n + 1)),
        ]

    def tip_transform(self, T: list[np.ndarray]) -> np.ndarray:
        """Return T_n+1,n (4, 4), the pose of frame {n} in {n + 1}: at the last link's origin, in axes of the base.

        ``T`` are the ``transforms``.
        """
        to_tip = np.eye(4)
        for T_i in T:
            to_tip = T_i @ to_tip
        R = to_tip[:3, :3].T
        return pose(R, R @ self.tree.com[self.n])


def pose(R, p) -> np.ndarray:
    """Return T = (R p; 0 1), (4, 4)."""
    return np.block([[R, np.reshape(p, (3, 1))], [np.zeros((1, 3)), np.eye(1)]])


def inverse(T) -> np.ndarray:
    """Return T^-1 = (R' -R'p; 0 1), (4, 4)."""
    R, p = T[:3, :3], T[:3, 3]
    return pose(R.T, -R.T @ p)


def twist_matrix(V) -> np.ndarray:
    """Return [V] = ([w] v; 0 0), (4, 4), of a twist (6,)."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = skew(V[:3]), V[3:]
    return matrix


def exp(S, q: float) -> np.ndarray:
    """Return e^([S] q), (4, 4), of a screw axis S = (w, v) with a unit vector w, or w = 0.

    The series of the exponential, whose powers of [w] repeat: [w]^3 = -[w].
    """
    w, v = skew(S[:3]), S[3:]
    # R = 1 + sin q [w] + (1 - cos q) [w]^2
    R = np.eye(3) + np.sin(q) * w + (1.0 - np.cos(q)) * w @ w
    # p = (q 1 + (1 - cos q) [w] + (q - sin q) [w]^2) v
    return pose(R, (q * np.eye(3) + (1.0 - np.cos(q)) * w + (q - np.sin(q)) * w @ w) @ v)


def adjoint(T) -> np.ndarray:
    """Return [Ad_T] = (R 0; [p]R R), (6, 6): twists of the inner frame in the outer one (4-51)."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def ad(V) -> np.ndarray:
    """Return [ad_V] = ([w] 0; [v] [w]), (6, 6): the Lie bracket with V (the text between 4-44 and 4-47)."""
    w, v = skew(V[:3]), skew(V[3:])
    return np.block([[w, np.zeros((3, 3))], [v, w]])
