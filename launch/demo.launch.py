"""A simulated arm, whose masses and friction differ from the model, follows a motion with feedforward torques.

It is the AUBO-i5, or the arm of a description: ros2 launch robot_dynamics_ros demo.launch.py model:=arm.urdf
"""

import sys
import tempfile
from pathlib import Path

from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription
from robot_dynamics_ros.nodes.process import launch_arguments
from robot_dynamics_ros.tools.demonstration.completed_arm import DESCRIPTION, description_of
from robot_dynamics_ros.tools.demonstration.demo_arm import MOTION, demo_arm

PACKAGE = 'robot_dynamics_ros'
NODES = ('simulated_arm', 'feedforward_node', 'torque_controller', 'robot_dynamics_demo_motion')
ARGUMENTS = {
    'model': ('', "URDF, xacro, MJCF or YAML file of an arm, or a robot's name; '': the AUBO-i5 with config/demo.yaml"),
    **DESCRIPTION,
    'output': (
        '',
        "with a model: folder of its parameter file, model and motion; '': a new one in the temporary folder",
    ),
    'namespace': ('', 'namespace of all nodes, topics and services'),
    'log_level': ('info', 'debug, info, warn or error'),
}


def demo(context):
    """Return the processes, and what the demo takes in place of what a description lacks."""
    file = Path(__file__)
    launch_arguments.check_names(file, ARGUMENTS, context.argv, sys.argv)
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    config = PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', 'demo.yaml'])
    if not given['model']:
        return nodes(given, config, [])
    arm = demo_arm(given['model'], **description_of(given))
    folder = Path(given['output'] or tempfile.mkdtemp(prefix='robot_dynamics_demo_'))
    parameters = str(arm.write(folder))
    notes = [*arm.notes, f'parameters: {parameters}']
    return [*(LogInfo(msg=note) for note in notes), *nodes(given, parameters, ['--motion', str(folder / MOTION)])]


def nodes(given, parameters, motion):
    """Return one process per node."""
    return [
        Node(
            package=PACKAGE,
            executable=name,
            namespace=given['namespace'],
            arguments=[
                *(motion if name == 'robot_dynamics_demo_motion' else []),
                *('--ros-args', '--log-level', given['log_level']),
            ],
            parameters=[parameters],
            output='screen',
        )
        for name in NODES
    ]


def generate_launch_description():
    """Return the arguments and the processes."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=demo)])
