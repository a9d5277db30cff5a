"""A simulated AUBO-i5, whose masses and friction differ from the model, follows a motion with feedforward torques."""

import sys
from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from robot_dynamics_ros.nodes import launch_arguments

PACKAGE = 'robot_dynamics_ros'
NODES = ('simulated_arm', 'feedforward_node', 'torque_controller', 'demo_motion')
ARGUMENTS = {
    'namespace': ('', 'namespace of all nodes, topics and services'),
    'log_level': ('info', 'debug, info, warn or error'),
}


def check_names(context):
    """Refuse arguments that this file does not declare."""
    launch_arguments.check_names(Path(__file__), ARGUMENTS, context.argv, sys.argv)


def generate_launch_description():
    """Return the arguments and one process per node, as scripts/demo starts them."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    config = PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', 'demo.yaml'])
    nodes = [
        Node(
            package=PACKAGE,
            executable=name,
            namespace=LaunchConfiguration('namespace'),
            arguments=['--ros-args', '--log-level', LaunchConfiguration('log_level')],
            parameters=[config],
            output='screen',
        )
        for name in NODES
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=check_names), *nodes])
