"""From JointState messages to joint vectors in the robot's order."""

import struct

import numpy as np

from robot_dynamics_ros.control.joint_order import gather, places_of
from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.nodes.wire import JointStateBuffer

PLURAL = {'position': 'positions', 'velocity': 'velocities', 'effort': 'efforts'}


def nanoseconds(stamp) -> int:
    """Return a builtin_interfaces Time as ns."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def set_nanoseconds(stamp, value: int) -> None:
    """Write ns into a builtin_interfaces Time or Duration."""
    stamp.sec, stamp.nanosec = divmod(value, 1_000_000_000)


class JointStateInput:
    """Numbers of a robot's joints out of serialised messages with any order and any extra joints.

    Names are looked at only when the layout of the messages changes.
    """

    def __init__(self, joint_names):
        """Read the joints ``joint_names``."""
        self._joint_names = joint_names
        self._buffer: JointStateBuffer | None = None
        self._places = np.zeros(len(joint_names), np.intp)
        gather(np.zeros(1), self._places, np.zeros(len(joint_names)))  # compiled before the first message

    def receive(self, data: bytes) -> int:
        """Take a message (bytes); return its stamp in ns.

        Raises DynamicsError naming a joint that is missing or doubled, or saying that this is no JointState.
        """
        if self._buffer is None or not self._buffer.take(data):
            self._buffer = None
            try:
                buffer = JointStateBuffer(data)
            except (RuntimeError, ValueError, struct.error) as error:
                raise ArgumentError(f'no JointState: {error}') from None
            self._places = places_of(self._joint_names, buffer.message.name)
            self._buffer = buffer
        return self._buffer.stamp

    def read(self, field: str, out) -> bool:
        """Write one field of the message received, ``'position'``, ``'velocity'`` or ``'effort'``, into ``out`` (n,).

        Return whether all numbers are there and finite; where they are not there, ``out`` is NaN.
        """
        values = getattr(self._buffer, field)
        if len(values) != len(self._buffer.message.name):
            out.fill(np.nan)
            return False
        return gather(values, self._places, out)

    def found(self, field: str) -> str:
        """Return what was wrong with a field for which ``read`` returned False."""
        names, values = self._buffer.message.name, getattr(self._buffer, field)
        if len(values) != len(names):
            return f'{len(names)} joints have {len(values)} {PLURAL[field]}'
        wrong = [
            name for name, place in zip(self._joint_names, self._places, strict=True) if not np.isfinite(values[place])
        ]
        return f'joint {wrong[0]!r}: {field} is not finite'


class StateInput:
    """Positions and velocities of a robot's joints out of serialised JointState messages."""

    def __init__(self, joint_names):
        """Read the joints ``joint_names`` into ``q`` and ``qd``, (n,) each."""
        self._input = JointStateInput(joint_names)
        self.q, self.qd = np.zeros((2, len(joint_names)))
        self.has_velocity = False

    def read(self, data: bytes) -> int:
        """Write ``q``, ``qd`` (all NaN unless all velocities are known) and ``has_velocity``; return the stamp in ns.

        Velocities may be missing or NaN, as JointState allows. Raises DynamicsError naming a joint that is missing,
        doubled or without a finite position.
        """
        stamp = self._input.receive(data)
        if not self._input.read('position', self.q):
            raise ArgumentError(self._input.found('position'))
        self.has_velocity = self._input.read('velocity', self.qd)
        if not self.has_velocity:
            self.qd.fill(np.nan)
        return stamp
