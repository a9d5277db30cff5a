"""Rigid-body dynamics for real-time control: a Python library and ROS 2 nodes."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robot_dynamics_ros.model.loop_types import Coupling, LoopClosure
    from robot_dynamics_ros.payload import Payload
    from robot_dynamics_ros.robot import Robot

_MODULES = {
    'Coupling': 'robot_dynamics_ros.model.loop_types',
    'LoopClosure': 'robot_dynamics_ros.model.loop_types',
    'Payload': 'robot_dynamics_ros.payload',
    'Robot': 'robot_dynamics_ros.robot',
}
__all__ = ['Coupling', 'LoopClosure', 'Payload', 'Robot']


def __getattr__(name: str):
    """Import a public class at its first use: a node sets its signal handlers before these slow imports."""
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(_MODULES[name]), name)
