"""The frame of what messages state in the base link."""

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot


def check_base(name: str, robot: Robot, frame: str) -> None:
    """Raise ArgumentError naming what has another ``frame`` than the base link of ``robot``; empty: the base link."""
    base = robot.link_names[0]
    if frame not in ('', base):
        raise ArgumentError(f'{name}: expected it in the base link {base!r}, got frame {frame!r}')
