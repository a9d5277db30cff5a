"""Limbs of a robot: what branches off with several joints, and the launch arguments that choose one."""

from support.robots.small_robots import joint, link, robot

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model.limbs import Limb, limbs, tip_arguments


def chain(prefix, parent, count, first='revolute'):
    """Parts of a chain of ``count`` joints on ``parent``."""
    parts = []
    for k in range(1, count + 1):
        kind = first if k == 1 else 'continuous'
        parts += [
            link(f'{prefix}{k}', 1.0, '0.1 0 0', (0.1, 0, 0, 0.1, 0, 0.1)),
            joint(f'{prefix}_{k}', parent, f'{prefix}{k}', kind),
        ]
        parent = f'{prefix}{k}'
    return parts


def test_an_arm_with_a_gripper_of_two_fingers_is_one_limb():
    arm = robot(
        link('base'),
        *chain('arm', 'base', 6, 'continuous'),
        *chain('left', 'arm6', 2, 'prismatic'),
        *chain('right', 'arm6', 1, 'prismatic'),
    )
    assert limbs(arm.model) == [Limb('base', 'left2', 8)]
    assert limbs(Robot.named('aubo_i5').model) == [Limb('base_link', 'wrist3_Link', 6)]


def test_arms_on_a_torso_are_limbs_and_so_are_legs():
    humanoid = robot(
        link('pelvis'),
        *chain('torso', 'pelvis', 1, 'continuous'),
        *chain('left', 'torso1', 5, 'continuous'),
        *chain('right', 'torso1', 4, 'continuous'),
        *chain('head', 'torso1', 2, 'continuous'),
        *chain('leg', 'pelvis', 3, 'continuous'),
        *chain('wheel', 'pelvis', 1, 'continuous'),
    )
    assert limbs(humanoid.model) == [Limb('pelvis', 'left5', 6), Limb('torso1', 'right4', 4), Limb('pelvis', 'leg3', 3)]
    assert tip_arguments(humanoid.model) == 'tip_link:=left5 or tip_link:=right4 or tip_link:=leg3'
    assert humanoid.chain(tip_link='right4').nv == 5


def test_a_joint_of_several_degrees_of_freedom_ends_a_limb():
    mobile = robot(
        link('odom'),
        link('platform', 20.0, '0 0 0', (1, 0, 0, 1, 0, 1)),
        joint('drive', 'odom', 'platform', 'planar'),
        *chain('arm', 'platform', 4, 'continuous'),
    )
    assert limbs(mobile.model) == [Limb('platform', 'arm4', 4)]
    assert tip_arguments(mobile.model, 'platform') == 'base_link:=platform tip_link:=arm4'
    part = mobile.chain('platform', 'arm4', (0, 0, -9.81))
    assert part.joint_names == tuple(f'arm_{k}' for k in range(1, 5))
    assert limbs(part.model) == [Limb('platform', 'arm4', 4)]
