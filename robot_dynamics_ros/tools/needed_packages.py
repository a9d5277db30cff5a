"""Check that Python packages are installed which a command needs and the library does not."""

import importlib
from collections.abc import Iterable

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.nodes.process.ros_packages import ROS, missing_package


def check_packages(names: Iterable[str]) -> None:
    """Raise DynamicsError with the Python packages that are not installed, and how to install all of them."""
    missing = [name for name in names if not _is_installed(name)]
    for name in missing:
        if name in ROS:
            raise DynamicsError(missing_package(name))
    if missing:
        lack = 'which is not installed' if len(missing) == 1 else 'which are not installed'
        raise DynamicsError(f'this needs {", ".join(missing)}, {lack}: pip install {" ".join(missing)}')


def _is_installed(name: str) -> bool:
    """Return whether a package can be imported."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
