"""Check of a launch file's arguments: launch itself ignores a name that no file declares."""

import difflib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from robot_dynamics_ros.errors import nearest

PACKAGE = 'robot_dynamics_ros'
OF_LAUNCH_ROS = 'ros_'
"""Begins the names of launch configurations that launch_ros sets, such as ros_namespace."""
NEAR = 0.8
"""Similarity (difflib) from which on a name of an including launch file is taken for a misspelt argument."""


def check_names(file: Path, declared: Iterable[str], given: Sequence[str], command: Sequence[str]) -> None:
    """Refuse arguments that ``file`` does not declare where ``ros2 launch`` starts this very file.

    Where another launch file includes it, the command line holds that file's arguments, too: nothing is refused.

    Parameters
    ----------
    file : Path
        The launch file.
    declared : iterable of str
        Names of its arguments.
    given : sequence of str
        Arguments of the command line, ``name:=value`` each, as ``LaunchContext.argv`` has them.
    command : sequence of str
        The whole command line, ``sys.argv``.

    Raises
    ------
    ValueError
        Names the argument, and the one that is probably meant; launch prints it in one line.
    """
    if not _is_started(file, command):
        return
    names = list(declared)
    unknown = [argument.partition(':=')[0] for argument in given if ':=' in argument]
    unknown = [name for name in unknown if name not in names]
    if unknown:
        raise ValueError(f'{unknown[0]}: {file.name} has no argument of this name{_meant(unknown[0], names)}')


def misspelt(file: Path, declared: Iterable[str], configurations: Iterable[str]) -> list[str]:
    """Return a warning for each launch configuration that is nearly, but not, an argument of an included ``file``.

    Launch configurations are shared with the including file, so one of another name may well be that file's own.
    """
    names = list(declared)
    others = [name for name in configurations if name not in names and not name.startswith(OF_LAUNCH_ROS)]
    near = [name for name in others if difflib.get_close_matches(name, names, 1, NEAR)]
    return [f'{name}: {file.name} has no argument of this name{_meant(name, names)}' for name in near]


def _is_started(file: Path, command: Sequence[str]) -> bool:
    """Return whether the command line names ``file``, by its package or by its path."""
    paths = [Path(word) for word in command if word.endswith(file.name)]
    return (PACKAGE, file.name) in pairwise(command) or any(path.is_file() and path.samefile(file) for path in paths)


def _meant(name: str, names: list[str]) -> str:
    return f'; {nearest(name, names) or "--show-args lists them"}'
