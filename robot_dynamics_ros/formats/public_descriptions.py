"""Descriptions of public robots by name, by the Python package robot_descriptions where that is installed.

It clones the repository of a description when that is first asked for. Only commands, launch files and users' programs
ask for one, never a node.
"""

from collections.abc import Mapping
from importlib import import_module

from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError, nearest
from robot_dynamics_ros.formats.xacro import urdf_of_xacro


def is_public_description(description: str) -> bool:
    """Return whether a description is a name of robot_descriptions: a word that ends with _description."""
    return description.endswith('_description') and not set(description) & set('<>/\\. \t\n')


def public_description(name: str, arguments: Mapping[str, str]) -> str:
    """Return path of the URDF or MJCF file, or text of the URDF, of a description of robot_descriptions.

    A description may have several formats: its URDF is used, else its xacro file, else its MJCF.

    Parameters
    ----------
    name : str
        Module of robot_descriptions, such as ``'panda_description'``.
    arguments : mapping
        Text by name, for a xacro file; they are added to those of the module, ``XACRO_ARGS``.

    Returns
    -------
    str

    Raises
    ------
    UnknownNameError
        With the nearest name that robot_descriptions has.
    ArgumentError
        For arguments, where no xacro file is read.
    ModelError
        Where robot_descriptions or xacro is not installed, and where the repository cannot be cloned.
    """
    try:
        from robot_descriptions import DESCRIPTIONS  # noqa: PLC0415  (optional; nothing else needs it)
    except ImportError:
        raise ModelError(
            f'{name}: needs the Python package robot_descriptions, which is not installed: '
            'pip install robot_descriptions xacro'
        ) from None
    if name not in DESCRIPTIONS:
        near = nearest(name, DESCRIPTIONS)
        raise UnknownNameError(f'robot_descriptions has no {name!r}{near and f"; {near}"}')
    try:
        module = import_module(f'robot_descriptions.{name}')
    except Exception as error:  # of git, of the network, of the module
        raise ModelError(f'{name}: robot_descriptions cannot load it: {" ".join(str(error).split())}') from error
    urdf, xacro, mjcf = (str(getattr(module, f'{kind}_PATH', '')) for kind in ('URDF', 'XACRO', 'MJCF'))
    if not urdf and xacro:
        stated = {**getattr(module, 'XACRO_ARGS', {}), **arguments}
        return urdf_of_xacro(xacro, stated, getattr(module, 'XACRO_PACKAGE_PATHS', None))
    if arguments:
        raise ArgumentError(f'xacro_args: {name} is no xacro file')
    if not (urdf or mjcf):
        raise ModelError(f'{name}: robot_descriptions has neither URDF, xacro nor MJCF of it')
    return urdf or mjcf
