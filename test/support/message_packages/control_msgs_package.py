"""control_msgs for tests: the installed package, or one of that name with one message."""

from contextlib import contextmanager
from pathlib import Path

from support.message_packages.generated_messages import provided

# As control_msgs documents it since 5.4; releases before had no last field.
MESSAGE = """
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
float64 speed_scaling_factor
"""


@contextmanager
def installed(folder: Path):
    """Give control_msgs/msg/JointTrajectoryControllerState to this process and to those that it starts.

    Where its package is not installed, it is made below ``folder``, which has to stay as long as the message is used.
    """
    messages = {'JointTrajectoryControllerState': MESSAGE}
    with provided(folder, 'control_msgs', messages, ['std_msgs', 'trajectory_msgs']) as module:
        yield module.JointTrajectoryControllerState
