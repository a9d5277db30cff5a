"""All closures that a URDF states, and findings on those that are not read."""

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import DynamicsError, ModelError
from robot_dynamics_ros.formats.urdf_loops.closing_elements import CLOSING, NO_CONSTRAINTS, closure_of, unread_parts
from robot_dynamics_ros.formats.urdf_loops.closing_frames import poses_at_zero
from robot_dynamics_ros.formats.urdf_loops.gazebo_joints import closure_of_gazebo
from robot_dynamics_ros.formats.urdf_origin import Version
from robot_dynamics_ros.model.closed_loops.loop_types import LoopClosure
from robot_dynamics_ros.model.closed_loops.loops import MOST_CONSTRAINTS, checked_closure
from robot_dynamics_ros.model.model import Finding, Model

_PLUGIN = 'closed_loop'
"""In the name of a plugin's file, such as libclosed_loop_plugin.so of pegasus_gazebo_plugins."""
_CUT = {
    re.compile(r'(closing_.+_)1'): '2',
    re.compile(r'(closedloop.*)A'): 'B',
    re.compile(r'(.+_cl\d+_)1'): '2',
}
"""Names of links or joints where a loop is cut, and the end of the name of the other side.

The first is that of onshape-to-robot (placo, "Handling kinematic loops"), the second that of example-parallel-robots,
for joints, too; the third that of the legs of placo's megabot.
"""


def closures_of(robot: Element, version: Version, model: Model) -> tuple[list[LoopClosure], list[Finding]]:
    """Return the closures that a <robot> element states, and findings on what of them, and which, are not read.

    ``model`` is the tree. A closure whose link does not exist, or that is wrong in another way, is left out with a
    finding. Raises ModelError for anything but numbers where numbers belong.
    """
    poses = poses_at_zero(model) if robot.find('gazebo/joint') is not None else {}
    closures: list[LoopClosure] = []
    findings: list[Finding] = []
    for where, closure in _stated(robot, version, poses, model.link_names[0]):
        if len(closures) + len(findings) > MOST_CONSTRAINTS:
            raise ModelError(f'its elements close more than {MOST_CONSTRAINTS} loops')
        if isinstance(closure, str):
            findings.append(Finding('warning', where, closure))
            continue
        try:
            closures.append(checked_closure(model, closure))
        except DynamicsError as error:
            reason = str(error).removeprefix(f'{where}: ')
            findings.append(Finding('warning', where, f'it closes no loop: {reason}'))
    return closures, findings


def cut_ends(model: Model) -> Iterator[Finding]:
    """Yield findings on pairs of links or joints whose names say that a loop is cut, unless a closure holds them."""
    held = {link for it in model.loops.closures for link in (it.link_a, it.link_b)}
    links = {link: link for link in model.frames}
    joints = {joint.name: joint.link for joint in model.joints if joint.name not in links}
    for what, named in (('link', links), ('joint', joints)):
        ends = ((cut, end) for name in named for pattern, end in _CUT.items() if (cut := pattern.fullmatch(name)))
        for cut, end in ends:
            name, other = cut[0], cut[1] + end
            if other in named and not {named[name], named[other]} & held:
                between = '' if what == 'link' else f', between their links {named[name]!r} and {named[other]!r}'
                message = (
                    f'by its name and {other!r} a loop is cut here, which stays open: state it in a loops file{between}'
                )
                yield Finding('warning', f'{what} {name!r}', message)


def _stated(
    robot: Element, version: Version, poses: Mapping[str, np.ndarray], base: str
) -> Iterator[tuple[str, LoopClosure | str]]:
    """Yield closures, and texts on what is not read, each with the name of the loop or element for findings."""
    counts: dict[str, int] = {}
    for element in robot:
        if element.tag == 'gazebo':
            yield from _of_gazebo(element, poses, base, counts)
        elif element.tag in CLOSING:
            name = _name(element, counts)
            yield f'loop {name!r}', closure_of(name, element, version)
            yield from ((f'loop {name!r}', it) for it in unread_parts(element))
        elif element.tag in NO_CONSTRAINTS:
            yield f'{element.tag} {_name(element, counts)!r}', NO_CONSTRAINTS[element.tag]


def _of_gazebo(
    gazebo: Element, poses: Mapping[str, np.ndarray], base: str, counts: dict[str, int]
) -> Iterator[tuple[str, LoopClosure | str]]:
    """Yield what a <gazebo> element states, as ``_stated`` does."""
    for joint in gazebo.findall('joint'):
        name = _name(joint, counts)
        if gazebo.get('reference'):
            yield f'loop {name!r}', 'the loop stays open: only a <gazebo> without reference adds joints to the robot'
            continue
        for found in closure_of_gazebo(name, joint, poses, base):
            yield f'loop {name!r}', found
    for plugin in gazebo.findall('plugin'):
        if _PLUGIN in plugin.get('filename', ''):
            message = 'it closes a loop by a plugin of Gazebo, which is not read: state the loop in a loops file'
            yield f'plugin {_name(plugin, counts)!r}', message


def _name(element: Element, counts: dict[str, int]) -> str:
    """Return the name of an element; by its tag and number where it has none."""
    counts[element.tag] = counts.get(element.tag, 0) + 1
    return (element.get('name') or f'{element.tag} {counts[element.tag]}')[:80]
