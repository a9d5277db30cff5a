"""What the check of shell commands on pages finds."""

from support.project import shell_commands

import pytest


@pytest.mark.parametrize(
    ('command', 'culprit'),
    [
        ('scripts/demo --lgo x', '--lgo'),
        ('ros2 launch robot_dynamics_ros bringup.launch.py modle:=x', 'modle'),
        ('ros2 launch robot_dynamics_ros bringup.launch.py nodes:=feedforward', 'feedforward'),
        ('ros2 launch robot_dynamics_ros start.launch.py', 'start.launch.py'),
        ('ros2 run robot_dynamics_ros feedforward', 'feedforward'),
        ('ros2 run robot_dynamics_ros feedforward_node --ros-args -p sourc:=x', 'sourc'),
        ('ros2 run robot_dynamics_ros feedforward_node --ros-args -p reference_age_limit:=long', 'reference_age_limit'),
        ('ros2 run robot_dynamics_ros gravity_compensation_node --ros-args -r joint_trajectory:=x', 'joint_trajectory'),
        ('ros2 run robot_dynamics_ros robot_dynamics_export_c aubo_i5 exported --program mass', 'mass'),
        ('ros2 run robot_dynamics_ros robot_dynamics_export_c aubo_i5 exported --programs mass_matrix', '--programs'),
        ('ros2 run robot_dynamics_ros robot_dynamics_export_controller aubo_i5 exported --preset aubo', 'aubo'),
        ('ros2 run robot_dynamics_ros robot_dynamics_compare --motoin cubic', '--motoin'),
        ('robot_dynamics_replay aubo_i5', 'robot_dynamics_replay'),  # without a log
        ('compare aubo_i5', 'compare'),
        ('ros2 topic echo /gravity', '/gravity'),
        ('ros2 bag record /joint_states /joint_temperature -o my_bag', '/joint_temperature'),
        ('ros2 lifecycle set /torque_node activate', 'torque_node'),
        ('ros2 lifecycle set /torque_controller start', 'start'),
        ('ros2 service call /dynamics_server/set_mass robot_dynamics_interfaces/srv/SetPayload "{}"', 'set_mass'),
        ('ros2 service call /dynamics_server/set_payload robot_dynamics_interfaces/srv/SetPayload "{kg: 1.0}"', 'kg'),
        ('ros2 service call /dynamics_server/set_payload robot_dynamics_interfaces/srv/SetPayload "{mass: 1}"', 'mass'),
        ('ros2 run robot_dynamics_ros feedforward_node --ros-args --enclave /robot_dynamics_ros/feed', 'feed'),
        ('rviz2 -d config/rviz/arm.rviz', 'config/rviz/arm.rviz'),  # of the source folder only
        (f'rviz2 -d {shell_commands.SHARE}/config/rviz/am.rviz', 'am.rviz'),
        ('pip install ".[simulation]"', 'simulation'),
        ('rosdep install --from-paths src', 'src'),
        ('killall ros2', 'killall'),
    ],
)
def test_a_command_that_names_what_does_not_exist_is_found(command, culprit):
    (words,) = shell_commands.commands(command)
    assert culprit in command
    with pytest.raises((AssertionError, KeyError, OSError)):
        shell_commands.check(words)


def test_commands_are_taken_apart():
    block = 'cd a && b=2 ros2 run \\\n  x "y z"  # why\n\n# nothing\nexport c=1; d=3\necho $d'
    assert shell_commands.commands(block) == [
        ['cd', 'a'],
        ['ros2', 'run', 'x', 'y z'],
        ['export', 'c=1'],
        ['echo', '3'],
    ]
