"""Starts a set of this package's nodes, by bringup; they configure and activate themselves."""

import sys
import tempfile
from pathlib import Path

from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.formats.description import found_description
from robot_dynamics_ros.formats.xacro import xacro_arguments
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import options
from robot_dynamics_ros.nodes.process import launch_arguments

TOPICS = (
    'joint_states',
    'joint_trajectory',
    'target_pose',
    'target_stiffness',
    'target_wrench',
    'target_twist',
    'applied_wrench',
    'controller_state',
    'effort_commands',
    'feedforward_torque',
    'feedforward_torque/commands',
    'gravity_torque',
    'gravity_torque/commands',
    'position_commands',
    'planned_trajectory',
    'display_planned_path',
    'trajectory_with_effort',
    'trajectory_torques',
)
INFO = ('feedforward_torque', 'gravity_torque')
"""Topics with a companion <topic>/info, which is remapped with them."""


def argument_of(topic):
    """Return the launch argument that remaps a topic."""
    return topic.replace('/', '_')


ARGUMENTS = {
    'namespace': ('', 'namespace of all nodes, topics and services'),
    'use_sim_time': ('', "true: use the time of /clock; '': value of the parameter file, else false"),
    **{name: ('', f"{meaning}; '': value of the parameter file") for name, meaning in options().items()},
    'xacro_args': ('', "arguments where model is a xacro file: 'name:=value ...'"),
    'nodes': (
        '',
        'names of nodes, separated by spaces; '
        "'': feedforward_node, dynamics_server and, unless the robot compensates gravity, gravity_compensation_node",
    ),
    'config': (
        PathJoinSubstitution([FindPackageShare('robot_dynamics_ros'), 'config', 'nodes.yaml']),
        'parameter file',
    ),
    'log_level': ('info', 'debug, info, warn or error'),
    'respawn': ('false', 'true: start a process again that has ended, for instance one that receives no messages'),
    'fleet': ('0', 'number of arms, each a bringup in a namespace arm_1, arm_2, ...; 0: one arm without it'),
    **{argument_of(topic): ('', f"topic to use instead of {topic}; '': not remapped") for topic in TOPICS},
}


def bringup(given, namespace):
    """Return the process of one arm."""
    # with '=', since a gravity of -9.81 would be taken for an option
    arguments = [f'{option(name)}={given[name]}' for name in ('nodes', *options()) if given[name]]
    remapped = {topic: given[argument_of(topic)] for topic in TOPICS if given[argument_of(topic)]}
    for topic in INFO:
        if topic in remapped:
            remapped[f'{topic}/info'] = f'{remapped[topic]}/info'
    simulated_time = [{'use_sim_time': given['use_sim_time'].lower() == 'true'}] if given['use_sim_time'] else []
    return Node(
        package='robot_dynamics_ros',
        executable='robot_dynamics_bringup',
        namespace=namespace,
        arguments=[*arguments, '--ros-args', '--log-level', given['log_level']],
        parameters=[given['config'], *simulated_time],
        remappings=list(remapped.items()),
        respawn=given['respawn'].lower() == 'true',
        output='screen',
    )


def option(name):
    """Return the option of the executable that sets a parameter."""
    return f'--{name.replace("_", "-")}'


def check_arguments(given):
    """Raise ValueError, which launch prints in one line, for a value that would be ignored or end in a traceback."""
    if not given['fleet'].isdecimal():
        raise ValueError(f'fleet: expected the number of arms, 0 or more, got {given["fleet"]!r}')
    if given['respawn'].lower() not in ('true', 'false'):
        raise ValueError(f'respawn: expected true or false, got {given["respawn"]!r}')
    if given['use_sim_time'].lower() not in ('', 'true', 'false'):
        raise ValueError(f'use_sim_time: expected true or false, got {given["use_sim_time"]!r}')
    if not Path(given['config']).is_file():
        raise ValueError(f'config: no file {given["config"]!r}')


def model(given):
    """Return the path or name of the model: a xacro file becomes a URDF in the temporary folder."""
    try:
        found = found_description(given['model'], xacro_arguments(given['xacro_args']))
    except DynamicsError as error:
        raise ValueError(
            f'{error}; or use the URDF of robot_state_publisher: description_topic:=robot_description'
        ) from error
    if '<' not in found:
        return found
    with tempfile.NamedTemporaryFile(
        'w', encoding='utf-8', prefix='robot_dynamics_', suffix='.urdf', delete=False
    ) as file:
        file.write(found)
    return file.name


def arms(context):
    """Return the processes of all arms, and warnings of launch arguments that are probably misspelt."""
    file = Path(__file__)
    launch_arguments.check_names(file, ARGUMENTS, context.argv, sys.argv)
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    check_arguments(given)
    given['model'] = model(given)
    namespace = given['namespace']
    namespaces = [f'{namespace}/arm_{k}' for k in range(1, int(given['fleet']) + 1)] or [namespace]
    warnings = launch_arguments.misspelt(file, ARGUMENTS, context.launch_configurations)
    return [*(LogInfo(msg=warning) for warning in warnings), *(bringup(given, name) for name in namespaces)]


def generate_launch_description():
    """Return the arguments and the processes."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=arms)])
