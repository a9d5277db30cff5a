"""A simulated AUBO-i5, whose masses and friction differ from the model, follows a motion with feedforward torques."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

PACKAGE = 'robot_dynamics_ros'
NODES = ('simulated_arm', 'feedforward_node', 'torque_controller', 'demo_motion')
ARGUMENTS = {
    'namespace': ('', 'namespace of all nodes, topics and services'),
    'log_level': ('info', 'debug, info, warn or error'),
}


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
    return LaunchDescription([*arguments, *nodes])
