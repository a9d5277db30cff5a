"""Files of meshes that a description names: where they are, and what they hold."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from robot_dynamics_ros.formats.description_path import package_folders

COLLADA = 'meshes of COLLADA need pycollada, which is not installed: pip install pycollada'


def mesh_file(uri: str, folder: Path | None) -> Path | None:
    """Return the file of a mesh by its URI, or its path relative to the description's folder; None where there is none.

    package:// and model:// are those of ``package_folders``.
    """
    parts = urlsplit(uri)
    path = unquote(parts.path).lstrip('/')
    if parts.scheme in ('package', 'model'):
        candidates = [place / path for place in package_folders(parts.netloc, folder)]
    elif parts.scheme == 'file':
        candidates = [Path('/', path)]
    else:
        candidates = [] if folder is None else [folder / uri]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def not_found(uri: str) -> str:
    """Return that the file of a mesh is not found."""
    return f'mesh {uri:.200} is not found'


def read_mesh(path: Path) -> Any:
    """Return the mesh of a file, as trimesh has it, or in words why it cannot be read."""
    try:
        import trimesh  # noqa: PLC0415 - an extra of the package
    except ImportError:
        return f'{path} is not read: trimesh is not installed: pip install trimesh'
    suffix = path.suffix.lstrip('.').lower()
    if suffix not in trimesh.available_formats():
        return f'{path} is not read: {COLLADA if suffix == "dae" else f"trimesh reads no files of the format {suffix}"}'
    try:
        mesh = trimesh.load(path, force='mesh')
    except Exception as error:  # each format's reader has its own
        return f'{path} is no mesh: {error}'
    return mesh if len(mesh.faces) else f'{path} is no mesh: it has no triangles'
