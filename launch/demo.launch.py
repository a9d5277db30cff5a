"""A simulated arm, whose masses and friction differ from the model, follows a motion with feedforward torques.

With compliant:=true its tool is held by springs above a table, for a push on applied_wrench. It is the AUBO-i5, or the
arm of a description: ros2 launch robot_dynamics_ros demo.launch.py model:=arm.urdf
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
from robot_dynamics_ros.tools.demonstration.compliant_arm import compliant_arm
from robot_dynamics_ros.tools.demonstration.demo_arm import MOTION, demo_arm

PACKAGE = 'robot_dynamics_ros'
MOVED = ('simulated_arm', 'feedforward_node', 'torque_controller', 'robot_dynamics_demo_motion')
PUSHED = ('simulated_arm', 'torque_controller')
ARGUMENTS = {
    'model': (
        '',
        "URDF, xacro, SDF, MJCF or YAML file of an arm, or a robot's name; '': the AUBO-i5 with config/demo.yaml or "
        'config/compliant.yaml',
    ),
    'compliant': ('false', 'true: hold the tool by springs above a table, and move nothing'),
    **DESCRIPTION,
    'output': (
        '',
        "with a model: folder of its files, such as parameters; '': a new one in the temporary folder",
    ),
    'namespace': ('', 'namespace of all nodes, topics and services'),
    'log_level': ('info', 'debug, info, warn or error'),
}


def demo(context):
    """Return the processes, and what the demo takes in place of what a description lacks."""
    launch_arguments.check_names(Path(__file__), ARGUMENTS, context.argv, sys.argv)
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    if given['compliant'].lower() not in ('true', 'false'):
        raise ValueError(f'compliant: expected true or false, got {given["compliant"]!r}')
    is_compliant = given['compliant'].lower() == 'true'
    if not given['model']:
        file = 'compliant.yaml' if is_compliant else 'demo.yaml'
        config = PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', file])
        return nodes(PUSHED if is_compliant else MOVED, given, config, [])
    folder = Path(given['output'] or tempfile.mkdtemp(prefix='robot_dynamics_demo_'))
    arm = (compliant_arm if is_compliant else demo_arm)(given['model'], **description_of(given))
    parameters = str(arm.write(folder))
    notes = [LogInfo(msg=note) for note in (*arm.notes, f'parameters: {parameters}')]
    if is_compliant:
        return [*notes, *nodes(PUSHED, given, parameters, [])]
    return [*notes, *nodes(MOVED, given, parameters, ['--motion', str(folder / MOTION)])]


def nodes(names, given, parameters, motion):
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
        for name in names
    ]


def generate_launch_description():
    """Return the arguments and the processes."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription([*arguments, OpaqueFunction(function=demo)])
