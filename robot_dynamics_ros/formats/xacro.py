"""URDF text of a xacro file, by the Python package xacro where that is installed.

A xacro file holds Python expressions that are evaluated. Only files that the user names are read, never a text that
came over a topic.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.description_path import description_path


def is_xacro(path: str) -> bool:
    """Return whether a description is the path of a xacro file."""
    return '<' not in path and path.endswith('.xacro')


def xacro_arguments(text: str) -> dict[str, str]:
    """Return the arguments of a text like ``'name:=ur10e safety_limits:=true'``; ArgumentError names a wrong one."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ArgumentError(f'xacro_args: {error} in {text!r:.80}') from None
    found = {}
    for word in words:
        name, assigned, value = word.partition(':=')
        if not assigned or not re.fullmatch(r'\w+', name):
            raise ArgumentError(f"xacro_args: expected 'name:=value', got {word!r:.80}")
        found[name] = value
    return found


def xacro_command(path: str, arguments: Mapping[str, str]) -> str:
    """Return the command that writes the URDF beside the xacro file."""
    target = path.removesuffix('.xacro').removesuffix('.urdf') + '.urdf'
    words = [path, *(f'{name}:={value}' for name, value in arguments.items())]
    return f'xacro {shlex.join(words)} > {shlex.quote(target)}'


def urdf_of_xacro(path: str, arguments: Mapping[str, str]) -> str:
    """Return the URDF text of a xacro file.

    Parameters
    ----------
    path : str
        Of the file, or its URI.
    arguments : mapping
        Text by name, for its ``<xacro:arg>``.

    Returns
    -------
    str

    Raises
    ------
    ModelError
        Where xacro is not installed, with the command that writes the URDF elsewhere; for an error in the file.
    """
    path = description_path(path)
    if not Path(path).is_file():
        raise ModelError(f'model: no file {path!r}')
    try:
        import xacro  # noqa: PLC0415  (optional; nothing else needs it)
    except ImportError:
        raise ModelError(
            f'model: {path} needs xacro, which is not installed: pip install xacro, or write the URDF where it is:'
            f' {xacro_command(path, arguments)}'
        ) from None
    try:
        return xacro.process_file(path, mappings=dict(arguments)).toprettyxml(indent='  ')
    except Exception as error:  # of many types, those of the file's expressions included
        raise ModelError(f'model: xacro does not process {path}: {error}') from error
