"""Operational-space dynamics of frames without forming M: unit wrenches are propagated through articulated bodies.

The inverse of the operational-space inertia is J M^-1 J'. ``links``, ``rotations`` and ``origins`` are those of F
frames, one a row; see ``kinematics`` for a frame and for ``reference_frame``. J has six rows for each frame, in their
order. The cost is linear in the number of joints for a fixed number of frames.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.aba import aba_without_springs
from robot_dynamics_ros.kernels.articulated_inertias import articulated_inertias
from robot_dynamics_ros.kernels.kinematics import frame_acceleration
from robot_dynamics_ros.kernels.motion import no_motion
from robot_dynamics_ros.kernels.operational_space import invert
from robot_dynamics_ros.kernels.unit_wrenches import (
    accelerations,
    mirror,
    no_forces,
    product_of_frames,
    propagate_unit_wrenches,
)


@kernel
def inertia_inverse_by_propagation(model, work, q, i, rotation, origin, reference_frame, A):
    """Write A (6, 6; per kg m^2, kg m, kg) = J M^-1 J' = K' D^-1 K of a frame at q (nq, rad or m), rotors included.

    Writes all of ``A`` and the arrays E r I_A U d K Lambda of ``work``. Reads ``model``. A exists also where the frame
    cannot move in all six directions. Rodriguez, Jain & Kreutz-Delgado 1991, section 5.
    """
    articulated_inertias(model, work, q)
    propagate_unit_wrenches(model, work, i, rotation, origin, reference_frame, 0, work.K)
    product_of_frames(model, work, i, 0, i, 0, work.K, A)
    mirror(A)


@kernel
def inertia_inverse_of_frames(model, work, q, links, rotations, origins, reference_frame, A):
    """Write A (6 F, 6 F; per kg m^2, kg m, kg) = J M^-1 J' = K' D^-1 K of F frames at q (nq, rad or m), with rotors.

    Writes all of ``A`` and the arrays E r I_A U d Y Lambda of ``work``: Y has K in its first 6 F columns, and has to be
    wide enough. Reads ``model``. Rodriguez, Jain & Kreutz-Delgado 1991, section 5.
    """
    propagate_frames(model, work, q, links, rotations, origins, reference_frame, A)
    mirror(A)


@kernel
def inertia_by_propagation(model, work, q, i, rotation, origin, reference_frame, inertia):
    """Write inertia (6, 6; kg m^2, kg m, kg) = (J M^-1 J')^-1 of a frame at q (nq, rad or m), rotors included.

    Results are not finite where J M^-1 J' is nearly singular, see ``invert``. Writes all of ``inertia`` and the arrays
    E r I_A U d K A Lambda of ``work``. Reads ``model``. Khatib 1987, eq. 29.
    """
    articulated_inertias(model, work, q)
    propagate_unit_wrenches(model, work, i, rotation, origin, reference_frame, 0, work.K)
    product_of_frames(model, work, i, 0, i, 0, work.K, work.A)
    invert(work.A, inertia)


@kernel
def inertia_of_frames(model, work, q, links, rotations, origins, reference_frame, inertia):
    """Write inertia (6 F, 6 F; kg m^2, kg m, kg) = (J M^-1 J')^-1 of F frames at q (nq, rad or m), rotors included.

    Results are not finite where J M^-1 J' is nearly singular, see ``invert``. Writes all of ``inertia`` and the arrays
    E r I_A U d Y Lambda of ``work``. Reads ``model``. Khatib 1987, eq. 29.
    """
    propagate_frames(model, work, q, links, rotations, origins, reference_frame, inertia)
    invert(inertia, inertia)


@kernel
def consistent_inverse_by_propagation(model, work, q, i, rotation, origin, reference_frame, inverse):
    """Write inverse (nv, 6; rad or m per rad, m) = M^-1 J' (J M^-1 J')^-1 of a frame at q (nq, rad or m).

    Results are not finite where J M^-1 J' is nearly singular, see ``invert``. Writes all of ``inverse`` and the arrays
    E r I_A U d A Lambda of ``work``. Reads ``model``. Khatib 1987, eq. 36.
    """
    articulated_inertias(model, work, q)
    no_forces(inverse)
    propagate_unit_wrenches(model, work, i, rotation, origin, reference_frame, 0, inverse)
    product_of_frames(model, work, i, 0, i, 0, inverse, work.A)
    invert(work.A, work.Lambda)
    accelerations(model, work, inverse)
    for k in range(inverse.shape[0]):
        # M^-1 J' Lambda
        for row in range(6):
            work.A[0, row] = inverse[k, row]
            inverse[k, row] = 0.0
        for row in range(6):
            for column in range(6):
                inverse[k, column] += work.A[0, row] * work.Lambda[row, column]


@kernel
def response_to_wrenches(model, work, q, links, rotations, origins, reference_frame, response):
    """Write response (nv, 6 F; rad or m per N m s^2, N s^2) = M^-1 J' of F frames at q (nq, rad or m), with rotors.

    A column has the joint accelerations under a unit wrench. Writes all of ``response`` and the arrays E r I_A U d
    Lambda of ``work``. Reads ``model``. RBDA table 7.1, second and third pass.
    """
    articulated_inertias(model, work, q)
    no_forces(response)
    for j in range(links.shape[0]):
        propagate_unit_wrenches(model, work, links[j], rotations[j], origins[j], reference_frame, 6 * j, response)
    accelerations(model, work, response)


@kernel
def bias_by_propagation(model, work, q, qd, tau, gravity, f_ext, i, rotation, origin, reference_frame, bias):
    """Write bias (6; N m, N) = -(J M^-1 J')^-1 a, a the acceleration of a frame for the joint torques tau (nv).

    No spring acts: bias and gravity torques do not include them. Results are not finite where J M^-1 J' is nearly
    singular, see ``invert``. Writes ``bias`` and the arrays E r w v a B c f I_A p_A U d u qdd T K A Lambda rest still
    of ``work``. Other arguments as ``aba``. Khatib 1987, eq. 30, 31.
    """
    no_motion(work)
    aba_without_springs(model, work, q, qd, tau, work.still, work.still, gravity, f_ext, work.qdd)
    # E, r, U and d are those of ``aba_without_springs``
    propagate_unit_wrenches(model, work, i, rotation, origin, reference_frame, 0, work.K)
    product_of_frames(model, work, i, 0, i, 0, work.K, work.A)
    invert(work.A, work.Lambda)
    frame_acceleration(model, work, q, qd, work.qdd, i, rotation, origin, reference_frame, bias)
    for row in range(6):
        work.A[row, 0] = bias[row]
    for row in range(6):
        bias[row] = 0.0
        for column in range(6):
            bias[row] -= work.Lambda[row, column] * work.A[column, 0]


@kernel
def propagate_frames(model, work, q, links, rotations, origins, reference_frame, A):
    """Write the lower triangle of A (6 F, 6 F) = K' D^-1 K of F frames; see ``inertia_inverse_of_frames``.

    Writes the arrays E r I_A U d Y Lambda of ``work``. Reads ``model``. Rodriguez, Jain & Kreutz-Delgado 1991, section
    5.
    """
    articulated_inertias(model, work, q)
    for j in range(links.shape[0]):
        propagate_unit_wrenches(model, work, links[j], rotations[j], origins[j], reference_frame, 6 * j, work.Y)
        for k in range(j + 1):
            product_of_frames(model, work, links[j], 6 * j, links[k], 6 * k, work.Y, A)
