"""URDF text of a xacro file, by the Python package xacro where that is installed; ROS is not needed.

A xacro file holds Python expressions that are evaluated. Only files that the user names are read, never a text that
came over a topic.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from urllib.parse import unquote, urlsplit

from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.description_path import PLACES, description_path, package_folders
from robot_dynamics_ros.formats.untrusted_text import read_text


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


def arguments_as_text(arguments: Mapping[str, str | float]) -> dict[str, str]:
    """Return arguments whose values are text or numbers as text; ArgumentError names a wrong one."""
    if not isinstance(arguments, Mapping):
        raise ArgumentError(
            f"xacro_args: expected text or numbers by name, such as {{'ur_type': 'ur5e'}}, got {arguments!r:.80}"
        )
    for name, value in arguments.items():
        if isinstance(value, bool) or not isinstance(value, str | Real):
            raise ArgumentError(f"xacro_args: {name}: expected text, such as 'true', or a number, got {value!r:.80}")
    return {name: str(value) for name, value in arguments.items()}


def xacro_command(path: str, arguments: Mapping[str, str]) -> str:
    """Return the command that writes the URDF beside the xacro file."""
    target = path.removesuffix('.xacro').removesuffix('.urdf') + '.urdf'
    words = [path, *(f'{name}:={value}' for name, value in arguments.items())]
    return f'xacro {shlex.join(words)} > {shlex.quote(target)}'


def urdf_of_xacro(path: str, arguments: Mapping[str, str], packages: Mapping[str, str] | None = None) -> str:
    """Return the URDF text of a xacro file.

    $(find PACKAGE) is the folder of a package: that of ``packages``, else the first of ``package_folders`` for the
    folder of the file. Meshes by package:// become file:// where they exist.

    Parameters
    ----------
    path : str
        Of the file, or its URI.
    arguments : mapping
        Text by name, for its ``<xacro:arg>``.
    packages : mapping, optional
        Folders of packages by name.

    Returns
    -------
    str

    Raises
    ------
    ModelError
        Where xacro is not installed, with the command that writes the URDF elsewhere; for an error in the file, such as
        a package that is not found.
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
    above = Path(path).resolve().parent

    def folders(package: str) -> Iterator[Path]:
        if packages and package in packages:
            yield Path(packages[package])
        yield from package_folders(package, above)

    try:
        with _found_by(folders):
            document = xacro.process_file(path, mappings=dict(arguments))
    except Exception as error:  # of many types, those of the file's expressions included
        cause = getattr(error, 'exc', None)  # xacro puts the name of its class before the message
        why = cause if isinstance(cause, ModelError) else error
        raise ModelError(f'model: xacro does not process {path}: {" ".join(str(why).split())}') from error
    if not document.getElementsByTagName('link'):
        if '<xacro:macro' in read_text(path):
            raise ModelError(f'model: {path} only defines macros; open the file that calls them')
        raise ModelError(f'model: {path} has no <link>; open the file that includes it')
    for mesh in document.getElementsByTagName('mesh'):
        uri = urlsplit(mesh.getAttribute('filename'))
        if uri.scheme == 'package':
            files = (folder / unquote(uri.path).lstrip('/') for folder in folders(uri.netloc))
            found = next((file for file in files if file.is_file()), None)
            if found is not None:
                mesh.setAttribute('filename', found.absolute().as_uri())
    return document.toprettyxml(indent='  ')


@contextmanager
def _found_by(folders: Callable[[str], Iterator[Path]]) -> Iterator[None]:
    """Let xacro find packages by ``folders``: its own $(find) needs a ROS installation, and has no other entrance."""
    from xacro import substitution_args  # noqa: PLC0415  (optional)

    def find(package: str) -> str:
        for folder in folders(package):
            return str(folder)
        raise ModelError(f'package {package!r} is neither above the file nor on {PLACES}')

    names = substitution_args._eval_dict  # of $(eval find(...))
    before = substitution_args._eval_find, names['find']
    substitution_args._eval_find = names['find'] = find
    try:
        yield
    finally:
        substitution_args._eval_find, names['find'] = before
