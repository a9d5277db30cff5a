"""Links on fixed joints are lumped into the parent link; their names stay as frames.

A fixed joint is a ``Joint`` of kind 'fixed', which ``Model.of`` does not accept. A frame is a link without mass.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.inertial_parameters import moved
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import Frame, Model
from robot_dynamics_ros.model.rotations import nearest_rotation


def fixed(link: str, parent: str, rotation, origin, inertia=None) -> Joint:
    """Return the fixed joint of ``link`` on ``parent``, at rotation (3, 3) and origin (3, m) in the parent's frame.

    ``inertia`` (10,) is expressed in the link's frame. Default: zeros, a frame.
    """
    row = np.zeros(10) if inertia is None else inertia
    return Joint(link, link, parent, 'fixed', np.zeros(3), np.asarray(rotation), np.asarray(origin), row)


def merged(name: str, base: str, joints: Iterable[Joint], base_inertia=None) -> Model:
    """Return the model of moving and fixed joints (parents before children) on the link ``base``.

    Raises ModelError for a name that occurs twice.
    """
    inertias = {base: np.zeros(10) if base_inertia is None else np.array(base_inertia)}  # of each body
    poses = {base: (base, np.eye(3), np.zeros(3))}  # of each link: its body, rotation and origin in the body's frame
    moving: list[Joint] = []
    for joint in joints:
        if joint.link in poses:
            raise ModelError(f'link {joint.link!r}: the name occurs twice')
        body, R, p = poses[joint.parent]
        rotation, origin = nearest_rotation(product(R, joint.rotation)), product(R, joint.origin) + p
        if joint.kind == 'fixed':
            poses[joint.link] = body, rotation, origin
            inertias[body] += moved(joint.inertia, rotation, origin)
        else:
            poses[joint.link] = joint.link, np.eye(3), np.zeros(3)
            # the body's row, to which the links on it are added later
            row = inertias[joint.link] = np.array(joint.inertia)
            moving.append(replace(joint, parent=body, rotation=rotation, origin=origin, inertia=row))
    number = {link: i for i, link in enumerate(inertias)}
    frames = {
        link: Frame(number[body], rotation, origin)
        for link, (body, rotation, origin) in poses.items()
        if link not in inertias
    }
    return Model.of(name, base, moving, frames, base_inertia=inertias[base])
