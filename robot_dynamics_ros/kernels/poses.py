"""Poses of the links in the base frame, from the base outwards."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joints import joint_transform


@kernel
def link_poses(model, work, q, T):
    """Write T (n + 1, 4, 4; m), the homogeneous pose of every link's frame in the base frame, at q (nq, rad or m).

    Writes all of ``T`` and the arrays E r of ``work``. Reads ``model``. RBDA eq. 2.28, composed from base to tip.
    """
    n = model.parent.shape[0] - 1
    base_pose(T)

    for i in range(1, n + 1):
        joint_transform(model, q, i, work.E, work.r)
        pose_of_link(model, work, i, T)


@kernel
def base_pose(T):
    """Write T_0 = 1, the pose (4, 4) of the base in its own frame."""
    for row in range(4):
        for column in range(4):
            T[0, row, column] = 1.0 if row == column else 0.0


@kernel
def pose_of_link(model, work, i, T):
    """Write T_i (4, 4; m), the homogeneous pose of link ``i`` in the base frame.

    Reads ``model``, T of the parent, and E and r of the joint. RBDA eq. 2.28.
    """
    p = model.parent[i]
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


@kernel
def poses_to_link(model, work, q, i):
    """Write the arrays E r T of ``work`` at q (nq, rad or m) of the base, of link ``i`` and of the links between them.

    Reads ``model``. RBDA eq. 2.28, composed from base to tip.
    """
    j = i
    while j > 0:
        joint_transform(model, q, j, work.E, work.r)
        j = model.parent[j]
    composed_poses(model, work, i)


@kernel
def composed_poses(model, work, i):
    """Write the array T of ``work`` of the base, of link ``i`` and of the links between them from the rows E and r.

    Reads ``model``. RBDA eq. 2.28, composed from base to tip.
    """
    base_pose(work.T)
    for k in range(joints_to_link(model, i) - 1, -1, -1):
        pose_of_link(model, work, link_before(model, i, k), work.T)


@kernel
def joints_to_link(model, i):
    """Return the number of joints between the base and link ``i``. RBDA section 4.1.2."""
    count = 0
    j = i
    while j > 0:
        count += 1
        j = model.parent[j]
    return count


@kernel
def link_before(model, i, k):
    """Return the number of the link that is ``k`` joints before link ``i``. RBDA section 4.1.2."""
    j = i
    for _ in range(k):
        j = model.parent[j]
    return j
