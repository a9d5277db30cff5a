"""Path of a description that is given by a URI or from the home folder (~), and folders of ROS packages."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from robot_dynamics_ros.errors import ModelError

PLACES = 'AMENT_PREFIX_PATH or ROS_PACKAGE_PATH'
"""Environment variables that say where ROS packages are."""


def description_path(description: str) -> str:
    """Return a path in place of a URI and of ~; anything else, such as a name or the text of a URDF, as it is.

    Raises ModelError naming a package that ``package_folders`` does not find, and a URI of another kind.
    """
    if '<' in description:
        return description
    if description.startswith('~'):
        return os.path.expanduser(description)
    if '://' not in description:
        return description
    uri = urlsplit(description)
    path = unquote(uri.path)
    if uri.scheme == 'file' and uri.netloc in ('', 'localhost'):
        return path
    if uri.scheme != 'package':
        raise ModelError(f'{description}: expected a path, package://PACKAGE/PATH or file:///PATH')
    for folder in package_folders(uri.netloc):
        return str(folder / path.lstrip('/'))
    raise ModelError(
        f'{description}: package {uri.netloc!r} is not on {PLACES}: source its workspace, or give the path of the file'
    )


def package_folders(name: str, folder: Path | None = None) -> Iterator[Path]:
    """Yield the folders of a ROS package that exist, those above ``folder`` first; no ROS is needed.

    Above it, a folder is the package if its package.xml says so, and may have the package as a subfolder. Then come
    <prefix>/share of AMENT_PREFIX_PATH, and the folders of ROS_PACKAGE_PATH.
    """
    if name in ('', '.', '..') or '/' in name:
        return
    for place in () if folder is None else (folder, *folder.parents):
        if _is_package(place, name):
            yield place
        if (place / name).is_dir():
            yield place / name
    prefixes, paths = (os.environ.get(variable, '').split(os.pathsep) for variable in PLACES.split(' or '))
    for place in (*(Path(prefix, 'share') for prefix in prefixes if prefix), *map(Path, filter(None, paths))):
        if (place / name).is_dir():
            yield place / name


def _is_package(folder: Path, name: str) -> bool:
    """Return whether the package.xml of a folder has this name."""
    try:
        text = (folder / 'package.xml').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return False
    return re.search(rf'<name>\s*{re.escape(name)}\s*</name>', text) is not None
