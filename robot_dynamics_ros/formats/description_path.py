"""Path of a description that is given by a URI (package://, file://) or from the home folder (~)."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from robot_dynamics_ros.errors import ModelError


def description_path(description: str) -> str:
    """Return a path in place of a URI and of ~; anything else, such as a name or the text of a URDF, as it is.

    Raises ModelError naming a package that is on no prefix of AMENT_PREFIX_PATH, and a URI of another kind.
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
    for share in package_shares():
        if (share / uri.netloc).is_dir():
            return str(share / uri.netloc / path.lstrip('/'))
    raise ModelError(
        f'{description}: package {uri.netloc!r} is on no prefix of AMENT_PREFIX_PATH: source its workspace, or give '
        'the path of the file'
    )


def package_shares() -> list[Path]:
    """Return the folders that hold the share folders of ROS packages, in the order in which they are looked at."""
    return [Path(prefix, 'share') for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if prefix]
