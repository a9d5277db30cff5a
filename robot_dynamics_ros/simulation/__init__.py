"""Simulated motion of robots: time integration of forward dynamics, and a MuJoCo plant for controllers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.simulator import simulate

__all__ = ['simulate']


def __getattr__(name: str):
    """Import ``simulate`` at its first use: its compiled code needs Numba."""
    if name == 'simulate':
        from robot_dynamics_ros.simulation.simulator import simulate  # noqa: PLC0415

        return simulate
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
