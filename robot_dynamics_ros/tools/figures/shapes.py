"""Shapes of links, as a description in any format has them, and what of it cannot be drawn."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

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
    """Cylinder about the origin, its axis along z, with a hemisphere at each end; m."""

    radius: float
    length: float  # of the cylinder


@dataclass(frozen=True)
class Sphere:
    """Sphere about the origin; m."""

    radius: float


@dataclass(frozen=True)
class Ellipsoid:
    """Ellipsoid about the origin; half axes along x, y, z in m."""

    radii: tuple[float, float, float]


@dataclass(frozen=True)
class Mesh:
    """Mesh of a file, scaled along x, y, z to m."""

    path: Path
    scale: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Triangles:
    """Mesh that is in memory: vertices (m, 3; m) and the three of each triangle, (k, 3)."""

    vertices: np.ndarray = field(repr=False)
    faces: np.ndarray = field(repr=False)


Geometry = Box | Cylinder | Capsule | Sphere | Ellipsoid | Mesh | Triangles


@dataclass(frozen=True, eq=False)
class Shape:
    """A geometry at a pose (4, 4; m) in the frame of a link, in a colour (red, green and blue from 0 to 1)."""

    link: str
    pose: np.ndarray = field(repr=False)
    geometry: Geometry
    colour: Colour


class LeftOut(NamedTuple):
    """A part of a description that is not drawn, and why; ``link`` is '' where it belongs to no link."""

    link: str
    reason: str

    def __str__(self) -> str:
        """Return a sentence."""
        return f'link {self.link!r}: {self.reason}' if self.link else self.reason


class Shapes(NamedTuple):
    """Shapes of all links of a description, and what is left out."""

    drawn: list[Shape]
    left_out: list[LeftOut]
