"""A parallelogram whose URDF is cut to a tree: the pin between coupler and rocker is missing.

All axes are the z axis of ``plane``, which is turned against the base. With the crank at x the coupler is at -x, the
rocker at x.
"""

import numpy as np

PLANE = '<origin xyz="0.1 0.2 0.3" rpy="0.5 -0.4 0.3"/>'
TURN = 0.4
"""rad, of the frame of the rocker against that of the crank at position 0."""
PIN_OF_COUPLER = '1 0 0'
PIN_OF_ROCKER = f'{-0.5 * np.sin(TURN)} {0.5 * np.cos(TURN)} 0'
JOINTS = ('crank', 'coupler', 'rocker')


def _link(name: str, x: float, y: float) -> str:
    """Return a link of 1 kg, its centre (x, y) m in the plane."""
    return (
        f'<link name="{name}_link"><inertial><origin xyz="{x} {y} 0"/><mass value="1"/>'
        '<inertia ixx="0.02" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _joint(name: str, parent: str, origin: str) -> str:
    """Return a hinge about z."""
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}_link"/>{origin}'
        '<axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="3" effort="50"/></joint>'
    )


def cut_four_bar(more: str = '') -> str:
    """Return the text of the URDF with ``more`` elements of the robot."""
    return (
        '<robot name="bar"><link name="base"/><link name="plane"/>'
        f'<joint name="mount" type="fixed"><parent link="base"/><child link="plane"/>{PLANE}</joint>'
        f'{_link("crank", 0.0, 0.25)}{_link("coupler", 0.5, 0.0)}{_link("rocker", 0.1, 0.2)}'
        + _joint('crank', 'plane', '')
        + _joint('coupler', 'crank_link', '<origin xyz="0 0.5 0"/>')
        + _joint('rocker', 'plane', f'<origin xyz="1 0 0" rpy="0 0 {-TURN}"/>')
        + f'{more}</robot>'
    )


def closed_at(x: float) -> list[float]:
    """Return the positions of the joints with the crank at x, rad."""
    return [x, -x, x]
