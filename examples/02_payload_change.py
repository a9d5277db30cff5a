"""A payload is gripped and released while a controller runs: which torques change, and what the change costs.

A payload is a run-time argument of the compiled code. Nothing is compiled when it changes.
"""

import time

import numpy as np

from robot_dynamics_ros import Payload, Robot

empty = Robot.named('aubo_i5').compiled('inverse_dynamics')
q, qd, qdd = np.array([[0.3, -0.6, 0.9, 0.2, 1.1, 0.4], [0.5] * 6, [1.0] * 6])

began = time.perf_counter()
gripped = empty.with_payload(Payload(mass=2.0, com=(0.0, 0.0, 0.06), inertia=np.diag([3e-3, 3e-3, 1e-3])))
tau_empty, tau_gripped = empty.inverse_dynamics(q, qd, qdd), gripped.inverse_dynamics(q, qd, qdd)
elapsed = time.perf_counter() - began

print(f'{"torque, N m":18}{"empty":>10}{"2 kg":>10}{"change":>10}')
for name, before, after in zip(empty.joint_names, tau_empty, tau_gripped, strict=True):
    print(f'{name:18}{before:10.3f}{after:10.3f}{after - before:10.3f}')

released = gripped.without_payload()
same = released.inverse_dynamics(q, qd, qdd).tobytes() == tau_empty.tobytes()
print(f'after release the torques have the bits of before: {same}')
print(f'changed and computed within 50 ms, nothing compiled: {elapsed < 0.05}')
