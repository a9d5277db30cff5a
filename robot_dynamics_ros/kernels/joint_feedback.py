"""Feedback of joint positions and velocities."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.choices import select


@kernel
def joint_feedback(Kp, Kd, turn, q, qd, q_desired, qd_desired, term, torque):
    """Write torque = Kp (q_desired - q) + Kd (qd_desired - qd) + term, (n) each, N m or N.

    Differences of positions of joints with a turn (rad; 0: none) are those by the shorter way, up to 2^51 turns.
    ``term`` may be ``torque`` itself.
    """
    nearest = 6755399441055744.0
    for i in range(torque.shape[0]):
        e = q_desired[i] - q[i]
        # adding and subtracting 1.5 * 2^52 rounds to an integer
        turns = (e / select(turn[i] > 0.0, turn[i], 1.0) + nearest) - nearest
        e = e - turns * turn[i]
        torque[i] = Kp[i] * e + Kd[i] * (qd_desired[i] - qd[i]) + term[i]
