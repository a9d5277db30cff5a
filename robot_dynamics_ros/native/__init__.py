"""The call from Python into machine code, in C."""

try:
    from robot_dynamics_ros.native import call  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        'robot_dynamics_ros is not built: its extension robot_dynamics_ros.native.call does not exist for this Python. '
        'In a clone call scripts/bootstrap; elsewhere install the package by pip or colcon'
    ) from error
