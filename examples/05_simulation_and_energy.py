"""The AUBO-i5 falls for 10 s without torque or friction: its total energy must stay what it is.

Explicit Euler gains energy at any step; the classical Runge-Kutta method at 1 ms keeps it to 1e-9.
"""

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.simulation import simulate

robot = Robot.named('aubo_i5')
q0, qd0 = np.radians([0, -45, 60, 0, 30, 0]), np.zeros(6)
scale = robot.inertial_parameters[::10].sum() * 9.81  # J for a metre of height

for method, step in (('euler', 1e-3), ('semi_implicit', 1e-3), ('rk4', 1e-2), ('rk4', 1e-3)):
    motion = simulate(robot, q0, qd0, duration=10.0, step=step, method=method)
    drift = np.abs(motion.energy - motion.energy[0]).max() / scale
    print(f'{method:14} step {step:.0e} s: energy changes by {drift:.1e} of m g 1 m')
