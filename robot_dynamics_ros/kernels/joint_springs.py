"""Springs of joints: passive torques of forward dynamics."""

from robot_dynamics_ros.jit.decorators import kernel


@kernel
def against_spring(model, q, k):
    """Return the torque that holds the spring at velocity k (1..nv), N m or N, at q (nq, rad or m); 0 without one.

    -tau_s_k = stiffness (q - rest). Reads ``model``.
    """
    return model.stiffness[k] * (q[model.coordinate[k]] - model.spring_rest[k])
