"""Articulated-body inertias of all links: the inertia of a link whose outer joints are free."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.inertia import articulated_times, articulated_to_parent, rigid_to_articulated
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.rotors import rotor_momentum
from robot_dynamics_ros.kernels.spatial import dot


@kernel
def articulated_inertias(model, work, q):
    """Write the arrays E r I_A U d of ``work`` at q (nq, rad or m), as ``aba`` does.

    Reads ``model``. Row 0 of I_A is the inertia of the whole robot, its joints free. RBDA table 7.1, second pass.
    """
    n = model.parent.shape[0] - 1
    for row in range(6):
        for column in range(6):
            work.I_A[0, row, column] = 0.0
    for i in range(1, n + 1):
        joint_transform(model, q, i, work.E, work.r)
        # I_A_i = I_i
        rigid_to_articulated(model.I, i, work.I_A)

    for i in range(n, 0, -1):
        # one degree of freedom after the other, the outermost first, as in ``aba``
        for k in range(model.first[i + 1] - 1, model.first[i] - 1, -1):
            free_velocity(model, work, i, k)
        # I_A_p += X_i' I_a X_i
        articulated_to_parent(work.E, work.r, work.I_A, i, model.parent[i])


@kernel
def free_velocity(model, work, i, k):
    """Write U_k, d_k and I_A_i of ``work``: what is left of the inertia of link ``i`` with velocity ``k`` free.

    Returns 1 / d_k. Reads ``model``. ``k`` is a velocity of joint ``i``; those after it are free. RBDA table 7.1.
    """
    I_A, U = work.I_A, work.U
    # U_k = I_A_i S_k,  d_k = S_k' U_k + rotor_k
    articulated_times(I_A, i, model.S, k, U, k)
    work.d[k] = dot(model.S, k, U, k) + model.rotor[k]
    d_inv = 1.0 / work.d[k]
    # reaction of the rotor on the parent: U_k += [ spin_k z ; 0 ]
    rotor_momentum(model, i, U, k)
    # I_a = I_A_i - U_k U_k' / d_k
    for row in range(6):
        U_d = U[k, row] * d_inv
        for column in range(row, 6):
            I_A[i, row, column] -= U_d * U[k, column]
    return d_inv
