"""A Stewart platform: the forces of its six legs hold a load beside its centre, and lift it by 5 cm."""

import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np
from mechanisms.by_mujoco import accelerations

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.simulation import simulate

matplotlib.use('Agg')
from matplotlib import pyplot

FILE = Path(__file__).parent / 'mechanisms' / 'stewart.xml'
PICTURE = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / 'stewart.png'
MOTORS = [f'motor{k}' for k in range(1, 7)]

stewart = Robot.from_mjcf(FILE)
slides = np.arange(2, 18, 3)  # of the motors, in q and qd: the universal joint of a leg comes before its motor
near = stewart.neutral()
near[-5] = 0.6  # z of the platform
q0, rest = stewart.close_loops(near, np.zeros(stewart.nv))
print(f'{stewart.nv} velocities, {len(stewart.loop_errors(q0))} rows, mobility {stewart.mobility(q0)}')
by_mujoco, joints = accelerations(FILE, stewart, q0, rest)
difference = np.abs(stewart.forward_dynamics(q0, rest, rest)[joints] - by_mujoco).max() / np.abs(by_mujoco).max()
print(f'accelerations by the matrices of MuJoCo: within 1e-9: {difference < 1e-9}')

loaded = stewart.with_payload(Payload(20.0, [0.1, 0.0, 0.1], 0.2 * np.eye(3)), 'platform')
for robot in (stewart, loaded):
    hold = robot.inverse_dynamics(q0, rest, rest, actuated=MOTORS)
    print('forces of the legs, N:', ' '.join(f'{force:.1f}' for force in hold[slides]))

# where the legs are with the platform locked 5 cm higher
raised = stewart.with_locked_joints({'platform': [*q0[-7:-5], q0[-5] + 0.05, *q0[-4:]]}).close_loops(q0[:-7]).q


def torque(t, q, qd):
    """Return the holding forces, and a PD controller of the lengths of the legs."""
    s = min(t / 1.5, 1.0)
    desired = q0[slides] + (raised - q0[:-7])[slides] * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)
    tau = np.zeros_like(qd)
    tau[..., slides] = hold[slides] + 2e4 * (desired - q[..., slides]) - 400.0 * qd[..., slides]
    return tau


motion = simulate(loaded, q0, rest, torque, duration=2.0, step=2e-3)
height = motion.q[:, -5]
closed = np.abs(loaded.loop_errors(motion.q)).max() < 1e-12
print(f'lifted by {height[-1] - height[0]:.3f} m; loops closed within 1e-12 m: {closed}')
forces = np.array([torque(t, q, qd)[slides] for t, q, qd in zip(motion.t, motion.q, motion.qd, strict=True)])
figure, axes = pyplot.subplots()
axes.plot(motion.t, forces, label=MOTORS)
axes.set(xlabel='time, s', ylabel='force of the leg, N')
axes.legend()
figure.savefig(PICTURE)
print(f'picture: {PICTURE}')
