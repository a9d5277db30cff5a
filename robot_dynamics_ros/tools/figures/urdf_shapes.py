"""Shapes of links as a URDF has them in <visual>: boxes, cylinders, capsules, spheres, meshes whose files exist."""

from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import (
    check_root,
    number,
    numbers,
    only_child,
    parsed,
    read_xml,
    word,
)
from robot_dynamics_ros.formats.urdf_origin import Version, origin_of, version_of
from robot_dynamics_ros.tools.figures.mesh_files import mesh_file, not_found
from robot_dynamics_ros.tools.figures.shapes import (
    GREY,
    Box,
    Capsule,
    Colour,
    Cylinder,
    Geometry,
    LeftOut,
    Mesh,
    Shape,
    Shapes,
    Sphere,
)


def shapes_from_urdf(source: str | Path, tag: str = 'visual') -> Shapes:
    """Return the shapes of all links of a URDF: ``source`` is a path, or the text itself if it contains '<'.

    ``tag`` is the element that holds the shapes, 'visual' or 'collision'. Left out are shapes that no URDF has, and
    meshes whose files do not exist; package:// is that of ``package_folders``, above the URDF too. Raises ModelError
    for a source that is no URDF.
    """
    is_text = isinstance(source, str) and '<' in source
    folder = None if is_text else Path(source).resolve().parent
    found = Shapes([], [])
    try:
        robot = parsed(str(source) if is_text else read_xml(source))
        check_root(robot, 'robot')
        version = version_of(robot)
        colours: dict[str | None, Colour | None] = {}
        for material in robot.findall('material'):
            try:
                colours[material.get('name')] = _rgb('material', material)
            except ModelError as error:
                found.left_out.append(LeftOut('', str(error)))
        for element in robot.findall('link'):
            link = word('link', element, 'name')
            for visual in element.findall(tag):
                try:
                    found.drawn.append(_shape(link, visual, version, colours, folder))
                except ModelError as error:
                    found.left_out.append(LeftOut(link, str(error)))
    except ModelError as error:
        raise ModelError(f'{"robot description" if is_text else source}: {error}') from error
    return found


def _shape(
    link: str,
    visual: Element,
    version: Version,
    colours: Mapping[str | None, Colour | None],
    folder: Path | None,
) -> Shape:
    """Return the shape of a <visual>; ModelError for one that cannot be drawn."""
    owner = visual.tag
    geometry = only_child(owner, visual, 'geometry')
    if geometry is None or len(geometry) != 1:
        raise ModelError(f'{owner}: expected one <geometry> with one shape')
    form = _geometry(owner, geometry[0], folder)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = origin_of(owner, visual, version)
    material = only_child(owner, visual, 'material')
    colour = None if material is None else _rgb(owner, material) or colours.get(material.get('name'))
    return Shape(link, pose, form, colour or GREY)


def _geometry(owner: str, element: Element, folder: Path | None) -> Geometry:
    """Return the geometry of a shape's element; ModelError for one that cannot be drawn."""
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
            uri = element.get('filename', '')
            path = mesh_file(uri, folder)
            if path is None:
                raise ModelError(not_found(uri))
            x, y, z = numbers(owner, element, 'scale', [1.0, 1.0, 1.0])
            return Mesh(path, (x, y, z))
    raise ModelError(f'{owner}: <{element.tag:.80}>: expected box, cylinder, capsule, sphere or mesh')


def _rgb(owner: str, material: Element) -> Colour | None:
    """Return the colour of a <material>, None where it only has a name or a texture."""
    colour = only_child(owner, material, 'color')
    if colour is None:
        return None
    red, green, blue, _ = numbers(owner, colour, 'rgba', [*GREY, 1.0])
    return red, green, blue
