"""Limbs of a robot: chains of joints that branch off from each other, such as arms and legs of a humanoid."""

from typing import NamedTuple

from robot_dynamics_ros.model.joint_types import KINDS
from robot_dynamics_ros.model.model import Model

FEWEST_JOINTS = 3
"""Of a limb: fingers of a gripper and wheels have fewer."""
MOST_NAMED = 4


class Limb(NamedTuple):
    """A chain of moving links, from the link that its first joint is on."""

    base_link: str
    tip_link: str
    joints: int


def limbs(model: Model, base_link: str | None = None) -> list[Limb]:
    """Return the limbs of what ``base_link`` carries (default: of the whole robot), those of most joints first.

    Each link counts to one limb. Where chains branch, the longest one goes on, and the others are limbs of their own if
    they have ``FEWEST_JOINTS`` or more. A joint of several degrees of freedom ends a limb.
    """
    names, joints, parent = model.link_names, model.joints, model.arrays.parent
    children: list[list[int]] = [[] for _ in names]
    for link in range(1, len(names)):
        children[parent[link]].append(link)
    length, tip = [0] * len(names), list(range(len(names)))
    for link in range(len(names) - 1, 0, -1):
        children[link].sort(key=length.__getitem__, reverse=True)
        if KINDS[joints[link - 1].kind].coordinates == 1:
            length[link] = 1 + (length[children[link][0]] if children[link] else 0)
            tip[link] = tip[children[link][0]] if length[link] > 1 else link
    found: list[Limb] = []
    start = 0 if base_link is None else model.frame(base_link).link
    begun = [(start, False)]
    while begun:
        link, goes_on = begun.pop()
        for child in children[link]:
            if not goes_on and length[child] >= FEWEST_JOINTS:
                found.append(Limb(names[link], names[tip[child]], length[child]))
            # the longest chain, which comes first, goes on through this link
            begun.append((child, length[child] > 1 and tip[child] == tip[children[child][0]]))
            goes_on = False
    return sorted(found, key=lambda limb: -limb.joints)


def end_link(model: Model) -> str | None:
    """Return the link at the end of an arm: the last one, or the one with the fingers of a gripper; None for others.

    Fingers are chains of fewer than ``FEWEST_JOINTS`` that branch off from one link, behind as many joints or more.
    """
    parent = model.arrays.parent
    tips = [link for link in range(len(parent)) if link not in parent[1:]]
    ways = []
    for link in tips:
        way = [link]
        while way[-1] != 0:
            way.append(int(parent[way[-1]]))
        ways.append(way[::-1])
    shared = 0
    while all(len(way) > shared + 1 for way in ways) and len({way[shared + 1] for way in ways}) == 1:
        shared += 1
    if len(tips) > 1 and (shared < FEWEST_JOINTS or max(map(len, ways)) - shared > FEWEST_JOINTS):
        return None
    return model.link_names[ways[0][shared]]


def tip_arguments(model: Model, base_link: str | None = None) -> str:
    """Return launch arguments, each of which selects a limb of what ``base_link`` carries."""
    base = f'base_link:={base_link} ' if base_link else ''
    return ' or '.join(f'{base}tip_link:={limb.tip_link}' for limb in limbs(model, base_link)[:MOST_NAMED])
