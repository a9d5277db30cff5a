"""Texts in SDFormat: that of a URDF, and small ones of which tests change a part."""

from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

HELD = '<link name="a"/><joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>'
"""A link that is held in the world."""


def sdf(inside='', version='1.7', around='{}') -> str:
    """Return a model, with something ``around`` it."""
    model = f'<model name="m">{inside}</model>'
    return f'<sdf version="{version}">{around.format(model)}</sdf>'


def hinge(in_axis='', in_joint='', name='j', link='b') -> str:
    """Return a link on a revolute joint, which is on the link that is held."""
    axis = f'<axis>{in_axis}<xyz>0 1 0</xyz></axis>'
    ends = f'<parent>a</parent><child>{link}</child>'
    return f'<link name="{link}"/><joint name="{name}" type="revolute">{ends}{axis}{in_joint}</joint>'


def sdf_of(urdf: str, relative: bool) -> str:
    """Return the SDF of a URDF by its text: poses relative to parents, or to the model by matrices of SciPy."""
    robot = ElementTree.fromstring(urdf)
    joints = robot.findall('joint')
    above = {joint.find('child').get('link'): joint for joint in joints}

    def placed(link):
        """Return the pose of a link in the model."""
        if link not in above:
            return np.eye(4)
        origin, pose = above[link].find('origin'), np.eye(4)
        if origin is not None:
            pose[:3, 3] = [*map(float, origin.get('xyz', '0 0 0').split())]
            pose[:3, :3] = Rotation.from_euler('xyz', [*map(float, origin.get('rpy', '0 0 0').split())]).as_matrix()
        return placed(above[link].find('parent').get('link')) @ pose

    def pose_in(element, relative_to='') -> str:
        origin = element.find('origin')
        xyz, rpy = ('0 0 0', '0 0 0') if origin is None else (origin.get(it, '0 0 0') for it in ('xyz', 'rpy'))
        return f'<pose{relative_to}>{xyz} {rpy}</pose>'

    parts = []
    for link in robot.findall('link'):
        name, inertial, pose = link.get('name'), link.find('inertial'), ''
        if name in above and relative:
            pose = pose_in(above[name], f' relative_to="{above[name].find("parent").get("link")}"')
        elif name in above:
            T = placed(name)
            numbers = [*T[:3, 3].tolist(), *Rotation.from_matrix(T[:3, :3]).as_quat().tolist()]
            pose = f'<pose rotation_format="quat_xyzw">{" ".join(map(repr, numbers))}</pose>'
        mass, entries, where = '0', dict.fromkeys(('ixx', 'iyy', 'izz'), '0'), ''
        if inertial is not None:
            mass, entries, where = (
                inertial.find('mass').get('value'),
                inertial.find('inertia').attrib,
                pose_in(inertial),
            )
        inertia = ''.join(f'<{tag}>{value}</{tag}>' for tag, value in entries.items())
        inside = f'{where}<mass>{mass}</mass><inertia>{inertia}</inertia>'
        parts.append(f'<link name="{name}">{pose}<inertial>{inside}</inertial></link>')
    for joint in joints:
        kind, limit, dynamics = joint.get('type'), joint.find('limit'), joint.find('dynamics')
        ends = ''.join(f'<{side}>{joint.find(side).get("link")}</{side}>' for side in ('parent', 'child'))
        numbers = {} if limit is None else limit.attrib
        limits = ''.join(f'<{tag}>{value}</{tag}>' for tag, value in numbers.items())
        damping = (
            '' if dynamics is None else ''.join(f'<{tag}>{value}</{tag}>' for tag, value in dynamics.attrib.items())
        )
        axis = joint.find('axis')
        inside = (
            ''
            if kind == 'fixed'
            else (
                f'<axis><xyz>{"1 0 0" if axis is None else axis.get("xyz")}</xyz><limit>{limits}</limit>'
                f'<dynamics>{damping}</dynamics></axis>'
            )
        )
        parts.append(f'<joint name="{joint.get("name")}" type="{kind}">{ends}{inside}</joint>')
    return f'<sdf version="1.9"><model name="{robot.get("name")}">{"".join(parts)}</model></sdf>'
