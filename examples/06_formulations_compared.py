"""The same torques by five formulations, from vectors to spatial operators, and by the compiled kernels."""

import time

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formulations import newton_euler, operators, screws, spatial, stacked

robot = Robot.named('aubo_i5')
q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, robot.nv))
tip_wrench = np.array([0.5, 0.0, 1.0, 0.0, 0.0, -20.0])  # moment and force on the last link, axes of the base
compiled = robot.inverse_dynamics(q, qd, qdd, wrenches={robot.link_names[-1]: tip_wrench})

for formulation in (newton_euler, screws, stacked, spatial, operators):
    began = time.perf_counter()
    tau = formulation.inverse_dynamics(robot, q, qd, qdd, tip_wrench)
    elapsed = time.perf_counter() - began
    name = formulation.__name__.rpartition('.')[2]
    print(f'{name:14}{1e3 * elapsed:8.2f} ms   agrees to 1e-12: {np.allclose(tau, compiled, rtol=1e-12, atol=1e-12)}')
