"""Packages of ROS 2 that nodes need, and what to do where one is missing; importing it needs none."""

ROS = ('rclpy', 'robot_dynamics_interfaces')
"""Packages of ROS 2 without which no node runs."""


def missing_package(name: str) -> str:
    """Return the message for a Python package of ROS 2 that is not installed."""
    return (
        f'this needs {name}, a package of a ROS 2 workspace, which pip does not install: source the workspace, '
        'or in a clone scripts/environment.sh (doc/first_steps/installation.md)'
    )
