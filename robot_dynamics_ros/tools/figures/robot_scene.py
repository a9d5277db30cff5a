"""A robot in a scene of viser: shapes of its links or lines between them, payloads, and torques as arrows."""

from collections.abc import Sequence

import numpy as np
import trimesh
from viser import SceneApi
from viser.transforms import SO3

from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.figures.figures import joint_colours
from robot_dynamics_ros.tools.figures.mesh_files import read_mesh
from robot_dynamics_ros.tools.figures.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    LeftOut,
    Mesh,
    Shape,
    Sphere,
    Triangles,
)

ARROW = 0.4
"""Length of the arrow of the largest torque, as a part of the robot's size."""
SHAFT_RADIUS, HEAD_RADIUS, HEAD_LENGTH = 0.012, 0.03, 0.06
"""Of an arrow that is long enough, as parts of the robot's size; a short one is smaller in all its parts."""
LONGEST_HEAD = 0.5
"""Of the length of an arrow."""
DENSITY = 2700.0
"""Density of the sphere that stands for a payload, kg/m^3: that of aluminium."""
SAMPLES = 50
"""Positions of a motion that the robot's size is that of."""
LINE_COLOUR = (110, 110, 120)
PAYLOAD_COLOUR = (40, 40, 50)  # none of a joint


