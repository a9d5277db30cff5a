"""Largest joint torques of a motion of the AUBO-i5 with 3 kg on its flange, and their terms."""

import numpy as np

from robot_dynamics_ros import Payload, Robot

robot = Robot.named('aubo_i5').with_payload(Payload(mass=3.0, com=(0.0, 0.0, 0.05)))

# A quintic polynomial from start to end in 2 s, with zero velocity and acceleration at both.
start, end = np.radians([0, -45, 0, 0, 0, 0]), np.radians([65, -55, -35, 15, 10, 5])
duration = 2.0
t = np.linspace(0.0, 1.0, 401)[:, None]  # time divided by the duration; one row per state
q = start + (end - start) * (10 * t**3 - 15 * t**4 + 6 * t**5)
qd = (end - start) * (30 * t**2 - 60 * t**3 + 30 * t**4) / duration
qdd = (end - start) * (60 * t - 180 * t**2 + 120 * t**3) / duration**2

terms = {
    'gravity': robot.gravity_torque(q),
    'coriolis': robot.coriolis_torque(q, qd),
    'inertia': robot.inertia_torque(q, qdd),
    'friction': robot.friction_torque(qd),
}
terms['all'] = sum(terms.values())

print(f'{"largest torque, N m":20}' + ''.join(f'{name:>10}' for name in terms) + f'{"limit":>10}')
largest = np.array([np.abs(torque).max(axis=0) for torque in terms.values()]).T
for name, row, limit in zip(robot.joint_names, largest, robot.limits.effort, strict=True):
    print(f'{name:20}' + ''.join(f'{torque:10.2f}' for torque in row) + f'{limit:10.2f}')
