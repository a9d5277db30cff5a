"""Computed-torque control of the AUBO-i5 in simulation, beside PD control with the same gains.

Law: tau = M(q) (qdd_d + Kd (qd_d - qd) + Kp (q_d - q)) + c(q, qd) + g(q). Its error obeys a linear equation with the
eigenvalues -10 1/s; PD control leaves the error that gravity and inertia cause.
"""

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.simulation import simulate

robot = Robot.named('aubo_i5')
Kp, Kd = 100.0, 20.0  # 1/s^2, 1/s
start, end, duration = np.radians([0, -45, 0, 0, 0, 0]), np.radians([65, -55, -35, 15, 10, 5]), 2.0


def desired(t):
    """Return position, velocity and acceleration of a quintic polynomial at the time t."""
    s = min(t / duration, 1.0)
    q = start + (end - start) * (10 * s**3 - 15 * s**4 + 6 * s**5)
    qd = (end - start) * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
    return q, qd, (end - start) * (60 * s - 180 * s**2 + 120 * s**3) / duration**2


def computed_torque(t, q, qd):
    q_d, qd_d, qdd_d = desired(t)
    return robot.inverse_dynamics(q, qd, qdd_d + Kd * (qd_d - qd) + Kp * (q_d - q))


def pd(t, q, qd):
    q_d, qd_d, _ = desired(t)
    return Kd * (qd_d - qd) + Kp * (q_d - q)


q0 = start + np.radians(2.0)  # the arm begins beside the motion
for law in (pd, computed_torque):
    motion = simulate(robot, q0, np.zeros(6), torque=law, duration=3.0, step=2e-3)
    errors = np.degrees(np.abs(motion.q - [desired(t)[0] for t in motion.t]).max(axis=1))
    print(f'{law.__name__:16} largest error in degrees: {errors.max():8.3f}, at the end {errors[-1]:.6f}')
