"""Joint friction: viscous, Coulomb and offset."""

import numpy as np

from robot_dynamics_ros.dynamics.jit import kernel


@kernel
def friction_torque(friction, qd, tau):
    """Write tau (n, N m or N), the torque that overcomes friction at qd (n, rad/s or m/s).

    Writes ``tau``. Reads ``friction`` (see ``model.Friction``). The sign of the velocity is smooth,
    qd / sqrt(qd^2 + v_s^2): 0.71 at the transition velocity v_s, and no jump of the torque when a joint turns round.
    """
    for i in range(tau.shape[0]):
        # tau_i = viscous qd + coulomb sign(qd) + offset
        sign = qd[i] / np.sqrt(qd[i] * qd[i] + friction.transition[i] * friction.transition[i])
        tau[i] = friction.viscous[i] * qd[i] + friction.coulomb[i] * sign + friction.offset[i]
