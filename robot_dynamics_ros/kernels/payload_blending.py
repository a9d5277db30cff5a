"""Torques while payload and gravity change linearly: sums of the torques at the ends of both changes.

Torques are linear in the inertial parameters and in gravity (Featherstone & Orin 2000, eq. 3, 4, 7, 8).
"""

from robot_dynamics_ros.jit.decorators import kernel


@kernel
def corner_weights(payload_share, gravity_share, weights):
    """Write weights (4): of payload and gravity before, gravity after, payload after, and both after their changes.

    The shares, 0 to 1, are the weights of the payload and of gravity after their changes.
    """
    weights[0] = (1.0 - payload_share) * (1.0 - gravity_share)
    weights[1] = (1.0 - payload_share) * gravity_share
    weights[2] = payload_share * (1.0 - gravity_share)
    weights[3] = payload_share * gravity_share


@kernel
def add_share(weight, term, torque):
    """Write torque (n, N m or N) += weight term (n)."""
    for k in range(torque.shape[0]):
        torque[k] += weight * term[k]
