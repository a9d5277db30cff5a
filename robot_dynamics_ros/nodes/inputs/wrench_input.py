"""Input of a wrench that a Cartesian impedance is to add at its frame."""

import threading
import time
from math import inf

import numpy as np
from geometry_msgs.msg import WrenchStamped

from robot_dynamics_ros.control.laws.impedance.commanded_wrench import AGE, CommandedWrench
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.spatial_vector import SpatialVector
from robot_dynamics_ros.messages.stamps import check_age
from robot_dynamics_ros.nodes.inputs.pipeline_clock import PipelineClock
from robot_dynamics_ros.nodes.inputs.verdicts import Verdicts
from robot_dynamics_ros.nodes.process.publishers import command_warnings

TOPIC = 'target_wrench'
AGE_NS = round(AGE * 1e9)
MOST_WAITING = 1000
"""Messages that wait for a busy node: after a stop each of them says that wrenches have gone on."""


class WrenchInput:
    """Passes each wrench on ``target_wrench`` to the law; a wrong one is refused by name."""

    def __init__(self, node, base: str):
        """Subscribe for a BaseNode whose arm has this ``base`` link; its executor handles messages."""
        self._node, self._base, self._frame = node, base, ''
        self._clock = PipelineClock(node)
        self.verdicts = Verdicts('wrench', 'wrenches')
        self._wrench: CommandedWrench | None = None
        self._stopped = -inf  # when a stop, or a wrench that went on after it, came, s of the steady clock
        self._order = threading.Lock()  # nothing that came before a stop counts after it
        subscription = node.create_subscription(WrenchStamped, TOPIC, self._on_wrench, MOST_WAITING, raw=True)
        node.resources.callback(node.destroy_subscription, subscription)

    def renew(self, wrench: CommandedWrench | None, frame: str) -> None:
        """Follow messages with ``wrench`` at ``frame``; None: the control law takes none."""
        self._wrench, self._frame = wrench, frame

    def end(self) -> None:
        """Let the wrench fall to zero: a stop has come; any thread."""
        with self._order:
            self._stopped = time.monotonic()
            if (wrench := self._wrench) is not None:
                wrench.end()

    def continue_from(self, before: 'WrenchInput') -> None:
        """Know of a stop that has come while another description was in use."""
        self._stopped = before._stopped

    def report(self) -> dict[str, str]:
        """Return the wrench in force, and what became of messages, as fields of the diagnostics."""
        parts = [['', '']] * 2
        if self._wrench is not None:
            parts = [[' '.join(f'{x:.4g}' for x in part) for part in np.split(row, 2)] for row in self._wrench.now]
        return {
            'force in force, axes of base; of frame, N': '; '.join(filter(None, (row[1] for row in parts))),
            'moment in force, axes of base; of frame, N m': '; '.join(filter(None, (row[0] for row in parts))),
            **self.verdicts.report(),
        }

    def warnings(self) -> list[str]:
        """Return that several nodes send wrenches."""
        return command_warnings(self._node, TOPIC, 'wrench')

    def _on_wrench(self, data: bytes, info: dict) -> None:
        try:
            self._want(data, info['received_timestamp'])
            self.verdicts.take()
        except DynamicsError as error:
            self.verdicts.refuse(f'{TOPIC}: {error}')
            self._node.refuse(self.verdicts.refused)

    def _want(self, data: bytes, received: int) -> None:
        """Follow a message that was ``received`` then (ns of the system clock); the executor may come to it late."""
        if not self._node.active:
            raise ArgumentError(f'{self._node.get_name()} is not active')
        if self._wrench is None:
            raise ArgumentError('only control_law cartesian_impedance adds one')
        waited = max(0, time.time_ns() - received)
        came = time.monotonic() - waited * 1e-9
        with self._order:
            if came - self._stopped <= AGE:
                self._stopped = max(came, self._stopped)
                raise ArgumentError(f'a stop has come; a wrench counts again after {AGE:g} s without any')
        found = SpatialVector.read('wrench', self._base, self._frame, data)
        self._clock.look()
        now = self._clock.now()
        check_age(found.stamp, now, AGE_NS)
        if waited > AGE_NS:
            raise ArgumentError(f'the node was busy for {waited * 1e-9:.3f} s since it came')
        with self._order:  # unless a stop has come meanwhile
            if came > self._stopped:
                self._wrench.want(found.vector, found.is_local, self._clock.passing(came, now - waited))