class RobotScene:
    """Nodes of a robot in a scene.

    ``links`` has a node for each link that has shapes or a payload, at the pose of its frame; these are the node's
    children. ``lines`` connects the origins of all links, ``arrows`` has one of each velocity, for its torque about or
    along the joint axis, ``payloads`` a sphere for each payload. ``left_out`` says which meshes cannot be read.
    """

    def __init__(self, scene: SceneApi, robot: Robot, q: np.ndarray, shapes: Sequence[Shape], largest: np.ndarray):
        """Add the nodes for a motion q (m, nq), at its start.

        ``largest`` (nv,) is the torque of the longest arrow, N m (prismatic: N), > 0.
        """
        self._scene = scene
        self._robot = robot
        self._largest = largest
        self._pairs = _neighbours(robot)
        self.size = float(np.ptp(self._origins(q[:: len(q) // SAMPLES + 1]), axis=(1, 2)).max(initial=0.0)) or 1.0
        owners = dict.fromkeys([*(shape.link for shape in shapes), *robot.payloads])
        # a name of a link may have a slash, which separates the names of nodes
        self.links = {link: scene.add_frame(f'/link{i}', show_axes=False) for i, link in enumerate(owners)}
        self.left_out: list[LeftOut] = []
        frames, names = robot.model.frames, robot.link_names
        # a shape of what is fixed to a link is one of the link
        drawn = {names[frames[shape.link].link] for i, shape in enumerate(shapes) if self._add_shape(i, shape)}
        self.payloads = [self._add_payload(link) for link in robot.payloads]
        segments = np.zeros((len(self._pairs), 2, 3), np.float32)
        self.lines = scene.add_line_segments('/lines', segments, LINE_COLOUR, thickness=0.012 * self.size)
        with_mass = {name for name, row in zip(names[1:], robot.model.arrays.I[1:], strict=True) if row.any()}
        self.lines.visible = not drawn or not drawn >= with_mass
        self.arrows = self._add_arrows()
        self.show(q[0], np.zeros(robot.nv))

    def show(self, q: np.ndarray, torque: np.ndarray) -> None:
        """Show positions q (nq,) and ``torque`` (nv,), N m (prismatic: N)."""
        for link, node in self.links.items():
            pose = self._robot.link_pose(q, link)
            node.wxyz, node.position = SO3.from_matrix(pose[:3, :3]).wxyz, pose[:3, 3]
        self.lines.points = self._origins(q).astype(np.float32)
        for arrow, points in zip(self.arrows, self._arrow_points(q, torque), strict=True):
            arrow.points = points[None].astype(np.float32)
            # the head of viser's arrows has a length of its own, which would hide how short an arrow is
            part = min(1.0, LONGEST_HEAD * float(np.linalg.norm(points[1] - points[0])) / (HEAD_LENGTH * self.size))
            arrow.shaft_radius, arrow.head_radius, arrow.head_length = (
                part * it * self.size for it in (SHAFT_RADIUS, HEAD_RADIUS, HEAD_LENGTH)
            )

    def _origins(self, q: np.ndarray) -> np.ndarray:
        """Return the origins of neighbouring links at q (..., nq), (..., pairs, 2, 3) m."""
        names = [name for pair in self._pairs for name in pair]
        origins = [self._robot.link_pose(q, name)[..., :3, 3] for name in names]
        return np.stack(origins, axis=-2).reshape(*q.shape[:-1], -1, 2, 3)

    def _arrow_points(self, q: np.ndarray, torque: np.ndarray) -> np.ndarray:
        """Return start and end of each velocity's arrow, (nv, 2, 3) m."""
        arrays, names = self._robot.model.arrays, self._robot.link_names
        points = np.zeros((self._robot.nv, 2, 3))
        for i in range(1, len(names)):
            pose = self._robot.link_pose(q, names[i])
            for k in range(arrays.first[i] - 1, arrays.first[i + 1] - 1):
                points[k] = pose[:3, 3]
                points[k, 1] += (
                    ARROW * self.size * torque[k] / self._largest[k] * (pose[:3, :3] @ _axis(arrays.S[k + 1]))
                )
        return points

    def _add_arrows(self):
        """Add the arrows, in the colours that the joints have in figures."""
        arrays, colours = self._robot.model.arrays, joint_colours(self._robot.joint_names)
        counts = np.diff(arrays.first)[1:]
        rgb = [tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in colours.values()]
        of_velocities = [colour for colour, count in zip(rgb, counts, strict=True) for _ in range(count)]
        points = np.zeros((1, 2, 3), np.float32)
        return [self._scene.add_arrows(f'/torque{k}', points, colour) for k, colour in enumerate(of_velocities)]

    def _add_payload(self, link: str):
        """Add a sphere with the mass of a payload of DENSITY at its centre of mass."""
        payload = self._robot.payloads[link]
        radius = (3.0 * payload.mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0)
        name = f'{self.links[link].name}/payload'
        return self._scene.add_icosphere(name, radius, PAYLOAD_COLOUR, opacity=0.6, position=payload.com)

    def _add_shape(self, number: int, shape: Shape):
        """Add a shape below the node of its link; return its node, None for one that cannot be drawn."""
        sizes = _sizes(shape.geometry)
        if min(sizes) < 0.0 or max(sizes) == 0.0:
            stated = ' '.join(f'{size:g}' for size in sizes)
            self.left_out.append(LeftOut(shape.link, f'a shape of the size {stated} m is not drawn'))
            return None
        scene, name = self._scene, f'{self.links[shape.link].name}/shape{number}'
        common = {
            'color': tuple(round(255 * min(max(part, 0.0), 1.0)) for part in shape.colour),
            'wxyz': SO3.from_matrix(shape.pose[:3, :3]).wxyz,
            'position': shape.pose[:3, 3],
        }
        match shape.geometry:
            case Box(edges):
                return scene.add_box(name, dimensions=edges, **common)
            case Cylinder(radius, length):
                return scene.add_cylinder(name, radius, length, **common)
            case Capsule(radius, length):
                mesh = trimesh.creation.capsule(length, radius)
                return scene.add_mesh_simple(name, mesh.vertices - mesh.bounds.mean(axis=0), mesh.faces, **common)
            case Sphere(radius):
                return scene.add_icosphere(name, radius, **common)
            case Ellipsoid(radii):
                ball = trimesh.creation.icosphere(subdivisions=3)
                return scene.add_mesh_simple(name, ball.vertices * radii, ball.faces, **common)
            case Triangles(vertices, faces):
                return scene.add_mesh_simple(name, vertices, faces, **common)
            case Mesh(path, scale):
                mesh = read_mesh(path)
                if isinstance(mesh, str):
                    self.left_out.append(LeftOut(shape.link, mesh))
                    return None
                # a reflection turns triangles inside out
                faces = mesh.faces if np.prod(scale) > 0.0 else mesh.faces[:, ::-1]
                return scene.add_mesh_simple(name, mesh.vertices * scale, faces, **common)


def _neighbours(robot: Robot) -> list[tuple[str, str]]:
    """Return pairs of links: each moving link with its parent, each further frame with the link that has it."""
    names, arrays = robot.link_names, robot.model.arrays
    moving = [(names[arrays.parent[i]], names[i]) for i in range(1, len(names))]
    return moving + [(names[frame.link], name) for name, frame in robot.model.frames.items() if name not in names]


def _sizes(geometry: Geometry) -> tuple[float, ...]:
    """Return the lengths of a geometry that are not negative, and not all 0; m, of a mesh 1."""
    match geometry:
        case Box(sizes) | Ellipsoid(sizes):
            return sizes
        case Cylinder(radius, length):
            return radius, length
        case Capsule(radius, _) | Sphere(radius):
            return (radius,)
    return (1.0,)


def _axis(S: np.ndarray) -> np.ndarray:
    """Return the direction (3,) of a velocity's motion subspace S (6,): of its rotation, else of its translation."""
    return S[:3] if S[:3].any() else S[3:]
