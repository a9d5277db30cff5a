"""Conversion of JointState messages to joint vectors in the robot's order."""

import struct

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_ros.control.driven_robot import DrivenRobot
from robot_dynamics_ros.control.joint_order import places_of
from robot_dynamics_ros.control.law import MeasuredState
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, UnknownNameError
from robot_dynamics_ros.messages.cdr import OTHER_LAYOUT, JointStateBuffer, stamp_of
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE

BOUNDS = {'position': LARGEST_ANGLE}
"""By field, what is above all magnitudes of its numbers; for positions of prismatic joints (m) it is ample."""
PLURAL = {'position': 'positions', 'velocity': 'velocities', 'effort': 'efforts'}


class OtherJointsError(UnknownNameError):
    """A JointState of other joints alone, such as a gripper's; the message names the first joint that is missing."""


class JointStateInput:
    """Reads the numbers of a robot's joints from serialised JointState messages with any joint order and extra joints.

    Positions have to be below LARGEST_ANGLE (rad, m). Names are compared only for a layout that is not among the last
    ``LAYOUTS``, so publishers with different layouts may alternate. A new layout compiles nothing. Layouts with none of
    the joints are remembered, too, and cost little.
    """

    LAYOUTS = 8

    def __init__(self, joint_names, *fields: str, optional=()):
        """Read ``fields`` of the joints ``joint_names`` into ``numbers`` (fields, n).

        ``optional_positions`` reads the positions of the joints ``optional``, which a message may lack.
        """
        self._joint_names, self._fields, self._optional = joint_names, fields, optional
        self.numbers = np.zeros((len(fields), len(joint_names)))
        self._layouts: list[Layout] = []
        self._others: list[OtherLayout] = []
        self._last: Layout | None = None
        example = JointState(name=list(joint_names), position=[0.0] * len(joint_names))
        self.receive(serialize_message(example))  # compile before the first message
        self._layouts.clear()

    def receive(self, data: bytes) -> int:
        """Write ``numbers`` of a message (bytes); return a number with bit f set if field f is present and in range.

        Raises DynamicsError naming a joint that is missing or repeated, or if the bytes are not a JointState;
        OtherJointsError where the message has none of the joints.
        """
        for layout in self._layouts:
            found = layout.read(data)
            if found != OTHER_LAYOUT:
                self._last = layout
                return found
        self._last = None
        for other in self._others:
            if other.read(data) != OTHER_LAYOUT:
                raise other.error.with_traceback(None)  # or it would grow with each message
        buffer = _buffer_of(data)
        if buffer.message.name and not set(self._joint_names).intersection(buffer.message.name):
            other = OtherLayout(buffer, self._joint_names, self._fields)
            del self._others[self.LAYOUTS - 1 :]
            self._others.insert(0, other)
            raise other.error.with_traceback(None)  # or it would grow with each message
        self._last = layout = Layout(buffer, self._joint_names, self._fields, self.numbers, self._optional)
        del self._layouts[self.LAYOUTS - 1 :]
        self._layouts.insert(0, layout)
        return layout.read(data)

    def optional_positions(self, out) -> None:
        """Write the positions of the optional joints in the last message (rad, m), NaN where it lacks them."""
        layout = self._last
        positions = layout.buffer.position
        for k, place in enumerate(layout.optional_places):
            out[k] = positions[place] if 0 <= place < len(positions) else np.nan

    def missing(self, field: str) -> str:
        """Return the fault of a field of the last message that is absent, not finite or out of range."""
        layout = self._last
        names, values = layout.buffer.message.name, getattr(layout.buffer, field)
        if len(values) != len(names):
            return f'{len(names)} joints have {len(values)} {PLURAL[field]}'
        wanted = zip(self._joint_names, values[layout.places], strict=True)
        name, value = next((name, value) for name, value in wanted if not abs(value) < BOUNDS.get(field, np.inf))
        if not np.isfinite(value):
            return f'joint {name!r}: {field} is not finite'
        return f'joint {name!r}: {field} {value:.6g} is not below {LARGEST_ANGLE:.6g} in magnitude'


class Layout:
    """Offsets of the numbers of a robot's joints in JointState messages of one length, with one order of names.

    ``read(data)`` writes the numbers of a message, or returns OTHER_LAYOUT.
    """

    def __init__(self, buffer: JointStateBuffer, joint_names, fields, numbers: np.ndarray, optional=()):
        """Find the layout of a message; DynamicsError as in ``JointStateInput.receive``."""
        self.buffer = buffer
        names = list(self.buffer.message.name)
        self.places = places_of(joint_names, names)
        self.optional_places = [names.index(name) if name in names else -1 for name in optional]
        bounds = np.array([BOUNDS.get(field, np.inf) for field in fields])
        self.read = self.buffer.reader(fields, self.places, bounds, numbers)


class OtherLayout:
    """Layout of JointState messages with none of a robot's joints.

    ``read(data)`` returns OTHER_LAYOUT for any other message; ``error`` is what to raise for one of this layout.
    """

    def __init__(self, buffer: JointStateBuffer, joint_names, fields):
        """Remember the layout of ``buffer``."""
        n = len(joint_names)
        bounds = np.full(len(fields), np.inf)
        self.read = buffer.reader(fields, np.zeros(n, np.intp), bounds, np.zeros((len(fields), n)))
        try:
            places_of(joint_names, buffer.message.name)
        except DynamicsError as error:
            self.error = OtherJointsError(*error.args)


def _buffer_of(data: bytes) -> JointStateBuffer:
    """Return the content of a message; ArgumentError if the bytes are not a JointState."""
    try:
        return JointStateBuffer(data)
    except (RuntimeError, ValueError, struct.error) as error:
        raise ArgumentError(f'not a JointState: {error}') from None


class StateInput(MeasuredState):
    """Measured state of a robot's joints, read from serialised JointState messages."""

    POSITION, VELOCITY, EFFORT = 0b001, 0b010, 0b100

    def __init__(self, joint_names, driven: DrivenRobot | None = None, effort: bool = False):
        """Read the joints ``joint_names``, their efforts, too, if ``effort``.

        ``driven`` gets the positions of its followers in states that have them.
        """
        self._driven = driven
        followers = driven.followers if driven else ()
        fields = ('position', 'velocity', 'effort')[: 3 if effort else 2]
        self._all = 2 ** len(fields) - 1
        self._input = JointStateInput(joint_names, *fields, optional=followers)
        self._followers = np.zeros(len(followers))
        super().__init__(*self._input.numbers)

    def read(self, data: bytes) -> int:
        """Write ``q``, ``qd`` (NaN unless all velocities are finite), ``has_velocity`` and ``stamp``; return the stamp.

        Velocities may be absent or NaN, as JointState allows, and so may efforts (``has_effort``). Raises
        DynamicsError naming a joint that is missing, repeated or without a finite position.
        """
        found = self._input.receive(data)
        if found != self._all:
            if not found & self.POSITION:
                raise ArgumentError(self._input.missing('position'))
            if not found & self.VELOCITY:
                self.qd.fill(np.nan)
        if self._driven:
            self._input.optional_positions(self._followers)
            self._driven.measure(self.q, self._followers)
        self.has_velocity, self.has_effort = bool(found & self.VELOCITY), bool(found & self.EFFORT)
        self.stamp = stamp_of(data)
        return self.stamp
