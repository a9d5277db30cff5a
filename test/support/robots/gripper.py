"""An arm with a gripper of two prismatic fingers, of which one mimics the other."""

from functools import cache

import numpy as np

from robot_dynamics_ros import Payload, Robot

FINGER, FOLLOWER, TIP = 'left_joint', 'right_joint', 'left_tip'
OPEN = 0.08
"""Largest distance of a finger from the middle, m."""
HELD = Payload.box(2.5, size=(0.05, 0.08, 0.1), center=(0.01, 0.03, 0.02))
"""An object on ``TIP`` that one finger moves, kg and m."""
_INERTIA = '<inertia ixx="2e-3" iyy="2e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>'
_PALM = f'<link name="palm"><inertial><mass value="0.9"/><origin xyz="0 0 0.04"/>{_INERTIA}</link>'


def _finger(side: str, y: int, mimic: str = '') -> str:
    return (
        f'<link name="{side}"><inertial><mass value="0.4"/><origin xyz="0 {0.01 * y} 0.02"/>{_INERTIA}</link>'
        f'<joint name="{side}_joint" type="prismatic"><parent link="palm"/><child link="{side}"/>'
        f'<origin xyz="0 0 0.1"/><axis xyz="0 {y} 0"/><limit lower="0" upper="{OPEN}" effort="20" velocity="0.2"/>'
        f'{mimic}</joint><link name="{side}_tip"/><joint name="{side}_fixed" type="fixed"><parent link="{side}"/>'
        f'<child link="{side}_tip"/><origin xyz="0 0 0.05"/></joint>'
    )


@cache
def arm_with_gripper() -> str:
    """Return the URDF of the AUBO-i5 with this gripper."""
    gripper = f'<robot name="gripper">{_PALM}{_finger("left", 1)}{_finger("right", -1)}</robot>'
    text = Robot.named('aubo_i5').with_attached(Robot.from_urdf(gripper), 'ee_link').to_urdf()
    before, joint, after = text.partition(f'<joint name="{FOLLOWER}"')
    assert joint
    return before + joint + after.replace('</joint>', f'<mimic joint="{FINGER}"/></joint>', 1)


@cache
def _whole(carries: bool) -> Robot:
    robot = Robot.from_urdf(arm_with_gripper())
    return robot.with_payload(HELD, TIP) if carries else robot


def full_torque(q, finger: float, qd=None, qdd=None, carries: bool = True, follower: float | None = None) -> np.ndarray:
    """Return the torques of the arm (6, N m) by the model of all joints, whose fingers are at ``finger`` and at rest.

    ``follower`` is the position of the other finger, that of ``finger`` by default, m.
    """
    robot, state = _whole(carries), np.zeros((3, 8))
    names = robot.joint_names
    of_arm = [k for k, name in enumerate(names) if name not in (FINGER, FOLLOWER)]
    state[0, names.index(FINGER)] = finger
    state[0, names.index(FOLLOWER)] = finger if follower is None else follower
    for row, values in zip(state, (q, qd, qdd), strict=True):
        row[of_arm] = 0.0 if values is None else values
    return robot.inverse_dynamics(*state)[of_arm]
