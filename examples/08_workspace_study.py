"""Where in its workspace does the AUBO-i5 carry 5 kg? A batch of 200,000 random positions, and a map of the result.

The torque that holds the arm is compared with the effort limits; reach and height of the flange are the map's axes.
"""

from itertools import pairwise

import numpy as np

from robot_dynamics_ros import Payload, Robot

robot = Robot.named('aubo_i5').with_payload(Payload(mass=5.0, com=(0.0, 0.0, 0.1)))
random = np.random.default_rng(0)
q = random.uniform(robot.limits.lower, robot.limits.upper, (200_000, robot.nq))

share = np.abs(robot.gravity_torque(q)) / robot.limits.effort
flange = robot.link_pose(q, 'wrist3_Link')[:, :3, 3]
reach, height = np.hypot(flange[:, 0], flange[:, 1]), flange[:, 2]

rings = np.linspace(0.0, 1.0, 6)
print('largest torque of the shoulder lift, in % of its limit, by reach and height of the flange')
print(f'{"height, m":>12}' + ''.join(f'{f"{a:.1f}-{b:.1f} m":>11}' for a, b in pairwise(rings)))
for low in np.arange(-0.8, 1.0, 0.4):
    row = (height >= low) & (height < low + 0.4)
    cells = [share[row & (reach >= a) & (reach < b), 1] for a, b in pairwise(rings)]
    worst = ''.join(f'{100 * cell.max():11.0f}' if len(cell) else f'{"-":>11}' for cell in cells)
    print(f'{f"{low:.1f} to {low + 0.4:.1f}":>12}{worst}')
print(f'positions held within the limits: {100 * np.mean(np.all(share <= 1.0, axis=1)):.1f} %')
