"""Signs that a tree is a mechanism whose loops are cut: branches in one plane, and what is none."""

from support.robots.cut_four_bar import cut_four_bar

import pytest

from robot_dynamics_ros import Coupling, Robot
from robot_dynamics_ros.model.closed_loops.open_loops import planar_branches

INERTIAL = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="0.02" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMITS = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'


def robot(*joints: tuple[str, str, str, str], wheels: bool = False) -> Robot:
    """Return a robot of joints (name, parent, place, axis), whose links have the names of their joints."""
    kind, limits = ('continuous', '') if wheels else ('revolute', LIMITS)
    parts = (
        f'<link name="{name}">{INERTIAL}</link><joint name="{name}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{name}"/><origin xyz="{place}" rpy="0 0.2 0"/><axis xyz="{axis}"/>{limits}</joint>'
        for name, parent, place, axis in joints
    )
    return Robot.from_urdf(f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>')


def said(of: Robot) -> list[str]:
    return [f'{it.where}: {it.message}' for it in planar_branches(of.model)]


ARM = ('arm', 'base', '0 0 0', '0 1 0')
PARALLEL = ('lever', 'base', '0.2 0 0', '0 1 0')
"""Beside the arm, with its axis."""


def test_branches_of_one_plane_are_named():
    (found,) = said(robot(ARM, PARALLEL))
    assert found.startswith(
        "link 'base': arm, lever turn in one plane, as the branches of a palletizer or a linkage do"
    )
    assert said(Robot.from_urdf(cut_four_bar()))


def test_each_link_that_branches_is_named():
    rods = [(name, 'arm', place, '0 -1 0') for name, place in (('rod', '0.1 0 0'), ('forearm', '0.5 0 0'))]
    assert [it.partition(' turn')[0] for it in said(robot(ARM, PARALLEL, *rods))] == [
        "link 'base': arm, lever",
        "link 'arm': rod, forearm",
    ]


NO_LINKAGES = {
    'a serial arm': robot(ARM, ('forearm', 'arm', '0.3 0 0', '0 1 0')),
    'fingers beside each other': robot(ARM, ('lever', 'base', '0 0.02 0', '0 1 0')),
    'other axes': robot(ARM, ('lever', 'base', '0.2 0 0', '1 0 0')),
    'legs that leave the plane': robot(
        ARM, PARALLEL, ('shin', 'arm', '0.2 0 0', '1 0 0'), ('other_shin', 'lever', '0.2 0 0', '1 0 0')
    ),
    'wheels': robot(ARM, PARALLEL, wheels=True),
}


@pytest.mark.parametrize('of', NO_LINKAGES.values(), ids=NO_LINKAGES)
def test_what_does_not_branch_in_a_plane_is_no_finding(of):
    assert said(of) == []


def test_joints_that_follow_others_are_no_finding():
    gripper = robot(ARM, PARALLEL).with_loops([Coupling('lever', 'arm', (0.0, -1.0))])
    assert said(gripper) == []
