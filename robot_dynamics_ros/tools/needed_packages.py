"""Check that Python packages are installed which a command needs and the library does not."""

import importlib
from collections.abc import Iterable

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.nodes.process.ros_packages import ROS, missing_package


def check_packages(names: Iterable[str]) -> None:
    """Raise DynamicsError with the first Python package that is not installed."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            if name in ROS:
                raise DynamicsError(missing_package(name)) from None
            raise DynamicsError(f'this needs {name}, which is not installed: pip install {name}') from None
