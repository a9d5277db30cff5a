"""moveit_msgs for tests: the installed package, or one of that name with the messages of a displayed plan."""

from contextlib import contextmanager
from pathlib import Path

from support.message_packages.generated_messages import provided

# As in moveit_msgs 2.6, without attached objects and joints of several degrees of freedom of the start.
MESSAGES = {
    'msg/RobotState.msg': """
sensor_msgs/JointState joint_state
bool is_diff
""",
    'msg/RobotTrajectory.msg': """
trajectory_msgs/JointTrajectory joint_trajectory
trajectory_msgs/MultiDOFJointTrajectory multi_dof_joint_trajectory
""",
    'msg/DisplayTrajectory.msg': """
string model_id
RobotTrajectory[] trajectory
RobotState trajectory_start
""",
}


@contextmanager
def installed(folder: Path):
    """Give moveit_msgs to this process and to those that it starts.

    Where the package is not installed, it is made below ``folder``, which has to stay as long as a message is used.
    """
    with provided(folder, 'moveit_msgs', MESSAGES, ['sensor_msgs', 'trajectory_msgs']):
        yield
