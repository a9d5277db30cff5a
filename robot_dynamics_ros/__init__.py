"""Rigid-body dynamics for real-time control: a Python library and ROS 2 nodes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robot_dynamics_ros.model.closed_loops.loop_types import Coupling, LoopClosure
    from robot_dynamics_ros.payload import Payload
    from robot_dynamics_ros.robot import Robot

__all__ = ['Coupling', 'LoopClosure', 'Payload', 'Robot']


def __getattr__(name: str):
    """Import a public class at its first use: a node sets its signal handlers before these slow imports."""
    if name in ('Coupling', 'LoopClosure'):
        from robot_dynamics_ros.model.closed_loops import loop_types  # noqa: PLC0415

        return getattr(loop_types, name)
    if name == 'Payload':
        from robot_dynamics_ros.payload import Payload  # noqa: PLC0415

        return Payload
    if name == 'Robot':
        from robot_dynamics_ros.robot import Robot  # noqa: PLC0415

        return Robot
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
