"""A delta robot: three motors hold its platform, then move it on a circle; six rods with ball joints close the loops.

The rods may spin about their own axes: 27 velocities less 18 rows leave 9, namely x, y and z of the platform and six
spins.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np
from mechanisms.by_mujoco import accelerations

from robot_dynamics_ros import Robot
from robot_dynamics_ros.simulation import simulate

matplotlib.use('Agg')
from matplotlib import pyplot

FILE = Path(__file__).parent / 'mechanisms' / 'delta.xml'
PICTURE = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / 'delta.png'
MOTORS = ['motor1', 'motor2', 'motor3']

delta = Robot.from_mjcf(FILE)
in_q, in_qd = [0, 9, 18], [0, 7, 14]  # of the motors: each arm has one, and two ball joints
near = delta.neutral()
near[-5] = -0.66  # z of the platform
q0, rest = delta.close_loops(near, np.zeros(delta.nv))
print(f'{delta.nv} velocities, {len(delta.loop_errors(q0))} rows, mobility {delta.mobility(q0)}')

by_mujoco, joints = accelerations(FILE, delta, q0, rest)
difference = np.abs(delta.forward_dynamics(q0, rest, rest)[joints] - by_mujoco).max() / np.abs(by_mujoco).max()
print(f'accelerations by the matrices of MuJoCo: within 1e-9: {difference < 1e-9}')

hold = delta.inverse_dynamics(q0, rest, rest, actuated=MOTORS)
left = np.abs(delta.forward_dynamics(q0, rest, hold)).max()
print(f'the motors hold the platform with {hold[in_qd].round(4)} N m; acceleration left below 1e-9: {left < 1e-9}')


def torque(t, q, qd):
    """Return the holding torques, and a PD controller that lets the motors swing one after the other."""
    tau, angle = np.zeros_like(qd), 2.0 * np.pi * t - np.array([0.0, 1.0, 2.0]) * 2.0 * np.pi / 3.0
    desired = 0.2 * (1.0 - np.exp(-5.0 * t)) * np.sin(angle)
    tau[..., in_qd] = hold[in_qd] + 60.0 * (desired + q0[in_q] - q[..., in_q]) - 4.0 * qd[..., in_qd]
    return tau


motion = simulate(delta, q0, rest, torque, duration=3.0, step=2e-3)
x, y, z = motion.q[:, -7:-4].T
print(f'the platform stays level within 1e-5: {np.abs(motion.q[:, -4:-1]).max() < 1e-5}')
print(f'the loops stay closed within 1e-12 m: {np.abs(delta.loop_errors(motion.q)).max() < 1e-12}')
figure, axes = pyplot.subplots()
axes.plot(x, y)
axes.set(xlabel='x of the platform, m', ylabel='y, m', aspect='equal')
figure.savefig(PICTURE)
print(f'the platform moved over {np.ptp(x):.3f} m in x and {np.ptp(y):.3f} m in y; picture: {PICTURE}')
