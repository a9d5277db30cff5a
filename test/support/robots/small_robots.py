"""Robots of a joint or two, whose numbers can be checked by hand; not worth code of their own."""

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

AUBO = Robot.named('aubo_i5')


def link(name, mass=0.0, com='0 0 0', inertia=(0.0,) * 6) -> str:
    entries = zip(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), inertia, strict=True)
    figures = ' '.join(f'{entry}="{value}"' for entry, value in entries)
    body = f'<inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia {figures}/></inertial>'
    return f'<link name="{name}">{body if mass else ""}</link>'


def joint(name, parent, child, kind='continuous', axis='0 0 1', origin='0 0 0', rpy='0 0 0', inside='') -> str:
    place = f'<origin xyz="{origin}" rpy="{rpy}"/>' + ('' if kind == 'fixed' else f'<axis xyz="{axis}"/>')
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{place}{inside}</joint>'


def robot(*parts) -> Robot:
    return Robot.from_urdf(f'<robot name="r">{"".join(parts)}</robot>')


def one(kind='continuous', axis='0 0 1', **more) -> Robot:
    """Return one joint on a base: 2 kg, 0.5 m along x, 0.3 kg m^2 about each axis of its centre."""
    arm = link('arm', 2.0, '0.5 0 0', (0.3, 0, 0, 0.3, 0, 0.3))
    return robot(link('base'), arm, joint('a', 'base', 'arm', kind, axis, **more))


def general(kind, turned=False) -> Robot:
    """Return one joint of a kind on a base, about z: turned against it by a quarter about x, or not."""
    rotation = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]) if turned else np.eye(3)
    inertia = ten_parameters(2.0, [0.5, 0.0, 0.0], 0.3 * np.eye(3))
    moving = Joint('a', 'arm', 'base', kind, np.array([0.0, 0.0, 1.0]), rotation, np.zeros(3), inertia)
    return Robot(Model.of('r', 'base', [moving]))


def mixed() -> Robot:
    """Return a continuous, a limited and a sliding joint in a row, with velocity limits of 2, 0.5 and none."""
    body = '0.1 0.2 0.3', (0.1, 0, 0, 0.1, 0, 0.1)
    limits = [f'<limit {limit}/>' for limit in ('velocity="2"', 'lower="-3" upper="3" velocity="0.5"', 'upper="9"')]
    return robot(
        link('base'), link('hub', 1.0, *body), link('arm', 2.0, *body), link('sledge', 3.0, *body),
        joint('turn', 'base', 'hub', axis='0 1 0', inside=limits[0]),
        joint('swing', 'hub', 'arm', 'revolute', '1 0 0', '0.3 0 0', inside=limits[1]),
        joint('slide', 'arm', 'sledge', 'prismatic', '0 0 1', '0 0 0.2', inside=limits[2]),
    )  # fmt: skip


def seven_joints() -> Robot:
    """Return an arm of seven joints in turn about z and y, 0.2 m apart."""
    parts = [link('base')]
    for k in range(7):
        mass, name = 4.0 - 0.5 * k, f'link_{k}'
        inertia = (0.02 * mass, 0.0, 0.001, 0.02 * mass, 0.0, 0.01 * mass)
        axis, before = ('0 1 0' if k % 2 else '0 0 1'), f'link_{k - 1}' if k else 'base'
        limits = '<limit lower="-2.9" upper="2.9" velocity="2" effort="100"/>'
        parts += [
            link(name, mass, '0.01 0.02 0.1', inertia),
            joint(f'joint_{k}', before, name, 'revolute', axis, '0 0 0.2', inside=limits),
        ]
    return robot(*parts)


def pendulum(mass: float, effort=100.0) -> str:
    """A mass at 0.5 m under a joint about y; level with the joint at 0."""
    return f"""
<robot name="pendulum">
  <link name="base"/>
  <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="{mass}"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="swing" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 -1 0"/>
    <limit lower="-1" upper="1" effort="{effort}" velocity="1"/></joint>
</robot>"""
