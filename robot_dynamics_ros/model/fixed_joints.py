"""Links on fixed joints become part of the link that carries them, and live on as frames.

Here a fixed joint is a ``Joint`` of kind 'fixed', which ``Model.of`` does not know; a frame is one without mass.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.inertial_parameters import moved
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Frame, Model
from robot_dynamics_ros.model.rotations import exact


def fixed(link: str, parent: str, rotation, origin, inertia=None) -> Joint:
    """Return what fixes ``link`` to ``parent``: rotation (3, 3) and origin (3, m) in the parent's frame.

    ``inertia`` (10,) is in the link's own frame; left out, the link is a mere frame.
    """
    row = np.zeros(10) if inertia is None else inertia
    return Joint(link, link, parent, 'fixed', np.zeros(3), np.asarray(rotation), np.asarray(origin), row)


def merged(name: str, base: str, joints: Iterable[Joint], base_inertia=None) -> Model:
    """Return the model of joints, fixed ones among them (parents before children), on the link ``base``.

    Raises ModelError for a name that occurs twice.
    """
    rows = {base: np.zeros(10) if base_inertia is None else np.array(base_inertia)}
    places = {base: (base, np.eye(3), np.zeros(3))}  # of each link in the link that carries it
    moving: list[Joint] = []
    for joint in joints:
        if joint.link in places:
            raise ModelError(f'link {joint.link!r}: the name occurs twice')
        carrier, turn, offset = places[joint.parent]
        rotation, origin = exact(turn @ joint.rotation), turn @ joint.origin + offset
        if joint.kind == 'fixed':
            places[joint.link] = carrier, rotation, origin
            rows[carrier] += moved(joint.inertia, rotation, origin)
        else:
            places[joint.link] = joint.link, np.eye(3), np.zeros(3)
            rows[joint.link] = np.array(joint.inertia)
            moving.append(replace(joint, parent=carrier, rotation=rotation, origin=origin))
    number = {link: i for i, link in enumerate(rows)}
    frames = {
        link: Frame(number[carrier], rotation, origin)
        for link, (carrier, rotation, origin) in places.items()
        if link not in rows
    }
    bodies = [replace(joint, inertia=rows[joint.link]) for joint in moving]
    return Model.of(name, base, bodies, frames, base_inertia=rows[base])
