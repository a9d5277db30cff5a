"""Joint friction: viscous, quadratic, Coulomb, Stribeck and load-dependent friction, and an offset."""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel


@kernel
def friction_of(viscous, coulomb, offset, transition, stribeck, stribeck_velocity, load, quadratic, qd, tau):
    """Return the torque that overcomes a joint's friction at qd (rad/s or m/s) while it transmits tau, N m or N.

    Armstrong-Helouvry, Dupont & Canudas de Wit 1994, section 2, with the Stribeck curve of Hess & Soom 1990, which
    needs no exponential, and the load-dependent friction of Hamon, Gautier & Garrec 2010.

    The sign of the velocity is the smooth function qd / sqrt(qd^2 + v_s^2), 0.71 at the transition velocity v_s: the
    torque does not jump when the joint reverses.
    """
    # |tau|
    magnitude = np.sqrt(tau * tau)
    # level = coulomb + load |tau| + stribeck / (1 + (qd / stribeck_velocity)^2)
    speed = qd / stribeck_velocity
    level = coulomb + load * magnitude + stribeck / (1.0 + speed * speed)
    # friction = (viscous + quadratic |qd|) qd + level sign(qd) + offset
    slope = viscous + quadratic * np.sqrt(qd * qd)
    return slope * qd + level * (qd / np.sqrt(qd * qd + transition * transition)) + offset


@kernel
def friction_torque(friction, qd, tau, torque):
    """Write torque (n, N m or N), ``friction_of`` each joint at qd (n, rad/s or m/s) under the transmitted tau (n).

    Reads ``model.Friction``.
    """
    for i in range(torque.shape[0]):
        torque[i] = friction_of(
            friction.viscous[i],
            friction.coulomb[i],
            friction.offset[i],
            friction.transition[i],
            friction.stribeck[i],
            friction.stribeck_velocity[i],
            friction.load[i],
            friction.quadratic[i],
            qd[i],
            tau[i],
        )
