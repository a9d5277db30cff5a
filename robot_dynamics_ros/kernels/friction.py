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
    # level = coulomb + load |tau| + stribeck / (1 + (qd / v_st)^2), by v_st^2
    square = stribeck_velocity * stribeck_velocity
    level = coulomb + load * abs(tau) + stribeck * square / (square + qd * qd)
    # friction = (viscous + quadratic |qd|) qd + level sign(qd) + offset
    slope = viscous + quadratic * abs(qd)
    return slope * qd + level * (qd / np.sqrt(qd * qd + transition * transition)) + offset


@kernel
def joint_friction(friction, i, qd, tau):
    """Return ``friction_of`` joint i at qd while it transmits tau; rows of friction (8, n): ``model.Friction``."""
    return friction_of(
        friction[0, i],
        friction[1, i],
        friction[2, i],
        friction[3, i],
        friction[4, i],
        friction[5, i],
        friction[6, i],
        friction[7, i],
        qd,
        tau,
    )


@kernel
def motor_friction(friction, W, qd, tau, motors):
    """Write motors (n, N m or N), ``friction_of`` each motor; arguments as in ``friction_torque``."""
    coupled = W.shape[0]
    for i in range(motors.shape[0]):
        # w = W qd, which is qd without coupling
        speed = qd[i] if coupled == 0 else qd[i] * 0.0
        for k in range(coupled):
            speed = W[i, k] * qd[k] + speed
        motors[i] = joint_friction(friction, i, speed, tau[i])


@kernel
def friction_torque(friction, W, qd, tau, motors, torque):
    """Write torque (n, N m or N), the friction of the joints at qd (n, rad/s or m/s) under the transmitted tau (n).

    It is W' friction_of(W qd) where other joints turn the motor of a joint, whose velocities are W qd (n, n), and
    ``friction_of`` each joint where W is empty (0, 0). Rows of friction (8, n): ``model.Friction``; motors (n) is
    scratch.
    """
    coupled = W.shape[0]
    motor_friction(friction, W, qd, tau, motors)
    for i in range(torque.shape[0]):
        # torque = W' motors
        torque[i] = motors[i] if coupled == 0 else motors[i] * 0.0
        for k in range(coupled):
            torque[i] = W[k, i] * motors[k] + torque[i]


@kernel
def unloaded(friction, i, qd, rest):
    """Return the transmitted torque of joint i at qd, where ``rest`` is left by all friction but that by load.

    tau_t + load abs(tau_t) sign(qd) = rest, with the smooth sign of ``friction_of``. Rows of friction (8, n):
    ``model.Friction``.
    """
    transition = friction[3, i]
    ratio = friction[6, i] * (qd / np.sqrt(qd * qd + transition * transition))
    # tau_t has the sign of the rest: rest / (1 + ratio sign(rest))
    return (rest - ratio * abs(rest)) / (1.0 - ratio * ratio)


@kernel
def add_joint_friction(friction, qd, tau, torque):
    """Write torque (n, N m or N) += the friction of each joint at qd (n) under the transmitted tau (n).

    The rows of friction (8, n) are the fields of ``model.Friction``. tau may be ``torque`` itself.
    """
    for i in range(torque.shape[0]):
        torque[i] += joint_friction(friction, i, qd[i], tau[i])
