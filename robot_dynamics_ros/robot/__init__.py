"""``Robot``: its quantities, a file for each group, and how it is made and changed; validation and batches."""

from robot_dynamics_ros.robot.robot import Robot

__all__ = ['Robot']
