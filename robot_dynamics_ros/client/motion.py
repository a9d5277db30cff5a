"""A motion that a client has begun: whether it still goes on, and when it is over."""

import time
from collections.abc import Callable

from robot_dynamics_ros.client.errors import EndedError
from robot_dynamics_ros.client.link import Link
from robot_dynamics_ros.client.measured_states import MeasuredStates
from robot_dynamics_ros.client.node_status import NodeStatus
from robot_dynamics_ros.control.law import INTERRUPTION
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import AGE
from robot_dynamics_ros.control.trajectories.point_stream import LONGEST_GAP_NS

STANDSTILL = 5.0
"""Time for which the stamps of joint states may stand still, s: a simulation that is late waits for its controller."""
UNSAID = 3.0
"""Time without a status, s."""
AGAIN = 0.1
"""Time after which is looked again whether something is missing, s: this process may have been stopped itself."""
PERIOD = 0.02
"""Between two velocities or wrenches, s."""
GAP = min(LONGEST_GAP_NS * 1e-9, AGE)
"""Time without a velocity or wrench after which the node ends it, s."""
STEP = 0.05
"""Time between two looks, s."""
REST = 0.01
"""Speed of a joint that rests, rad/s or m/s."""
RESTED = 100_000_000
"""Time for which joints have to rest, ns by the stamps of joint states."""
LATER = 50_000_000
"""Time in which a message reaches the node, and a joint state the client, ns."""


class Motion:
    """Checks that a motion continues that began after the status ``before``; times are stamps of joint states, ns."""

    def __init__(self, link: Link, states: MeasuredStates, before: NodeStatus, called: float):
        """Begin now; a stop counts since the call, ``called`` (steady, s)."""
        self._link, self._states, self._before = link, states, before
        self.begun, self._began, self._called = states.stamp, time.monotonic(), called
        self._said = before.dropped  # of a motion before

    def check(self) -> None:
        """Raise EndedError where the motion cannot go on."""
        reason = self._fault()
        if reason and self._missing():
            self._link.wait(lambda: False, AGAIN)
            reason = self._fault()
        if reason:
            raise EndedError(f'the motion has ended: {reason}')

    def wait_until(self, stamp: int) -> None:
        """Wait until joint states have a ``stamp``; EndedError where the motion does not go on until then."""
        while not self._link.wait(lambda: self._states.stamp >= stamp, STEP):
            self.check()

    def repeat_until(self, stamp: int, action: Callable[[], object]) -> None:
        """Do ``action()`` each ``PERIOD`` until joint states have a ``stamp``; EndedError likewise."""
        due = sent = time.monotonic()
        while self._states.stamp < stamp:
            action()
            gap, sent = time.monotonic() - sent, time.monotonic()
            if gap > GAP:
                raise EndedError(f'the motion has ended: this process was late by {gap:.2f} s')
            due = max(due + PERIOD, time.monotonic())
            self._link.wait(lambda: self._states.stamp >= stamp, due - time.monotonic())
            self.check()

    def wait_for_rest(self, longest: int) -> None:
        """Wait until the joints rest, ``longest`` ns at most."""
        stamp = self._states.stamp
        end, moved = stamp + longest, stamp
        while (stamp := self._states.stamp) < end and stamp < moved + RESTED:
            moved = moved if self._states.speed < REST else stamp
            self._link.wait(lambda newest=stamp: self._states.stamp != newest, STEP)
            self.check()

    def _fault(self) -> str:
        """Return why the motion cannot go on, '' where it does."""
        link, status = self._link, self._link.status
        if stopped := link.stops.since(self._called):
            return stopped
        if missing := self._missing():
            return missing
        if self._states.stamp < self.begun:
            return 'the stamps of the joint states went back'
        if status.digest != self._before.digest:
            return f'{link.target} has got another robot description'
        if status.is_anew(self._before):
            return f'{link.target} was configured again'
        if status.activations != self._before.activations:
            return f'{link.target} was deactivated and activated again'
        if status is self._before:
            return ''
        if status.dropped != self._said:
            self._said = ''
        said = status.silence or (status.dropped if status.dropped != self._said else '')
        return f'{link.target} says: {said}' if said else ''

    def _missing(self) -> str:
        """Return what no longer comes, '' for nothing."""
        now, link = time.monotonic(), self._link
        silent, unsaid = now - self._states.arrived, now - link.status.arrived
        if silent > INTERRUPTION:
            return f'no joint state for {silent:.1f} s'
        if now - max(self._states.advanced, self._began) > STANDSTILL:
            return f'the stamps of the joint states stand still for {STANDSTILL:g} s'
        if unsaid > UNSAID:
            there = 'has said nothing' if link.is_in_graph() else 'is no longer in the graph, and has said nothing'
            return f'{link.target} {there} for {unsaid:.1f} s; the last it said: {link.status.words}'
        return ''
