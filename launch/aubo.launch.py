"""The state of an AUBO-i5 from its controller, the torques that the model predicts for it, and the dynamics server."""

import sys
from pathlib import Path

from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from robot_dynamics_ros.nodes.process import launch_arguments

PACKAGE = 'robot_dynamics_ros'
ARGUMENTS = {
    'robot_ip': ('', "address or name of the arm's controller; '': value of the parameter file"),
    'model': ('aubo_i5', 'bundled robot, or path of a URDF or YAML file'),
    'payload_source': ('dynamics_server', 'whose payload counts; controller: dynamics_server follows the controller'),
    'controller_state': (
        '',
        "topic of a joint_trajectory_controller, as with the maker's driver: feedforward_node predicts the whole "
        "torque of its motion; '': the gravity torque alone is predicted",
    ),
    'external_torque': ('false', 'true: external_torque_node estimates what touches the arm'),
    'joint_states': ('', "topic to publish instead of joint_states; '': not remapped"),
    'namespace': ('', 'namespace of all nodes, topics and services'),
    'config': (PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', 'nodes.yaml']), 'parameter file'),
    'log_level': ('info', 'debug, info, warn or error'),
}


def processes(context):
    """Return aubo_node and the nodes beside it, and warnings of launch arguments that are probably misspelt."""
    file = Path(__file__)
    launch_arguments.check_names(file, ARGUMENTS, context.argv, sys.argv)
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    if not Path(given['config']).is_file():
        raise ValueError(f'config: no file {given["config"]!r}')
    # nothing of it is a command: the arm takes positions from its own driver
    model, predicted = {'model': given['model']}, {'preset': 'monitor_only'}
    controller = {'robot_ip': given['robot_ip']} if given['robot_ip'] else {}
    nodes = {
        'dynamics_server': {'effort': 'torque'},
        'aubo_node': {**controller, 'payload_source': given['payload_source']},
        'gravity_compensation_node': predicted,
    }
    if given['controller_state']:
        nodes['feedforward_node'] = {**predicted, 'source': 'controller_state', 'evaluate_at': 'measured'}
    if given['external_torque'].lower() == 'true':
        nodes['external_torque_node'] = {'effort': 'torque'}
    remapped = [(topic, given[topic]) for topic in ('joint_states', 'controller_state') if given[topic]]
    warnings = launch_arguments.misspelt(file, ARGUMENTS, context.launch_configurations)
    started = [
        Node(
            package=PACKAGE,
            executable=name,
            name=name,  # otherwise launch_ros states the parameters for all nodes, and those of the file for one count
            namespace=given['namespace'],
            arguments=['--ros-args', '--log-level', given['log_level']],
            parameters=[given['config'], {**model, **parameters}],
            remappings=remapped,
            output='screen',
        )
        for name, parameters in nodes.items()
    ]
    return [*(LogInfo(msg=warning) for warning in warnings), *started]


def generate_launch_description():
    """Return the arguments and the processes."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=processes)])
