"""An arm of two links from a URDF in this file: its table of joints, its torques, and how it falls.

The torques that hold it stretched out are those of statics: weights times their distances from the joints.
"""

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.simulation import simulate

URDF = """
<robot name="two_links">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="4.0"/>
    <inertia ixx="0.01" iyy="0.06" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0.15 0 0"/><mass value="2.0"/>
    <inertia ixx="0.004" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="60"/><dynamics damping="0.5"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/>
    <origin xyz="0.4 0 0"/><limit lower="-2" upper="2" velocity="3" effort="20"/><dynamics damping="0.2"/></joint>
  <joint name="flange" type="fixed"><parent link="fore"/><child link="tool"/><origin xyz="0.3 0 0"/></joint>
</robot>
"""

robot = Robot.from_urdf(URDF)
print(robot)

stretched = np.zeros(2)  # along the x axis; positive angles lower the links
held = robot.gravity_torque(stretched)
by_hand = -9.81 * np.array([4.0 * 0.2 + 2.0 * 0.55, 2.0 * 0.15])
print(f'torques that hold it stretched out, N m: {held[0]:.3f} {held[1]:.3f}')
print(f'as by statics: {np.allclose(held, by_hand)}')

loaded = robot.with_payload(Payload(mass=1.0, com=(0.0, 0.0, 0.0)), 'tool')
share = np.abs(loaded.gravity_torque(stretched)) / loaded.limits.effort
print(f'with 1 kg on the tool, as part of the limits: {share[0]:.2f} {share[1]:.2f}')

motion = simulate(robot, stretched, np.zeros(2), duration=10.0, step=2e-3, friction=True)
height = robot.link_pose(motion.q, 'tool')[:, 2, 3]
print(f'without torque it falls and swings; after 10 s of friction the tool is at {height[-1]:.2f} m')
