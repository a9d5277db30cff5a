"""An arm of the OpenArm's type as URDF, its motors' gains, and the sag that a user of an OpenArm reported.

Axes, offsets, masses (to a gram), centres of mass (to a millimetre) and limits are those of the right OpenArm v10 and
its hand (github.com/enactic/openarm_description at af6f035, config/ and urdf/arm/openarm_arm.xacro), gains those of
github.com/enactic/openarm_ros2 at 73ef898, sag of its issue 72. Inertias are those of solid spheres of 4 cm radius,
friction is assumed: 0.15 N m at the four large joints, 0.05 N m at the wrist.
"""

import math

from robot_dynamics_ros import Robot

MOUNTED = (0.0, -9.81, 0.0)
"""Gravity in the base link of the right arm: its base is turned by +90 degrees about x."""
STIFFNESS = [70.0, 70.0, 70.0, 60.0, 10.0, 10.0, 10.0]
DAMPING = [2.75, 2.5, 2.0, 2.0, 0.7, 0.6, 0.5]
REPORTED_STIFFNESS, REPORTED_DAMPING = 20.0, 2.75
COMMANDED = (30.0, 45.0, 60.0, 75.0, 90.0)
REACHED = (18.2, 26.94, 36.42, 47.26, 55.91)
"""Degrees, joint 1 of an arm that hangs."""
HEAVIER = 0.27
"""The reached angles need this much more mass than the description has."""
RADIUS = 0.04
HAND, TIP = (0.372, 0.123), 0.18
"""Mass (kg) and centre of mass (m) of the hand, and the place between its fingers (m), on the axis of link 7."""
JOINTS = [
    # origin xyz, roll, axis, lower, upper, effort, velocity, friction, mass of its link, centre of mass
    ('0 0 0.0625', 0.0, '0 0 1', -1.396, 3.491, 40, 16.75, 0.15, 1.142, (0.001, 0.0, 0.054)),
    ('-0.0301 0 0.06', math.pi / 2, '-1 0 0', -0.175, 3.316, 40, 16.75, 0.15, 0.278, (0.008, 0.0, 0.033)),
    ('0.0301 0 0.06625', 0.0, '0 0 1', -1.571, 1.571, 27, 5.445, 0.15, 1.074, (-0.002, 0.001, 0.088)),
    ('0 0.0315 0.15375', 0.0, '0 1 0', 0.0, 2.443, 27, 5.445, 0.15, 0.560, (-0.003, -0.030, 0.063)),
    ('0 -0.0315 0.0955', 0.0, '0 0 1', -1.571, 1.571, 7, 20.94, 0.05, 0.551, (-0.003, 0.001, 0.043)),
    ('0.0375 0 0.1205', 0.0, '1 0 0', -0.785, 0.785, 7, 20.94, 0.05, 0.385, (-0.037, 0.0, 0.0)),
    ('-0.0375 0 0', 0.0, '0 1 0', -1.571, 1.571, 7, 20.94, 0.05, 0.386, (0.0, 0.013, 0.070)),
]


def urdf(mass_error: float = 0.0) -> str:
    """Return the arm as URDF, with masses and inertias times 1 + ``mass_error``."""
    lines = ['<robot name="openarm_type">', '  <link name="link0"/>']
    for k, (origin, roll, axis, lower, upper, effort, velocity, friction, mass, com) in enumerate(JOINTS, 1):
        mass *= 1.0 + mass_error
        inertia = 0.4 * mass * RADIUS**2
        lines += [
            f'  <link name="link{k}"><inertial><origin xyz="{com[0]} {com[1]} {com[2]}"/><mass value="{mass!r}"/>',
            f'    <inertia ixx="{inertia!r}" iyy="{inertia!r}" izz="{inertia!r}" ixy="0" ixz="0" iyz="0"/>',
            f'  </inertial></link><joint name="joint{k}" type="revolute"><origin xyz="{origin}" rpy="{roll!r} 0 0"/>',
            f'    <parent link="link{k - 1}"/><child link="link{k}"/><axis xyz="{axis}"/>',
            f'    <limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/>',
            f'    <dynamics friction="{friction}" damping="0"/>',
            '  </joint>',
        ]
    mass, place = HAND[0] * (1.0 + mass_error), HAND[1]
    inertia = 0.4 * mass * RADIUS**2
    lines += [
        f'  <link name="hand"><inertial><origin xyz="0 0 {place}"/><mass value="{mass!r}"/>',
        f'    <inertia ixx="{inertia!r}" iyy="{inertia!r}" izz="{inertia!r}" ixy="0" ixz="0" iyz="0"/>',
        '  </inertial></link>',
        '  <joint name="hand_joint" type="fixed"><parent link="link7"/><child link="hand"/></joint>',
        '  <link name="tip"/><joint name="tip_joint" type="fixed">',
        f'    <origin xyz="0 0 {TIP}"/><parent link="hand"/><child link="tip"/></joint>',
    ]
    return '\n'.join([*lines, '</robot>'])


def robot(mass_error: float = 0.0) -> Robot:
    """Return the arm as it hangs at the right side of a body."""
    return Robot.from_urdf(urdf(mass_error)).with_gravity(MOUNTED)
