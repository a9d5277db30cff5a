"""Joints of a URDF with a motor: those of <transmission>, and those of <ros2_control> with a command interface.

URDF-Parser (mit-biomimetics) says instead which joints are independent, by an attribute of a <joint>, true by default.
"""

from collections.abc import Collection
from xml.etree.ElementTree import Element

INDEPENDENT = 'independent'
"""Attribute of a <joint>."""


def actuated_in(robot: Element, known: Collection[str]) -> list[str]:
    """Return those of the ``known`` joints that a <transmission> or a command interface of <ros2_control> drives.

    A joint that says that it is not independent has none; where nothing else states motors, those that are have one.
    """
    driven = {joint.get('name') for joint in robot.findall('transmission/joint')}
    commanded = (it for it in robot.findall('ros2_control/joint') if it.find('command_interface') is not None)
    driven |= {joint.get('name') for joint in commanded}
    independent = {joint.get('name'): joint.get(INDEPENDENT, 'true') == 'true' for joint in robot.findall('joint')}
    if not driven and any(INDEPENDENT in joint.attrib for joint in robot.findall('joint')):
        driven = set(independent)
    return [joint for joint in known if joint in driven and independent[joint]]
