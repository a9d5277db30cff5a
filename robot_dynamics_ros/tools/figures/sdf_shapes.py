"""Shapes of links as SDFormat has them in <visual>: boxes, cylinders, capsules, spheres, ellipsoids, and meshes."""

from pathlib import Path
from xml.etree.ElementTree import Element

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.sdf.frames import ModelFrames
from robot_dynamics_ros.formats.sdf.sdf import frames_from_sdf
from robot_dynamics_ros.formats.sdf.values import number, numbers, pose_of
from robot_dynamics_ros.formats.untrusted_text import only_child
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.tools.figures.mesh_files import mesh_file, not_found
from robot_dynamics_ros.tools.figures.shapes import (
    GREY,
    Box,
    Capsule,
    Colour,
    Cylinder,
    Ellipsoid,
    Geometry,
    LeftOut,
    Mesh,
    Shape,
    Shapes,
    Sphere,
)


def shapes_from_sdf(source: str | Path, tag: str = 'visual') -> Shapes:
    """Return the shapes of all links of the model that moves: ``source`` is a path, or text that contains '<'.

    ``tag`` is the element that holds the shapes, 'visual' or 'collision'. Left out are meshes whose files do not exist,
    parts of meshes (<submesh>), and what is no body: planes, height maps, images and polylines. model:// and package://
    are those of ``package_folders``, above the file too. Raises ModelError for a source that is no SDFormat.
    """
    folder = None if isinstance(source, str) and '<' in source else Path(source).resolve().parent
    frames, found = frames_from_sdf(source), Shapes([], [])
    for link, element in frames.links.items():
        for visual in element.findall(tag):
            try:
                shape = _shape(frames, link, visual, folder)
            except ModelError as error:
                found.left_out.append(LeftOut(link, str(error)))
                continue
            if shape is not None:
                found.drawn.append(shape)
    return found


def _shape(frames: ModelFrames, link: str, visual: Element, folder: Path | None) -> Shape | None:
    """Return the shape of a <visual>, None for an empty one; ModelError for one that cannot be drawn."""
    owner = f'{visual.tag} {visual.get("name", "")!r:.80}'
    geometry = only_child(owner, visual, 'geometry')
    if geometry is None or len(geometry) != 1:
        raise ModelError(f'{owner}: expected one <geometry> with one shape')
    if geometry[0].tag == 'empty':
        return None
    form = _geometry(owner, geometry[0], folder)
    pose, relative_to = pose_of(owner, visual, frames.version)
    if relative_to:
        scope = link.removesuffix(frames.links[link].get('name', ''))
        pose = product(frames.pose(frames.full_name(scope, relative_to), link, owner), pose)
    return Shape(link, pose, form, _colour(owner, visual))


def _geometry(owner: str, element: Element, folder: Path | None) -> Geometry:
    """Return the geometry of a shape's element; ModelError for one that cannot be drawn."""
    match element.tag:
        case 'box':
            x, y, z = numbers(owner, element, 'size', [1.0, 1.0, 1.0])
            return Box((x, y, z))
        case 'cylinder':
            return Cylinder(number(owner, element, 'radius', 1.0), number(owner, element, 'length', 1.0))
        case 'capsule':
            return Capsule(number(owner, element, 'radius', 0.5), number(owner, element, 'length', 1.0))
        case 'sphere':
            return Sphere(number(owner, element, 'radius', 1.0))
        case 'ellipsoid':
            x, y, z = numbers(owner, element, 'radii', [1.0, 1.0, 1.0])
            return Ellipsoid((x, y, z))
        case 'mesh':
            return _mesh(owner, element, folder)
    raise ModelError(f'{owner}: <{element.tag:.80}> is not drawn')


def _mesh(owner: str, element: Element, folder: Path | None) -> Mesh:
    """Return the mesh of a <mesh>; ModelError for a part of one, and where there is no file."""
    uri = (element.findtext('uri') or '').strip()
    if element.find('submesh') is not None:
        part = (element.findtext('submesh/name') or '').strip()
        raise ModelError(f'{owner}: part {part!r:.80} of mesh {uri:.200} is not drawn: <submesh> is not read')
    path = mesh_file(uri, folder)
    if path is None:
        raise ModelError(f'{owner}: {not_found(uri)}')
    x, y, z = numbers(owner, element, 'scale', [1.0, 1.0, 1.0])
    return Mesh(path, (x, y, z))


def _colour(owner: str, visual: Element) -> Colour:
    """Return the colour of the <material> of a <visual>: its diffuse one, else its ambient one."""
    material = only_child(owner, visual, 'material')
    for tag in ('diffuse', 'ambient'):
        colour = None if material is None else only_child(owner, material, tag)
        if colour is not None:
            # the fourth, opacity, may be left out
            count = 3 if len((colour.text or '').split()) == 3 else 4
            red, green, blue, *_ = numbers(owner, material, tag, [*GREY, 1.0][:count])
            return red, green, blue
    return GREY
