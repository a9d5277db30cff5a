"""The call from Python into machine code, in C."""

try:
    import robot_dynamics_ros.native.call  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f'robot_dynamics_ros is not built in {__path__[0]}: its extension robot_dynamics_ros.native.call does not '
        'exist there for this Python. In a clone call scripts/bootstrap; if the package is installed by pip or colcon, '
        'start Python in a folder that is not the clone'
    ) from error
