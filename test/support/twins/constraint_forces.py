"""Forward dynamics of serial chains by constraint forces, as a system of equations for them: a slow twin.

Fijany, Sharf & D'Eleuterio 1995; Featherstone & Orin 2000, eq. 28: the force of a joint is split into a part along its
motion, which is known from the torques, and a constraint force T lambda. That the links move apart along S only gives a
block tridiagonal system for all lambda at once. Rotors are not included.
"""

from support.twins import naive

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import spsolve


def forward_dynamics(joints, q, qd, tau, gravity, f_ext):
    """Return qdd (nv) of a chain whose joints are in the order of its links."""
    n, rates, torques = len(joints), naive.parts(joints, qd), naive.parts(joints, tau)
    assert naive.parents(joints) == list(range(-1, n)) and not any(naive.rotors(joints))
    X, S, inertia = naive.joint_transforms(joints, q), naive.joint_axes(joints), naive.inertias(joints)
    v = naive.velocities(joints, q, qd)
    a_0 = np.concatenate([np.zeros(3), -gravity])
    S_all = sparse.block_diag(S[1:])
    T_all = sparse.block_diag([linalg.null_space(S_i.T) for S_i in S[1:]])
    # forces of the joints that do the torques' work: f = T lambda + S (S' S)^-1 tau
    f_tau = np.concatenate([S_i @ linalg.solve(S_i.T @ S_i, part) for S_i, part in zip(S[1:], torques, strict=True)])
    # net force on link i: P f = f_i - X_(i+1)' f_(i+1); acceleration across joint i: P' a = a_i - X_i a_(i-1)
    P = sparse.eye(6 * n, format='lil')
    for i in range(2, n + 1):
        P[6 * i - 12 : 6 * i - 6, 6 * i - 6 : 6 * i] = -X[i].T
    P = P.tocsr()
    mobility = sparse.block_diag([linalg.inv(I_i) for I_i in inertia[1:]])
    bias = np.concatenate([naive.crf(v[i]) @ inertia[i] @ v[i] - f_ext[i] for i in range(1, n + 1)])
    c = np.concatenate([naive.crm(v[i]) @ S[i] @ rates[i - 1] for i in range(1, n + 1)])
    c[:6] += X[1] @ a_0
    # a = mobility (P f - bias);  P' a = S qdd + c;  T' S = 0
    across = P.T @ mobility @ P
    rest = c + P.T @ mobility @ bias
    lambdas = spsolve((T_all.T @ across @ T_all).tocsc(), T_all.T @ (rest - across @ f_tau))
    return sparse.linalg.spsolve((S_all.T @ S_all).tocsc(), S_all.T @ (across @ (f_tau + T_all @ lambdas) - rest))
