"""Machine code: loaded into memory, and called from Python; in C."""

try:
    from robot_dynamics_ros.native import call, machine_code  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        'robot_dynamics_ros is not built: its extensions in robot_dynamics_ros.native do not exist for this Python. '
        'In a clone call scripts/bootstrap; elsewhere install the package by pip or colcon'
    ) from error
