"""Torques that hold the AUBO-i5 against gravity, mounted on the floor, a wall and the ceiling.

The arm is then simulated for 1 s under these torques: with the right payload it stays, with a payload that the
controller does not know it sinks.
"""

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.simulation import simulate

robot = Robot.named('aubo_i5').with_payload(Payload(mass=1.0, com=(0.0, 0.0, 0.05)))
mountings = {'floor': (0.0, 0.0, -9.81), 'wall': (9.81, 0.0, 0.0), 'ceiling': (0.0, 0.0, 9.81)}
q = np.array([0.3, -0.6, 0.9, 0.2, 1.1, 0.4])

print(f'{"torque, N m":18}' + ''.join(f'{name:>10}' for name in mountings))
torques = np.array([robot.with_gravity(gravity).gravity_torque(q) for gravity in mountings.values()])
for name, row in zip(robot.joint_names, np.round(torques.T, 3) + 0.0, strict=True):  # + 0.0: no -0.000
    print(f'{name:18}' + ''.join(f'{torque:10.3f}' for torque in row))

held = robot.gravity_torque(q)
for carried in (1.0, 1.5):
    arm = robot.without_payload().with_payload(Payload(mass=carried, com=(0.0, 0.0, 0.05)))
    motion = simulate(arm, q, np.zeros(6), torque=held, duration=1.0)
    print(f'with {carried} kg the arm moves by {np.abs(motion.q[-1] - q).max():.4f} rad in 1 s')
