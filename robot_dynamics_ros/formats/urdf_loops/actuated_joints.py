"""Joints of a URDF with a motor: those of <transmission>, and those of <ros2_control> with a command interface."""

from collections.abc import Collection
from xml.etree.ElementTree import Element


def actuated_in(robot: Element, known: Collection[str]) -> list[str]:
    """Return those of the ``known`` joints that a <transmission> or a command interface of <ros2_control> drives."""
    driven = {joint.get('name') for joint in robot.findall('transmission/joint')}
    commanded = (it for it in robot.findall('ros2_control/joint') if it.find('command_interface') is not None)
    driven |= {joint.get('name') for joint in commanded}
    return [joint for joint in known if joint in driven]
