"""Frames of a model in SDFormat: links, joints, frames and nested models, and where they are at position 0.

A pose is relative to another frame, by default a link's to its model, a joint's to its child, and that of a <frame> to
what it is attached to. A name counts in its own model; that of a frame in a nested model has the name of that model
before it, as in ``gripper::tip``. SDFormat, "Pose frame semantics" and "Model composition".
"""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError, alternatives
from robot_dynamics_ros.formats.sdf.values import flag, name_in, pose_of
from robot_dynamics_ros.formats.untrusted_text import word
from robot_dynamics_ros.formats.urdf_loops.closing_frames import inverse
from robot_dynamics_ros.formats.urdf_origin import Version
from robot_dynamics_ros.model.linear_algebra import product

WORLD, MODEL, BETWEEN = 'world', '__model__', '::'
NEAR = 8
"""Number of frames among which one is sought that a pose is stated in."""


class StatedFrame(NamedTuple):
    """A frame as it is stated; names of other frames are those of ``ModelFrames.stated``."""

    owner: str  # as messages name it
    pose: np.ndarray  # (4, 4) m   in the frame that it is relative to
    relative_to: str
    attached_to: str  # frame that it moves with, '' for a link and the world
    placed: str = ''  # frame of a model whose pose is that of the model


class StatedJoint(NamedTuple):
    """A <joint>, whose frame has its name, and what its model puts before the names in it."""

    element: Element
    scope: str


