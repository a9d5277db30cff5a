"""Order of the joints that a description states in any order: depth first, children in the order of the document."""

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.joint_types import Joint

MOST_LISTED = 10  # names in an error message


def depth_first(links: list[str], joints: list[Joint]) -> tuple[str, list[Joint]]:
    """Return the base and the joints in depth-first order; ModelError unless one tree holds every link."""
    below: dict[str, list[Joint]] = {link: [] for link in links}
    above: dict[str, Joint] = {}
    for joint in joints:
        if joint.link in above:
            both = f'{above[joint.link].name!r} and {joint.name!r}'
            raise ModelError(f'link {joint.link!r}: it has two parents, by joints {both}')
        above[joint.link] = joint
        below[joint.parent].append(joint)
    if not links:
        raise ModelError('it has no <link>')
    roots = [link for link in links if link not in above]
    if len(roots) > 1:
        raise ModelError(f'links {_listed(roots)} have no parent joint: all but one of them are unreachable')

    ordered: list[Joint] = []
    waiting = [joint for root in roots for joint in reversed(below[root])]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += reversed(below[joint.link])
    reached = {*roots, *(joint.link for joint in ordered)}
    lost = [link for link in links if link not in reached]
    if lost:
        raise ModelError(f'links {_listed(lost)} are unreachable: their joints form a cycle')
    return roots[0], ordered


def _listed(names: list[str]) -> str:
    """Return names for an error message, at most MOST_LISTED."""
    shown = ', '.join(map(repr, names[:MOST_LISTED]))
    return shown if len(names) <= MOST_LISTED else f'{shown} and {len(names) - MOST_LISTED} others'
