"""Executable names of ``ros2 run robot_dynamics_ros <name>``, as short names of the commands.

pip installs executables where every program is found, and other packages have a ``compare`` too. There a command is
called ``robot_dynamics_compare``; its short name still works, but warns.
"""

import sys
from importlib.metadata import distribution
from pathlib import Path

PACKAGE = 'robot_dynamics_ros'


def main():
    """Run the command whose short name the process has; outside of ``lib/robot_dynamics_ros`` warn before."""
    path = Path(sys.argv[0]).absolute()
    full = f'robot_dynamics_{path.name}'
    # ros2 run and launch call executables in this folder
    if path.parent.name != PACKAGE:
        print(
            f'{path.name}: deprecated as a global command; call {full}, or ros2 run {PACKAGE} {path.name}',
            file=sys.stderr,
            flush=True,
        )
    return distribution(PACKAGE).entry_points[full].load()()
