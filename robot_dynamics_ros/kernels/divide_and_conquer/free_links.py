"""Links and base before joints connect them, for ``divide_and_conquer``."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.inertia import body_force
from robot_dynamics_ros.kernels.rotors import rotor_gyration
from robot_dynamics_ros.kernels.spatial import point_acceleration


@kernel
def free_link(model, assembly, work, qd, i):
    """Write the rows ``i`` of B p Phi_11 Phi_12 Phi_22 b_1 b_2 of ``work`` for a link without joints.

    Reads qd (nv, per s) and the rows w a f_ext.
    """
    # p_i = v_i x* I_i v_i - f_ext_i, and the gyroscopic moment of the joint's rotor, which acts on the parent
    point_acceleration(work.w, work.a, i, work.B)
    body_force(model.I, work.B, work.a, i, work.p)
    rotor_gyration(model, work.w, i, qd[model.first[i] - 1], work.p)
    for row in range(6):
        work.p[i, row] -= work.f_ext[i, row]
    # Phi_11 = Phi_12 = Phi_22 = I_i^-1,  b_1 = b_2 = -I_i^-1 p_i
    for row in range(6):
        b = -(assembly.Phi[i, row, 0] * work.p[i, 0])
        for column in range(1, 6):
            b -= assembly.Phi[i, row, column] * work.p[i, column]
        work.b_1[i, row] = b
        work.b_2[i, row] = b
        for column in range(6):
            work.Phi_11[i, row, column] = assembly.Phi[i, row, column]
            work.Phi_12[i, row, column] = assembly.Phi[i, row, column]
            work.Phi_22[i, row, column] = assembly.Phi[i, row, column]


@kernel
def fixed_base(work, base, gravity):
    """Write the arrays 0 of w b_2 Phi_22 of ``work``: no force moves the base.

    ``base`` has velocity and acceleration of a moving base (12), as in ``base_motion``, or nothing (0).
    ``gravity`` (3, m/s^2) is in the base frame.
    """
    for row in range(6):
        for column in range(6):
            work.Phi_22[0, row, column] = 0.0
    for k in range(3):
        # w_0 = 0, a_0 = -gravity
        work.w[0, k] = 0.0
        work.b_2[0, k] = 0.0
        work.b_2[0, k + 3] = -gravity[k]
        if base.shape[0] == 12:
            # w_0 = v_0's angular part, a_0 = a_0 - gravity
            work.w[0, k] = base[k]
            work.b_2[0, k] = base[k + 6]
            work.b_2[0, k + 3] += base[k + 9]


@kernel
def no_wrenches(f_ext):
    """Write f_ext (n + 1, 6) = 0."""
    for i in range(f_ext.shape[0]):
        for k in range(6):
            f_ext[i, k] = 0.0
