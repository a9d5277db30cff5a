"""Shapes of links as a URDF has them in <visual>: boxes, cylinders, spheres, and meshes whose files exist."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.description_path import package_folders
from robot_dynamics_ros.formats.untrusted_text import number, numbers, only_child, parsed, read_xml, word
from robot_dynamics_ros.formats.urdf_origin import Version, origin_of, version_of

Colour = tuple[float, float, float]
GREY: Colour = (0.7, 0.7, 0.7)


@dataclass(frozen=True)
class Box:
    """Box about the origin; edges along x, y, z in m."""

    edges: tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder:
    """Cylinder about the origin, its axis along z; m."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """Cylinder about the origin, its axis along z, with a hemisphere at each end; m. Of URDF 1.2."""

    radius: float
    length: float  # of the cylinder


@dataclass(frozen=True)
class Sphere:
    """Sphere about the origin; m."""

    radius: float


@dataclass(frozen=True)
class Mesh:
    """Mesh of a file, scaled along x, y, z to m."""

    path: Path
    scale: tuple[float, float, float]


Geometry = Box | Cylinder | Capsule | Sphere | Mesh


@dataclass(frozen=True, eq=False)
class Shape:
    """A geometry at a pose (4, 4; m) in the frame of a link, in a colour (red, green and blue from 0 to 1)."""

    link: str
    pose: np.ndarray = field(repr=False)
    geometry: Geometry
    colour: Colour


def shapes_from_urdf(source: str | Path, tags=('visual',)) -> list[Shape]:
    """Return the shapes of all links of a URDF: ``source`` is a path, or the text itself if it contains '<'.

    ``tags`` are the elements that hold the shapes, 'visual' and 'collision'.
    A mesh is left out where its file does not exist; package:// is that of ``package_folders``, above the URDF too.
    Raises ModelError naming the link for a shape that no URDF has.
    """
    is_text = isinstance(source, str) and '<' in source
    folder = None if is_text else Path(source).resolve().parent
    try:
        robot = parsed(str(source) if is_text else read_xml(source))
        version = version_of(robot)
        colours = {element.get('name'): _rgb('material', element) for element in robot.findall('material')}
        return [
            shape
            for link in robot.findall('link')
            for tag in tags
            for visual in link.findall(tag)
            for shape in _shapes(word('link', link, 'name'), visual, version, colours, folder)
        ]
    except ModelError as error:
        raise ModelError(f'{"robot description" if is_text else source}: {error}') from error


def _shapes(
    link: str,
    visual: Element,
    version: Version,
    colours: Mapping[str | None, Colour | None],
    folder: Path | None,
) -> Iterable[Shape]:
    """Yield the shape of a <visual>, or nothing for a mesh without a file."""
    owner = f'visual of link {link!r}'
    geometry = only_child(owner, visual, 'geometry')
    if geometry is None or len(geometry) != 1:
        raise ModelError(f'{owner}: expected one <geometry> with one shape')
    form = _geometry(owner, geometry[0], folder)
    if form is None:
        return
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = origin_of(owner, visual, version)
    material = only_child(owner, visual, 'material')
    colour = None if material is None else _rgb(owner, material) or colours.get(material.get('name'))
    yield Shape(link, pose, form, colour or GREY)


def _geometry(owner: str, element: Element, folder: Path | None) -> Geometry | None:
    """Return the geometry of a shape's element; None for a mesh without a file."""
    match element.tag:
        case 'box':
            x, y, z = numbers(owner, element, 'size', [0.0, 0.0, 0.0])
            return Box((x, y, z))
        case 'cylinder':
            return Cylinder(number(owner, element, 'radius'), number(owner, element, 'length'))
        case 'capsule':
            return Capsule(number(owner, element, 'radius'), number(owner, element, 'length'))
        case 'sphere':
            return Sphere(number(owner, element, 'radius'))
        case 'mesh':
            path = _mesh_file(element.get('filename', ''), folder)
            x, y, z = numbers(owner, element, 'scale', [1.0, 1.0, 1.0])
            return path and Mesh(path, (x, y, z))
    raise ModelError(f'{owner}: <{element.tag}>: expected box, cylinder, capsule, sphere or mesh')


def _rgb(owner: str, material: Element) -> Colour | None:
    """Return the colour of a <material>, None where it only has a name or a texture."""
    colour = only_child(owner, material, 'color')
    if colour is None:
        return None
    red, green, blue, _ = numbers(owner, colour, 'rgba', [*GREY, 1.0])
    return red, green, blue


def _mesh_file(name: str, folder: Path | None) -> Path | None:
    """Return the file of a mesh by its URI or its path relative to the URDF's folder; None where there is none."""
    uri = urlsplit(name)
    path = unquote(uri.path).lstrip('/')
    if uri.scheme == 'package':
        candidates = [place / path for place in package_folders(uri.netloc, folder)]
    elif uri.scheme == 'file':
        candidates = [Path('/', path)]
    else:
        candidates = [] if folder is None else [folder / name]
    return next((candidate for candidate in candidates if candidate.is_file()), None)
