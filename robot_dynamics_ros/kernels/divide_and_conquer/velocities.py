"""Angular velocities of the links by divide and conquer: up and down the tree of assemblies in O(log n) steps.

``assembly`` has the order in which links are assembled, ``work`` is the workspace of assemblies (``model.assembly``).
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joints import across_joint, joint_transform
from robot_dynamics_ros.kernels.spatial import rotate


@kernel
def join_rotations(model, assembly, work, q, qd, i):
    """Write rows ``i`` of E r D w_D of ``work``, and R w_R of the assembly that joint ``i`` makes.

    Reads q (nq, rad or m) and qd (nv, per s). w_i = D_i w_j + w_D_i, where ``j`` is the first link of the assembly
    above; at the handles w = R w_j + w_R.
    """
    j, D, R, w_D, w_R = assembly.above[i], work.D, work.R, work.w_D, work.w_R
    joint_transform(model, q, i, work.E, work.r)
    wx, wy, wz, _, _, _ = across_joint(model, qd, i)
    if assembly.alone[i] == 1:
        no_rotation(R, w_R, i)
    if assembly.alone_above[i] == 1 or model.parent[i] == 0:
        # D_i = E_i,  w_D_i = S_i qd_i
        for row in range(3):
            for column in range(3):
                D[i, row, column] = work.E[i, row, column]
        w_D[i, 0], w_D[i, 1], w_D[i, 2] = wx, wy, wz
    else:
        # D_i = E_i R_j,  w_D_i = E_i w_R_j + S_i qd_i
        multiply_rotations(work.E, i, R, j, D, i)
        x, y, z = rotate(work.E, i, w_R[j, 0], w_R[j, 1], w_R[j, 2])
        w_D[i, 0], w_D[i, 1], w_D[i, 2] = x + wx, y + wy, z + wz
    if assembly.through[i] == 1:
        # R_j = R_i D_i,  w_R_j = R_i w_D_i + w_R_i
        multiply_rotations(R, i, D, i, R, j)
        x, y, z = rotate(R, i, w_D[i, 0], w_D[i, 1], w_D[i, 2])
        w_R[j, 0], w_R[j, 1], w_R[j, 2] = x + w_R[i, 0], y + w_R[i, 1], z + w_R[i, 2]
    elif assembly.alone_above[i] == 1:
        no_rotation(R, w_R, j)


@kernel
def no_rotation(R, w_R, i):
    """Write R[i] = 1 and w_R[i] = 0."""
    for row in range(3):
        for column in range(3):
            R[i, row, column] = 0.0
        R[i, row, row] = 1.0
        w_R[i, row] = 0.0


@kernel
def multiply_rotations(A, i, B, j, C, k):
    """Write C[k] = A[i] B[j], three different matrices."""
    for column in range(3):
        C[k, 0, column], C[k, 1, column], C[k, 2, column] = rotate(
            A, i, B[j, 0, column], B[j, 1, column], B[j, 2, column]
        )


@kernel
def angular_velocity(assembly, work, i):
    """Write w_i = D_i w_j + w_D_i of ``work``; ``j`` is the first link of the assembly above, whose w is known."""
    j, w, w_D = assembly.above[i], work.w, work.w_D
    x, y, z = rotate(work.D, i, w[j, 0], w[j, 1], w[j, 2])
    w[i, 0], w[i, 1], w[i, 2] = x + w_D[i, 0], y + w_D[i, 1], z + w_D[i, 2]
