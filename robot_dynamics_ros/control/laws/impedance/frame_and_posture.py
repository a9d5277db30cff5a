"""What laws of a frame share: its mobility, and a force at the frame with a posture in its null space.

v = J de,  B = J M^-1,  A = B J'
tau = J' F + N' (Kp e_q + Kd N de) + term,     N = 1 - B' Lambda J
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joint_feedback import joint_feedback


@kernel
def mobility(J, M_inv, de, v, B, A):
    """Write v (6) = J de, B (6, n) = J M^-1 and A (6, 6) = B J' for J (6, n), M_inv = M^-1 (n, n) and de (n)."""
    n = de.shape[0]
    for row in range(6):
        v[row] = 0.0
        for k in range(n):
            v[row] += J[row, k] * de[k]
            B[row, k] = 0.0
            for j in range(n):
                B[row, k] += J[row, j] * M_inv[j, k]
    for row in range(6):
        for column in range(6):
            A[row, column] = 0.0
            for k in range(n):
                A[row, column] += B[row, k] * J[column, k]


@kernel
def add_posture(J, B, Lambda, y, F, Kp, Kd, turn, q, q_desired, nothing, term, de, v, tau_0, out):
    """Write out (n), the torque of the module, for y (6) = Lambda J de and the force F (6) at the frame.

    Writes N de into de (n), and F; v (6) and tau_0 (n) are scratch, ``nothing`` (n) are zeros.
    """
    n = out.shape[0]
    # tau_0 = Kp e_q + Kd N de,  N de = de - B' y
    for k in range(n):
        for row in range(6):
            de[k] -= B[row, k] * y[row]
    joint_feedback(Kp, Kd, turn, q, nothing, q_desired, de, nothing, tau_0)
    # tau = J' (F - Lambda B tau_0) + tau_0 + term
    for row in range(6):
        v[row] = 0.0
        for k in range(n):
            v[row] += B[row, k] * tau_0[k]
    for row in range(6):
        for column in range(6):
            F[row] -= Lambda[row, column] * v[column]
    for k in range(n):
        out[k] = tau_0[k] + term[k]
        for row in range(6):
            out[k] += J[row, k] * F[row]
