"""What a node says of a message that was sent to it, by the counts of its diagnostics."""

import time

from robot_dynamics_ros.client.errors import RefusedError, UnavailableError
from robot_dynamics_ros.client.link import PATIENCE, Link
from robot_dynamics_ros.client.node_status import Count, Kind, NodeStatus

FRESH = 2.5
"""Age up to which a status counts, s: a node publishes one a second."""
HANDLED = 0.1
"""Time after which a message that was sent is counted, s."""


def newest_status(link: Link, after: float = 0.0) -> NodeStatus:
    """Return a status that came ``after`` a steady time (s), at most ``FRESH`` ago; UnavailableError for none."""

    def is_there() -> bool:
        status = link.status
        return status is not None and status.arrived > max(after, time.monotonic() - FRESH)

    if not link.wait(is_there, PATIENCE):
        if link.is_in_graph():
            raise UnavailableError(
                f'{link.target} is there, but publishes no diagnostics: it is not configured, as its log says; or '
                'its process is busy or stopped'
            )
        raise UnavailableError(f'no node {link.target}: start it, or see name, namespace and ROS domain')
    if not link.status.is_complete:
        raise UnavailableError(
            f'{link.target} counts no trajectories, as a torque_controller does: {link.status.words}'
        )
    return link.status


def status_before(link: Link, kind: Kind) -> NodeStatus:
    """Return a status that has counted all messages of a ``kind``; UnavailableError unless the node publishes."""
    began = time.monotonic()
    status = newest_status(link, link.sent.get(kind, 0.0) + HANDLED)
    if status.silence:  # it may be over
        status = newest_status(link, began)
    if status.silence:
        raise UnavailableError(f'{link.target} publishes no torques: {status.silence}')
    return status


class Verdict:
    """What becomes of messages of a ``kind`` that are sent after the status ``before``."""

    def __init__(self, link: Link, kind: Kind, before: NodeStatus):
        """Know nothing yet."""
        self._link, self._kind, self._before = link, kind, before

    def is_taken(self) -> bool:
        """Return whether the node has taken a message; RefusedError with its reason where it has refused one."""
        status, before = self._link.status, self._before
        if status is before or not status.is_complete:
            return False
        was = Count(0, 0) if status.is_anew(before) else before.count(self._kind)
        count = status.count(self._kind)
        if count.refused > was.refused:
            raise RefusedError(status.reason(self._kind))
        return count.taken > was.taken

    def wait(self, after: float = 0.0) -> NodeStatus:
        """Return the status with the verdict, which came ``after`` a steady time (s).

        RefusedError has the reason of the node. UnavailableError says what the node said last where it does not count
        the message.
        """
        link = self._link
        if link.wait(lambda: link.status.arrived > after and self.is_taken(), PATIENCE):
            return link.status
        newest_status(link)
        raise UnavailableError(
            f'{link.target} has not counted a {self._kind.value[0]} message within {PATIENCE:g} s; its diagnostics '
            f'say: {link.status.words}'
        )
