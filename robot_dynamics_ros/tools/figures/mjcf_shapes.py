"""Shapes of bodies as MuJoCo has compiled them from MJCF: boxes, cylinders, capsules, spheres, ellipsoids, meshes.

Those are drawn that MuJoCo's viewer shows from the start, of the groups 0 to 2 and not transparent. Where a body has
some of them that collide with nothing (contype and conaffinity 0), these are its looks, and the others are left to
contacts.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from robot_dynamics_ros.formats.compiled_mjcf import mujoco_module, name_of, rotation_of
from robot_dynamics_ros.formats.mjcf import compiled_from_mjcf
from robot_dynamics_ros.tools.figures.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    LeftOut,
    Shape,
    Shapes,
    Sphere,
    Triangles,
)

LAST_SHOWN = 2
"""Of the groups of geoms that MuJoCo's viewer shows from the start."""
UNSET = (0.5, 0.5, 0.5, 1.0)
"""Colour of a geom that has none of its own: its material has it."""


def shapes_from_mjcf(source: str | Path, tag: str = 'visual') -> Shapes:
    """Return the shapes of all bodies of an MJCF: ``source`` is a path, or the text itself if it contains '<'.

    ``tag`` is 'visual' for those that are seen, 'collision' for those that collide. Left out are planes, height fields,
    signed distance functions, skins and flexible bodies. Raises ModelError as ``model_from_mjcf`` does.
    """
    plant = compiled_from_mjcf(source)
    found = Shapes([], [])
    for number in range(plant.nbody):
        body = name_of('body', plant.body(number))
        first = int(plant.body_geomadr[number])
        geoms = list(range(first, first + int(plant.body_geomnum[number])))
        shown = _seen(plant, geoms) if tag == 'visual' else [i for i in geoms if _collides(plant, i)]
        if geoms and not shown and tag == 'visual':
            hidden = f'its shapes are transparent, or of groups that MuJoCo hides, above {LAST_SHOWN}'
            found.left_out.append(LeftOut(body, hidden))
        for i in shown:
            geometry = _geometry(plant, i)
            if isinstance(geometry, str):
                found.left_out.append(LeftOut(body, f'{geometry} is not drawn'))
                continue
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = rotation_of(plant.geom_quat[i]), plant.geom_pos[i]
            red, green, blue, _ = _rgba(plant, i)
            found.drawn.append(Shape(body, pose, geometry, (red, green, blue)))
    if tag == 'visual':
        found.left_out.extend(_without_body(plant))
    return found


def _seen(plant, geoms: list[int]) -> list[int]:
    """Return those of a body's geoms that are drawn."""
    shown = [i for i in geoms if plant.geom_group[i] <= LAST_SHOWN and _rgba(plant, i)[3] > 0.0]
    return [i for i in shown if not _collides(plant, i)] or shown


def _collides(plant, geom: int) -> bool:
    """Return whether a geom collides with anything."""
    return bool(plant.geom_contype[geom] or plant.geom_conaffinity[geom])


def _geometry(plant, geom: int) -> Geometry | str:
    """Return the geometry of a geom; its name for one that cannot be drawn."""
    kind = mujoco_module().mjtGeom(int(plant.geom_type[geom])).name.removeprefix('mjGEOM_')
    x, y, z = map(float, plant.geom_size[geom])
    match kind:
        case 'BOX':
            return Box((2.0 * x, 2.0 * y, 2.0 * z))
        case 'CYLINDER':
            return Cylinder(x, 2.0 * y)
        case 'CAPSULE':
            return Capsule(x, 2.0 * y)
        case 'SPHERE':
            return Sphere(x)
        case 'ELLIPSOID':
            return Ellipsoid((x, y, z))
        case 'MESH':
            return _triangles(plant, int(plant.geom_dataid[geom]))
    names = {'PLANE': 'a plane', 'HFIELD': 'a height field', 'SDF': 'a signed distance function'}
    return names.get(kind, f'a geom of the type {kind.lower()}')


def _triangles(plant, mesh: int) -> Triangles:
    """Return a mesh in the frame of its geom, which is not that of its file."""
    vertex, face = int(plant.mesh_vertadr[mesh]), int(plant.mesh_faceadr[mesh])
    vertices = plant.mesh_vert[vertex : vertex + int(plant.mesh_vertnum[mesh])]
    return Triangles(vertices.astype(float), plant.mesh_face[face : face + int(plant.mesh_facenum[mesh])].copy())


def _rgba(plant, geom: int) -> tuple[float, float, float, float]:
    """Return the colour of a geom, or of its material where it has none of its own."""
    material, own = int(plant.geom_matid[geom]), plant.geom_rgba[geom]
    of_material = material >= 0 and tuple(own.tolist()) == UNSET
    red, green, blue, opacity = map(float, plant.mat_rgba[material] if of_material else own)
    return red, green, blue, opacity


def _without_body(plant) -> Iterator[LeftOut]:
    """Yield what is drawn over several bodies."""
    for what, count in (('skin', plant.nskin), ('flexible body', plant.nflex)):
        if count:
            yield LeftOut('', f'the {what} over several bodies is not drawn')
