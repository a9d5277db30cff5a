"""Forward kinematics: where every link is."""

from robot_dynamics_ros.dynamics.jit import kernel
from robot_dynamics_ros.dynamics.joints import joint_transform


@kernel
def link_poses(model, work, q, T):
    """Write T (n + 1, 4, 4; m), the homogeneous pose of every link's frame in the base frame, at q (nq, rad or m).

    Writes all of ``T`` and the rows E r of ``work``. Reads ``model``. RBDA eq. 2.28, composed from base to tip.
    """
    n = model.parent.shape[0] - 1
    # T_0 = 1
    for row in range(4):
        for column in range(4):
            T[0, row, column] = 1.0 if row == column else 0.0

    for i in range(1, n + 1):
        p = model.parent[i]
        joint_transform(model, q, i, work.E, work.r)
        # T_i = T_p [E_i' r_i; 0 1]
        for row in range(3):
            # a row of R_p E_i' is E_i times that row of R_p
            for column in range(3):
                T[i, row, column] = (
                    T[p, row, 0] * work.E[i, column, 0]
                    + T[p, row, 1] * work.E[i, column, 1]
                    + T[p, row, 2] * work.E[i, column, 2]
                )
            T[i, row, 3] = (
                T[p, row, 0] * work.r[i, 0] + T[p, row, 1] * work.r[i, 1] + T[p, row, 2] * work.r[i, 2] + T[p, row, 3]
            )
            T[i, 3, row] = 0.0
        T[i, 3, 3] = 1.0
