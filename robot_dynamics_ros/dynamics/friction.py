"""Joint friction: viscous, Coulomb and offset."""

import numpy as np

from robot_dynamics_ros.dynamics.jit import kernel


@kernel
def friction_of(viscous, coulomb, offset, transition, qd):
    """Return the torque that overcomes a joint's friction at qd (rad/s or m/s), N m or N.

    The sign of the velocity is smooth, qd / sqrt(qd^2 + v_s^2): 0.71 at the transition velocity v_s, and no jump of the
    torque when the joint turns round.
    """
    # tau = viscous qd + coulomb sign(qd) + offset
    return viscous * qd + coulomb * (qd / np.sqrt(qd * qd + transition * transition)) + offset


@kernel
def friction_torque(friction, qd, tau):
    """Write tau (n, N m or N), ``friction_of`` each joint at qd (n, rad/s or m/s); reads ``model.Friction``."""
    for i in range(tau.shape[0]):
        tau[i] = friction_of(
            friction.viscous[i], friction.coulomb[i], friction.offset[i], friction.transition[i], qd[i]
        )
