"""Where a joint puts its link: one formula for every joint with one degree of freedom."""

from robot_dynamics_ros.dynamics.jit import kernel
from robot_dynamics_ros.dynamics.sincos import sincos


@kernel
def joint_transform(model, q, i, E, r):
    """Write the transform X_i of joint ``i`` (1..n) at position ``q[i - 1]`` (rad or m) into ``E[i]`` and ``r[i]``.

    Rodrigues' formula with the fixed rotation of the tree folded into its three constant matrices (RBDA section 4.4:
    X_i = X_J X_T). A revolute joint has r1 = 0, a prismatic one Ec = Es = 0.
    """
    s, c = sincos(q[i - 1])
    for row in range(3):
        # r = r0 + r1 q
        r[i, row] = model.r0[i, row] + model.r1[i, row] * q[i - 1]
        for column in range(3):
            # E = E0 + Ec cos(q) + Es sin(q)
            E[i, row, column] = model.E0[i, row, column] + model.Ec[i, row, column] * c + model.Es[i, row, column] * s
