"""Bounding boxes of the links' shapes, and checks of masses and inertias against them.

In a box with the edges a, b, c a mass distribution has second moments about its centre of at most m a^2 / 4 along the
first edge, and so on: half of the mass at each end. A solid box has m a^2 / 12.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.urdf import Inertial
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.tools.figures.description_shapes import shapes_of
from robot_dynamics_ros.tools.figures.mesh_files import read_mesh
from robot_dynamics_ros.tools.figures.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Mesh,
    Shape,
    Sphere,
    Triangles,
)

MARGIN = 0.1
"""Of the box's edges: shapes are simplified."""
LEAST = 0.02
"""Of the second moments of a solid box: less, and the unit may be wrong."""
DENSEST = 4000.0
"""kg/m^3 in the box: links of public arms have 200 to 2500, motors up to 3500, links of solid steel 4500 to 6000."""
SMALLEST_EDGE = 1e-3
"""m; a plane or a line says nothing."""


class LinkBox(NamedTuple):
    """Box along the axes of a link's frame."""

    lower: np.ndarray  # (3,) m
    upper: np.ndarray  # (3,) m

    @property
    def edges(self) -> np.ndarray:
        """Lengths of the edges, (3,) m."""
        return self.upper - self.lower


def boxes_of(description: str | Path) -> dict[str, LinkBox]:
    """Return the box of each link that has shapes in a description, URDF, SDF or MJCF.

    Visual and collision shapes count, each where all of a link's are known. The size of a mesh is known where its file
    exists and trimesh is installed.
    """
    corners: dict[str, list[np.ndarray]] = {}
    for tag in ('visual', 'collision'):
        try:
            shapes = shapes_of(description, tag)
        except ModelError:
            return {}  # what cannot be read is nothing for this check
        of_links: dict[str, list[np.ndarray | None]] = {it.link: [None] for it in shapes.left_out}
        for shape in shapes.drawn:
            of_links.setdefault(shape.link, []).append(_points(shape))
        for link, found in of_links.items():
            known = [points for points in found if points is not None]
            if len(known) == len(found):
                corners.setdefault(link, []).extend(known)
    return {
        link: LinkBox(np.min(np.concatenate(points), axis=0), np.max(np.concatenate(points), axis=0))
        for link, points in corners.items()
    }


def check_box(link: str, inertial: Inertial, box: LinkBox) -> Iterator[Finding]:
    """Yield findings on the inertial of a link that the box of its shapes cannot have."""
    mass, com, inertia = inertial
    where, edges = f'link {link!r}', box.edges
    if mass <= 0.0 or edges.min() < SMALLEST_EDGE:
        return
    shown = ' x '.join(f'{edge:.3g}' for edge in edges)
    outside = np.maximum(box.lower - com, com - box.upper)
    if (outside > MARGIN * edges.max()).any():
        message = f'its centre of mass is {outside.max():.3g} m outside of the box of its shapes, {shown} m'
        yield Finding('warning', where, message)
    density = mass / edges.prod()
    if density > DENSEST:
        message = (
            f'its mass of {mass:.3g} kg is {density:.0f} kg/m^3 in the box of its shapes, {shown} m: as much as solid '
            'steel; was the material right in the CAD program?'
        )
        yield Finding('warning', where, message)
    moments = 0.5 * np.trace(inertia) - np.diag(inertia)  # second moments along the edges
    solid = mass * edges**2 / 12.0
    k = int(np.argmax(moments / solid))
    if moments[k] > 3.0 * (1.0 + MARGIN) ** 2 * solid[k]:
        message = (
            f'its second moment along {"xyz"[k]} is {moments[k] / solid[k]:.3g} times that of a solid box of its size, '
            f'{shown} m; no body in this box has more than 3 times'
        )
        yield Finding('warning', where, message)
    elif inertia.any() and moments.sum() < LEAST * solid.sum():
        message = (
            f'its inertia is {moments.sum() / solid.sum():.2g} times that of a solid box of its size, {shown} m: '
            'is the unit kg m^2?'
        )
        yield Finding('warning', where, message)


def _points(shape: Shape) -> np.ndarray | None:
    """Return points (k, 3; m) in the link's frame that have the box of a shape, None where its size is unknown."""
    geometry = shape.geometry
    if isinstance(geometry, Triangles):
        points = geometry.vertices
    else:
        extent = _extent(geometry)
        if extent is None:
            return None
        points = np.stack(np.meshgrid(*np.transpose(extent)), axis=-1).reshape(-1, 3)
    return points @ shape.pose[:3, :3].T + shape.pose[:3, 3]


def _extent(geometry: Geometry) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the ends (3, m) of a shape's own box, None where they are unknown."""
    match geometry:
        case Box(edges):
            half = 0.5 * np.array(edges)
        case Cylinder(radius, length):
            half = np.array([radius, radius, 0.5 * length])
        case Capsule(radius, length):
            half = np.array([radius, radius, 0.5 * length + radius])
        case Sphere(radius):
            half = np.full(3, radius)
        case Ellipsoid(radii):
            half = np.array(radii)
        case Mesh(path, scale):
            return _extent_of_mesh(path, scale)
    return -half, half


def _extent_of_mesh(path: Path, scale) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the ends (3, m) of the box of a mesh file, None where it cannot be read."""
    mesh = read_mesh(path)
    if isinstance(mesh, str):
        return None
    ends = np.asarray(mesh.bounds, float) * scale
    return ends.min(axis=0), ends.max(axis=0)