class ModelFrames:
    """Links, joints and frames of a <model> and of the models in it, by their full names."""

    def __init__(self, model: Element, version: Version):
        """Read all names and poses; ModelError for a name that occurs twice, and for wrong poses."""
        self.version = version
        self.links: dict[str, Element] = {}
        self.joints: dict[str, StatedJoint] = {}
        self.stated = {WORLD: StatedFrame(WORLD, np.eye(4), '', '')}
        self.explicit: list[str] = []
        self._poses, self._links = {WORLD: np.eye(4)}, {WORLD: WORLD}
        self._add_model(f'model {model.get("name")!r:.80}', model, '', WORLD)

    def full_name(self, scope: str, name: str) -> str:
        """Return the full name of a frame that is called ``name`` in a model."""
        return WORLD if name == WORLD else scope + name

    def pose(self, name: str, base: str = WORLD, owner: str = '') -> np.ndarray:
        """Return the pose (4, 4; m) of a frame in another one, at position 0; ``owner`` says it in messages.

        Raises ModelError for unknown frames, and those whose poses are relative to each other.
        """
        if owner:
            self._frame(name, owner)
        if base == WORLD:
            return self._in_world(name)
        # without rounding where the pose is stated in this frame
        below = [it for it, _ in zip(self._chain(name), range(NEAR), strict=False)]
        if base in below:
            return self._product(below[: below.index(base)], np.eye(4))
        return product(inverse(self._in_world(base)), self._in_world(name))

    def link_of(self, name: str, owner: str) -> str:
        """Return the link that a frame moves with, 'world' for none; ModelError as ``pose``."""
        passed = [name]
        while name != WORLD and name not in self.links and name not in self._links:
            frame = self._frame(name, owner)
            name, owner = frame.attached_to, frame.owner
            if name == passed[0] or len(passed) > len(self.stated):
                raise ModelError(f'{owner}: it is attached to itself, by {name!r}')
            passed.append(name)
        link = self._links.get(name, name)
        self._links |= dict.fromkeys(passed, link)
        return link

    def _in_world(self, name: str) -> np.ndarray:
        """Return the pose (4, 4; m) of a frame in the world."""
        names = []
        for it in self._chain(name):
            if it in self._poses:
                break
            names.append(it)
        pose = self._poses[it]
        for it in reversed(names):
            pose = self._poses[it] = product(pose, self._own_pose(it))
        return pose

    def _product(self, names: list[str], pose: np.ndarray) -> np.ndarray:
        """Return ``pose`` (4, 4; m) times the own poses of frames, the last one first."""
        for name in reversed(names):
            pose = product(pose, self._own_pose(name))
        return pose

    def _chain(self, name: str) -> Iterator[str]:
        """Yield a frame, the one that it is relative to, and so on up to the world."""
        passed, owner = set(), name
        while name != WORLD:
            if name in passed:
                raise ModelError(f'{owner}: its pose is relative to itself, by {name!r}')
            passed.add(name)
            yield name
            frame = self._frame(name, owner)
            name, owner = frame.relative_to, frame.owner
        yield WORLD

    def _own_pose(self, name: str) -> np.ndarray:
        """Return the pose (4, 4; m) of a frame in the one that it is relative to."""
        frame = self.stated[name]
        if not frame.placed:
            return frame.pose
        names = list(self._chain(frame.placed))
        if name not in names:
            raise ModelError(f'{frame.owner}: placement_frame {frame.placed!r} is not in the model')
        return product(frame.pose, inverse(self._product(names[: names.index(name)], np.eye(4))))

    def _frame(self, name: str, owner: str) -> StatedFrame:
        """Return a frame that ``owner`` names; ModelError where there is none."""
        if name not in self.stated:
            raise ModelError(f'{owner}: no frame {name[:80]!r}; {alternatives(name, self.stated)}')
        return self.stated[name]

    def _add(self, owner: str, name: str, element: Element, default: str, attached_to: str, scope: str) -> None:
        """Add a frame whose pose is relative to ``default`` where it states nothing else."""
        if name in self.stated:
            raise ModelError(f'{owner}: the name occurs twice among links, joints, frames and models')
        pose, relative = pose_of(owner, element, self.version)
        relative_to = self.full_name(scope, relative) if relative else default
        self.stated[name] = StatedFrame(owner, pose, relative_to, attached_to)

    def _add_model(self, owner: str, model: Element, scope: str, outer: str) -> None:
        """Add what a <model> has; ``scope`` is put before its names, and ``outer`` is the frame around it."""
        own = scope + MODEL
        attached_to = WORLD if flag(owner, model, 'static') else self._canonical(owner, model, scope)
        self._add(owner, own, model, outer, attached_to, outer.removesuffix(MODEL) if outer != WORLD else '')
        placed = model.get('placement_frame', '')
        if placed:
            self.stated[own] = self.stated[own]._replace(placed=scope + placed)
        for element in model.findall('link'):
            name = scope + _own_name(owner, element)
            self._add(f'link {name!r}', name, element, own, '', scope)
            self.links[name] = element
        for element in model.findall('joint'):
            self._add_joint(owner, element, scope)
        for element in model.findall('frame'):
            name = scope + _own_name(owner, element)
            attached = element.get('attached_to', '')
            to = self.full_name(scope, attached) if attached else own
            self._add(f'frame {name!r}', name, element, to, to, scope)
            self.explicit.append(name)
        for element in model.findall('model'):
            name = scope + _own_name(owner, element)
            inner = f'model {name!r}'
            if name in self.stated:
                raise ModelError(f'{inner}: the name occurs twice among links, joints, frames and models')
            self._add_model(inner, element, name + BETWEEN, own)
            of_model = name + BETWEEN + MODEL
            self.stated[name] = StatedFrame(inner, np.eye(4), of_model, of_model)
        if placed:
            self._frame(scope + placed, f'{owner}: placement_frame')

    def _add_joint(self, owner: str, element: Element, scope: str) -> None:
        """Add a <joint> and its frame."""
        name = scope + _own_name(owner, element)
        where = f'joint {name!r}'
        child = self.full_name(scope, name_in(where, element, 'child'))
        self._add(where, name, element, child, child, scope)
        self.joints[name] = StatedJoint(element, scope)

    def _canonical(self, owner: str, model: Element, scope: str) -> str:
        """Return the full name of the link, or nested model, that the frame of a model moves with."""
        stated, link, inner = model.get('canonical_link', ''), model.find('link'), model.find('model')
        if stated:
            return scope + stated
        first = inner if link is None else link
        if first is None:
            raise ModelError(f'{owner}: it has no <link>')
        return scope + _own_name(owner, first)


def _own_name(owner: str, element: Element) -> str:
    """Return the name of an element in its model; ModelError for one that is reserved."""
    name = word(f'{owner}: {element.tag}', element, 'name')
    if name == WORLD or (name.startswith('__') and name.endswith('__')):
        raise ModelError(f'{owner}: <{element.tag} name={name[:80]!r}>: the name is reserved')
    return name
