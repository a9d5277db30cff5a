"""control_msgs for tests: the installed package, or one of that name with a message and an action."""

from contextlib import contextmanager
from pathlib import Path

from support.message_packages.generated_messages import provided

# As control_msgs documents it since 5.4; releases before had no last field.
STATE = """
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
float64 speed_scaling_factor
"""

TOLERANCE = """
string name
float64 position
float64 velocity
float64 acceleration
"""
COMPONENT_TOLERANCE = """
string joint_name
uint16 component
float64 position
float64 velocity
float64 acceleration
"""
# Without the feedback of joints that have several degrees of freedom.
ACTION = """
trajectory_msgs/JointTrajectory trajectory
trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory
JointTolerance[] path_tolerance
JointComponentTolerance[] component_path_tolerance
JointTolerance[] goal_tolerance
JointComponentTolerance[] component_goal_tolerance
builtin_interfaces/Duration goal_time_tolerance
---
int32 error_code
int32 SUCCESSFUL=0
int32 INVALID_GOAL=-1
int32 INVALID_JOINTS=-2
int32 OLD_HEADER_TIMESTAMP=-3
int32 PATH_TOLERANCE_VIOLATED=-4
int32 GOAL_TOLERANCE_VIOLATED=-5
string error_string
---
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
"""
FILES = {
    'msg/JointTrajectoryControllerState.msg': STATE,
    'msg/JointTolerance.msg': TOLERANCE,
    'msg/JointComponentTolerance.msg': COMPONENT_TOLERANCE,
    'action/FollowJointTrajectory.action': ACTION,
}


@contextmanager
def installed(folder: Path):
    """Give control_msgs to this process and to those that it starts.

    Where it is not installed, it is made below ``folder``, which has to stay as long as a message is used.
    """
    with provided(folder, 'control_msgs', FILES, ['builtin_interfaces', 'std_msgs', 'trajectory_msgs']):
        yield
