"""Elastic joints of the AUBO-i5 need a fast damping beside computed torque: the composite controller.

Slow part: the torque that moves the rigid arm as desired, from positions and velocities of the links. Alone it excites
the springs between motors and links, and vibrations grow. Fast part: K_v (q' - theta') damps the springs; it is small
once they are at rest (Spong 1987: singular perturbation in 1 / stiffness). From encoders of the motors
the slow part alone is stable, but the links hang in their springs.
"""

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.simulation import simulate
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints

# assumed: the second rotor, which the arm's file leaves at 0, and the stiffness (N m/rad)
arm = Robot.named('aubo_i5')
arm = arm.with_rotor_inertia(np.where(arm.rotor_inertia > 0.0, arm.rotor_inertia, 1.39))
stiffness = np.array([2e4, 2e4, 2e4, 6e3, 6e3, 6e3])
arm = arm.with_payload(Payload.box(3.0, (0.15, 0.15, 0.15)))
joints = ElasticJoints(arm, stiffness)

Kp, Kd = 100.0, 20.0  # 1/s^2, 1/s
start, end, duration = np.radians([0, -45, 0, 0, 0, 0]), np.radians([65, -55, -35, 15, 10, 5]), 1.0
# a damping ratio of 0.3 of motors and springs, were each link's inertia that of its rotor
Kv = 2 * 0.3 * np.sqrt(2 * stiffness * arm.rotor_inertia)


def desired(t):
    """Return position, velocity and acceleration of a quintic polynomial at the time t."""
    s = min(t / duration, 1.0)
    q = start + (end - start) * (10 * s**3 - 15 * s**4 + 6 * s**5)
    qd = (end - start) * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
    return q, qd, (end - start) * (60 * s - 180 * s**2 + 120 * s**3) / duration**2


def computed_torque(t, q, qd):
    q_d, qd_d, qdd_d = desired(t)
    return arm.inverse_dynamics(q, qd, qdd_d + Kd * (qd_d - qd) + Kp * (q_d - q))


def slow_part(t, theta, theta_d, q, qd):
    return computed_torque(t, q, qd)


def composite(t, theta, theta_d, q, qd):
    return computed_torque(t, q, qd) + Kv * (qd - theta_d)


def from_motors(t, theta, theta_d, q, qd):
    return computed_torque(t, theta, theta_d)


print('largest error of a link in mrad, in each tenth of a second')
for law, seconds in ((slow_part, 0.8), (composite, 1.5), (from_motors, 1.5)):
    motion = simulate(joints, start, np.zeros(6), law, duration=seconds, step=5e-4)
    errors = 1e3 * np.abs(motion.q - [desired(t)[0] for t in motion.t]).max(axis=1)
    print(f'{law.__name__:12}', *(f'{tenth.max():.2f}' for tenth in errors[1:].reshape(-1, 200)))
