"""Runs a set of this package's nodes in one process; they configure and activate themselves."""

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

ARGUMENTS = {
    'namespace': ('', 'namespace of all nodes, topics and services'),
    'use_sim_time': ('false', 'take the time from /clock'),
    'model': ('aubo_i5', 'robot that comes with the package, or path of a URDF file'),
    'nodes': ('feedforward_node gravity_compensation_node dynamics_server', 'which nodes'),
    'config': (
        PathJoinSubstitution([FindPackageShare('robot_dynamics_ros'), 'config', 'nodes.yaml']),
        'parameter file',
    ),
    'log_level': ('info', 'debug, info, warn or error'),
    'fleet': ('0', 'number of arms, each a process in a namespace arm_1, arm_2, ... of its own; 0: one without'),
}


def bringup(namespace):
    """Return the process of one arm."""
    return Node(
        package='robot_dynamics_ros',
        executable='bringup',
        namespace=namespace,
        arguments=[
            '--nodes',
            LaunchConfiguration('nodes'),
            '--ros-args',
            '--log-level',
            LaunchConfiguration('log_level'),
        ],
        parameters=[
            LaunchConfiguration('config'),
            {
                'model': LaunchConfiguration('model'),
                'use_sim_time': ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool),
            },
        ],
        output='screen',
    )


def arms(context):
    """Return the processes of all arms."""
    namespace, count = LaunchConfiguration('namespace'), int(LaunchConfiguration('fleet').perform(context))
    return [bringup([namespace, '/', f'arm_{k}']) for k in range(1, count + 1)] or [bringup(namespace)]


def generate_launch_description():
    """Return the arguments and the processes."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=arms)])
