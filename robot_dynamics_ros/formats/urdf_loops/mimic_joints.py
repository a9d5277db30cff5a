"""Joints of a URDF that follow others: <mimic>, plugins of Gazebo, and parameters of ros2_control.

    <mimic joint multiplier offset> in a <joint>
    <gazebo><plugin> with <joint>, <mimicJoint>, <multiplier>, <offset>     roboticsgroup_(upatras_)gazebo_plugins
    <ros2_control><joint><param name="mimic">, "multiplier", "offset"       hardware_interface, mock components

Each becomes an element <mimic>. The first that names a joint counts, and a finding names another one that differs.
"""

from collections.abc import Collection, Iterator
from xml.etree.ElementTree import Element

from robot_dynamics_ros.formats.untrusted_text import only_child, word
from robot_dynamics_ros.model.model import Finding

_NUMBERS = {'multiplier': '1', 'offset': '0'}


def mimics_of(robot: Element, moving: Collection[str]) -> tuple[dict[str, Element], list[Finding]]:
    """Return an element with the attributes joint, multiplier and offset for each joint that follows another one.

    ``moving`` are the joints that move. Findings are on statements that are not used. Raises ModelError for a <mimic>
    without a joint.
    """
    mimics: dict[str, Element] = {}
    findings: list[Finding] = []
    for joint, mimic in _stated(robot):
        if joint not in moving:
            if mimic.tag != 'mimic':
                message = (
                    f'<{mimic.tag}> has it follow {mimic.get("joint", "")!r:.80}, but no such joint moves: not used'
                )
                findings.append(Finding('warning', f'joint {joint!r:.80}', message))
        elif joint not in mimics:
            mimics[joint] = mimic
        elif _said(mimic) != _said(mimics[joint]):
            first = mimics[joint]
            message = f'<{first.tag}> has it follow {_shown(first)}, <{mimic.tag}> {_shown(mimic)}: the former is used'
            findings.append(Finding('warning', f'joint {joint!r}', message))
    return mimics, [*findings, *_unread_plugins(robot)]


def _stated(robot: Element) -> Iterator[tuple[str, Element]]:
    """Yield each joint that follows another one, with the element that says so."""
    for joint in robot.findall('joint'):
        name = joint.get('name', '')
        mimic = only_child(f'joint {name!r}', joint, 'mimic')
        if mimic is not None and joint.get('type') != 'fixed':
            word(f'joint {name!r}', mimic, 'joint')
            yield name, mimic
    for plugin in robot.findall('gazebo/plugin'):
        if plugin.find('mimicJoint') is not None:
            texts = {tag: plugin.findtext(tag) for tag in ('joint', *_NUMBERS)}
            yield (plugin.findtext('mimicJoint') or '').strip(), _mimic('plugin', texts)
    for joint in robot.findall('ros2_control/joint'):
        texts = {param.get('name', ''): param.text for param in joint.findall('param')}
        if 'mimic' in texts:
            yield joint.get('name', ''), _mimic('ros2_control', {**texts, 'joint': texts['mimic']})


def _mimic(tag: str, texts: dict[str, str | None]) -> Element:
    """Return an element with those of the texts that a <mimic> has as attributes."""
    known = {name: (texts.get(name) or '').strip() for name in ('joint', *_NUMBERS)}
    return Element(tag, {name: text for name, text in known.items() if text})


def _said(mimic: Element) -> tuple:
    """Return the joint that is followed, multiplier and offset: numbers, or text that is none."""
    texts = [mimic.get(name, default).strip() for name, default in _NUMBERS.items()]
    try:
        return mimic.get('joint'), *map(float, texts)
    except ValueError:
        return mimic.get('joint'), *texts


def _shown(mimic: Element) -> str:
    """Return what an element says, for a message."""
    joint, multiplier, offset = _said(mimic)
    return f'{joint!r:.80} (multiplier {multiplier!s:.20}, offset {offset!s:.20})'


def _unread_plugins(robot: Element) -> Iterator[Finding]:
    """Yield findings on plugins for mimic joints whose joints are not stated in a way that is read."""
    for plugin in robot.findall('gazebo/plugin'):
        named = plugin.get('name', '') + plugin.get('filename', '')
        if 'mimic' in named.lower() and plugin.find('mimicJoint') is None:
            message = 'its joints that mimic others are not read: state <mimic>, or couplings in a loops file'
            yield Finding('warning', f'plugin {plugin.get("name", "")!r:.80}', message)
