"""A four-bar linkage swings for 10 s: its loop stays closed, its energy constant, its pin carries what eq. 19 says.

The linkage is read from MJCF, whose constraint becomes a closed loop (Featherstone & Orin 2000, section 3.4). The
joints are those of a tree, crank - elbow and rocker; the pin between coupler and rocker closes it.
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

FILE = Path(__file__).parent / 'mechanisms' / 'four_bar.xml'
PICTURE = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / 'four_bar.png'

linkage = Robot.from_mjcf(FILE)
q0, qd0 = linkage.close_loops([1.1, -0.8, 1.6], np.zeros(3))
print(f'{len(linkage.loop_errors(q0))} rows, one of them without effect; mobility {linkage.mobility(q0)}')

# against MuJoCo's matrices, at rest
by_mujoco, _ = accelerations(FILE, linkage, q0, np.zeros(3))
difference = np.abs(linkage.forward_dynamics(q0, qd0, np.zeros(3)) - by_mujoco).max() / np.abs(by_mujoco).max()
print(f'accelerations by the matrices of MuJoCo: within 1e-9: {difference < 1e-9}')

motion = simulate(linkage, q0, qd0, duration=10.0, step=1e-3)
kinetic = linkage.kinetic_energy(motion.q, motion.qd).max()
print(f'the loop stays closed within 1e-12 m: {np.abs(linkage.loop_errors(motion.q)).max() < 1e-12}')
drift = np.abs(motion.energy_drift).max() / kinetic
print(f'the energy stays within 1e-8 of the largest kinetic energy: {drift < 1e-8}')

pin = linkage.constraint_forces(motion.q, motion.qd, np.zeros(3))
figure, (above, below) = pyplot.subplots(2, sharex=True)
above.plot(motion.t, np.degrees(motion.q[:, [0, 2]]), label=['crank', 'rocker'])
above.set_ylabel('angle, degrees')
above.legend()
below.plot(motion.t, np.linalg.norm(pin, axis=-1))
below.set(xlabel='time, s', ylabel='force of the pin, N')
figure.savefig(PICTURE)
print(f'largest force of the pin {np.linalg.norm(pin, axis=-1).max():.2f} N; picture: {PICTURE}')
