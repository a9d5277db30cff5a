"""Simulated motion of robots: time integration of forward dynamics, and a MuJoCo plant for controllers."""

from robot_dynamics_ros.simulation.simulator import simulate

__all__ = ['simulate']
