"""Reference joint trajectories of the demo."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.messages.joint_trajectory import trajectory_message


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion through points with zero velocity and acceleration, by quintic polynomials."""

    name: str
    times: np.ndarray  # (m,) s
    positions: np.ndarray  # (m, n) rad, m

    def trajectory(self) -> Trajectory:
        """Return the motion as a trajectory."""
        zeros = np.zeros(self.positions.shape)
        return Trajectory(self.times, self.positions, zeros, zeros)

    def message(self, joint_names) -> JointTrajectory:
        """Return the motion as a message without a stamp."""
        zeros = np.zeros(self.positions.shape)
        return trajectory_message(joint_names, self.times, self.positions, zeros, zeros)


def read_motion(path: Path) -> tuple[list[str], Motion]:
    """Return joint names and motion of a file that ``DemoArm.write`` wrote."""
    content = yaml.safe_load(path.read_text(encoding='utf-8'))
    return content['joint_names'], Motion(NAME, np.array(content['times']), np.array(content['positions']))


def _degrees(name: str, times, *points) -> Motion:
    return Motion(name, np.array(times), np.radians(points))


LECTURE = _degrees("the lecture's quintic", (0.0, 2.0), (0, -45, 0, 0, 0, 0), (65, -55, -35, 15, 10, 5))
"""From the AUBO-i5 course, chapter 6."""

SWEEP = _degrees(
    'a faster sweep', (0.0, 1.5, 3.0), (0, -45, 0, 0, 0, 0), (80, 20, -70, 60, -60, 80), (0, -45, 0, 0, 0, 0)
)
NAME = 'a motion within the limits'
"""Of a motion that the demo makes for an arm."""
