"""A simulated AUBO-i5 that is not quite the model, under low gains with feedforward torques.

It waits on its brakes for a message on joint_trajectory; scripts/demo sends such messages and measures.
"""

from launch.actions import IncludeLaunchDescription
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

SHARE = FindPackageShare('robot_dynamics_ros')
NODES = ('simulated_arm', 'feedforward_node', 'torque_controller')


def generate_launch_description():
    """Return a bringup of each node in a process of its own, as scripts/demo starts them."""
    config = PathJoinSubstitution([SHARE, 'config', 'demo.yaml'])
    bringup = PathJoinSubstitution([SHARE, 'launch', 'bringup.launch.py'])
    return LaunchDescription(
        [
            IncludeLaunchDescription(bringup, launch_arguments={'nodes': node, 'config': config}.items())
            for node in NODES
        ]
    )
