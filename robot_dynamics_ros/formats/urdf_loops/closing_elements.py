"""Elements of a URDF, beside <gazebo>, that close a loop.

    <constraint> with <parent> and <child>              proposal of the pull request 264 of ros/urdfdom (2026)
    <constraint> with <predecessor> and <successor>     mit-biomimetics/URDF-Parser (M. Chignoli)
    <loop_joint> with <link1> and <link2>               Isaac Sim (spherical), Drake's former RigidBodyTree (revolute)
    <drake:ball_constraint>                             Drake ("drake:ball_constraint" of its parsing documentation)

What is no rigid constraint, or one of another kind, is named with the reason, as are <loop> and <coupling> of URDF+
(Chignoli et al. 2024, arXiv:2411.19753).
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.formats.untrusted_text import numbers, only_child, word
from robot_dynamics_ros.formats.urdf_loops.closing_frames import homogeneous, with_axis
from robot_dynamics_ros.formats.urdf_origin import Version, direction_of, origin_of, pose_of
from robot_dynamics_ros.model.closed_loops.loop_types import LoopClosure

_STATE_IT = 'the loop stays open; state it in a loops file, if it has to be closed'
NO_CONSTRAINTS = {
    'drake:linear_bushing_rpy': f'it is a spring and a damper between two frames, not a constraint: {_STATE_IT}',
    'drake:linear_spring_damper': 'it is a spring and a damper between two points: its force is not used',
    'drake:tendon_constraint': 'it limits a sum of joint positions softly, which no closed loop here does: not used',
    'loop': f'URDF+ has it for a joint that closes a loop, and it is not read: {_STATE_IT}',
    'coupling': 'URDF+ has it for joints that move together, and it is not read: state <mimic>, or a loops file',
}
"""Elements that concern loops and are not read, with the reason."""
BALL = 'drake:ball_constraint'
CLOSING = frozenset({'constraint', 'loop_joint', BALL})
"""Elements that are read here."""
_PARTS = frozenset({
    'parent', 'parent_origin', 'parent_axis', 'child', 'child_origin', 'child_axis', 'predecessor', 'successor',
    'origin', 'link1', 'link2', 'axis', f'{BALL}_body_A', f'{BALL}_body_B', f'{BALL}_p_AP', f'{BALL}_p_BQ',
})  # fmt: skip
_ATTRIBUTES = frozenset({'name', 'type', 'link', 'xyz', 'rpy', 'quat_xyzw', 'value'})
"""Elements within them that are read, and attributes."""


def closure_of(name: str, element: Element, version: Version) -> LoopClosure | str:
    """Return the closure of an element of ``CLOSING``, or why it has none; ModelError for wrong numbers and names."""
    where = f'loop {name!r}'
    if element.tag == BALL:
        return _ball(where, name, element)
    if element.tag == 'loop_joint':
        return _loop_joint(where, name, element, version)
    return (_position if element.find('predecessor') is not None else _cut)(where, name, element, version)


def unread_parts(element: Element) -> Iterator[str]:
    """Yield in words what is in an element of ``CLOSING`` and not read."""
    for part in element.iter():
        if part is not element and part.tag not in _PARTS:
            yield f'<{part.tag:.80}> is not read'
        else:
            yield from (f'<{part.tag:.80} {it:.80}> is not read' for it in part.attrib if it not in _ATTRIBUTES)


def _cut(where: str, name: str, element: Element, version: Version) -> LoopClosure | str:
    """Return the closure of a <constraint> that stands for a joint or link that is cut (urdfdom, pull request 264)."""
    kinds = {'revolute': 'revolute', 'spherical': 'point', 'link': 'weld'}
    kind = element.get('type', '').lower()
    if kind not in kinds:
        return f'its type is {kind!r:.80}, and the loop stays open: only {", ".join(kinds)} are read'
    ends = []
    for side in ('parent', 'child'):
        end = only_child(where, element, side)
        if end is None:
            return f'the loop stays open: <{side}> is missing'
        ends.append((word(where, end, 'link'), homogeneous(*origin_of(where, element, version, f'{side}_origin'))))
    if kind == 'revolute':
        parent_axis, child_axis = (only_child(where, element, f'{side}_axis') for side in ('parent', 'child'))
        if parent_axis is None:
            return 'the loop stays open: <parent_axis> is missing'
        axes = (parent_axis, parent_axis if child_axis is None else child_axis)
        ends = [(link, with_axis(pose, _direction(where, axis))) for (link, pose), axis in zip(ends, axes, strict=True)]
    return LoopClosure(name, *ends[0], *ends[1], kinds[kind])


def _position(where: str, name: str, element: Element, version: Version) -> LoopClosure | str:
    """Return the closure of a <constraint> of URDF-Parser that holds two points together."""
    kind = element.get('type', '')
    if kind != 'position':
        return (
            f'its type is {kind!r:.80}, and the loop stays open: only position is read; state a gear as a coupling in '
            'a loops file, or as the rotor inertia of its joint in an actuator file'
        )
    ends = []
    for side in ('predecessor', 'successor'):
        end = only_child(where, element, side)
        if end is None:
            return f'the loop stays open: <{side}> is missing'
        ends.append((word(where, end, 'link'), homogeneous(*origin_of(where, end, version))))
    return LoopClosure(name, *ends[0], *ends[1], 'point')


def _loop_joint(where: str, name: str, element: Element, version: Version) -> LoopClosure | str:
    """Return the closure of a <loop_joint>; its axis is that of both frames.

    The documentation of Isaac Sim has <link1> twice.
    """
    kinds = {'spherical': 'point', 'revolute': 'revolute', 'continuous': 'revolute', 'fixed': 'weld'}
    kind = element.get('type', '').lower()
    if kind not in kinds:
        return f'its type is {kind!r:.80}, and the loop stays open: only {", ".join(kinds)} are read'
    links = [*element.findall('link1'), *element.findall('link2')]
    if len(links) != 2:
        return f'the loop stays open: expected <link1> and <link2>, got {len(links)} of them'
    ends = [(word(where, it, 'link'), homogeneous(*pose_of(where, it, version))) for it in links]
    if kinds[kind] == 'revolute':
        axis = only_child(where, element, 'axis')
        direction = direction_of(where, axis) if axis is None else _direction(where, axis)
        ends = [(link, with_axis(pose, direction)) for link, pose in ends]
    return LoopClosure(name, *ends[0], *ends[1], kinds[kind])


def _ball(where: str, name: str, element: Element) -> LoopClosure | str:
    """Return the closure of a <drake:ball_constraint>: point P of body A is point Q of body B."""
    ends = []
    for body, point in (('body_A', 'p_AP'), ('body_B', 'p_BQ')):
        link, place = (only_child(where, element, f'{BALL}_{part}') for part in (body, point))
        if link is None or place is None:
            return f'the loop stays open: <{BALL}_{body if link is None else point}> is missing'
        word(where, place, 'value')
        p = np.array(numbers(where, place, 'value', [0.0, 0.0, 0.0]))
        ends.append((word(where, link, 'name'), homogeneous(np.eye(3), p)))
    return LoopClosure(name, *ends[0], *ends[1], 'point')


def _direction(where: str, axis: Element) -> list[float]:
    """Return the vector (3,) that an element states; ModelError where it states none."""
    word(where, axis, 'xyz')
    return direction_of(where, axis)
