"""From JointState messages to joint vectors in the robot's order."""

import struct

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_ros.control.joint_order import places_of
from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.nodes.wire import OTHER_LAYOUT, JointStateBuffer, stamp_of

PLURAL = {'position': 'positions', 'velocity': 'velocities', 'effort': 'efforts'}


def nanoseconds(stamp) -> int:
    """Return a builtin_interfaces Time as ns."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def set_nanoseconds(stamp, value: int) -> None:
    """Write ns into a builtin_interfaces Time or Duration."""
    stamp.sec, stamp.nanosec = divmod(value, 1_000_000_000)


class JointStateInput:
    """Numbers of a robot's joints out of serialised JointState messages with any order and any extra joints.

    Names are looked at only when the layout of the messages changes.
    """

    def __init__(self, joint_names, *fields: str):
        """Read ``fields`` of the joints ``joint_names`` into ``numbers`` (fields, n)."""
        self._joint_names, self._fields = joint_names, fields
        self.numbers = np.zeros((len(fields), len(joint_names)))
        self._forget()
        example = JointState(name=list(joint_names), position=[0.0] * len(joint_names))
        self.receive(serialize_message(example))  # compiled before the first message
        self._forget()

    def receive(self, data: bytes) -> int:
        """Write ``numbers`` of a message (bytes); return a number whose bit f says that field f is there and finite.

        Raises DynamicsError naming a joint that is missing or doubled, or saying that this is no JointState.
        """
        found = self._read(data)
        return self._learn(data) if found == OTHER_LAYOUT else found

    def _learn(self, data: bytes) -> int:
        """Receive a message of a layout that is new."""
        self._forget()
        try:
            buffer = JointStateBuffer(data)
        except (RuntimeError, ValueError, struct.error) as error:
            raise ArgumentError(f'no JointState: {error}') from None
        self._places = places_of(self._joint_names, buffer.message.name)
        self._buffer = buffer
        self._read = buffer.reader(self._fields, self._places, self.numbers)
        return self._read(data)

    def missing(self, field: str) -> str:
        """Return what is wrong with a field of the last message that is not there or not finite."""
        names, values = self._buffer.message.name, getattr(self._buffer, field)
        if len(values) != len(names):
            return f'{len(names)} joints have {len(values)} {PLURAL[field]}'
        wrong = [k for k, place in enumerate(self._places) if not np.isfinite(values[place])]
        return f'joint {self._joint_names[wrong[0]]!r}: {field} is not finite'

    def _forget(self) -> None:
        """Know no layout."""
        self._buffer: JointStateBuffer | None = None
        self._read = _no_layout


class StateInput(JointStateInput):
    """Positions ``q`` and velocities ``qd`` of a robot's joints out of serialised JointState messages."""

    POSITION, BOTH = 0b01, 0b11

    def __init__(self, joint_names):
        """Read the joints ``joint_names``."""
        super().__init__(joint_names, 'position', 'velocity')
        self.q, self.qd = self.numbers
        self.has_velocity = False

    def read(self, data: bytes) -> int:
        """Write ``q``, ``qd`` (all NaN unless all velocities are known) and ``has_velocity``; return the stamp in ns.

        Velocities may be missing or NaN, as JointState allows. Raises DynamicsError naming a joint that is missing,
        doubled or without a finite position.
        """
        found = self.receive(data)
        if found != self.BOTH:
            if not found & self.POSITION:
                raise ArgumentError(self.missing('position'))
            self.qd.fill(np.nan)
        self.has_velocity = found == self.BOTH
        return stamp_of(data)


def _no_layout(data: bytes) -> int:
    """Return that a message has another layout than none."""
    return OTHER_LAYOUT
