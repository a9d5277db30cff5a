"""From JointState messages to joint vectors in the robot's order."""

import struct

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_ros.control.joint_order import places_of
from robot_dynamics_ros.control.law import MeasuredState
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.cdr import OTHER_LAYOUT, JointStateBuffer, stamp_of

PLURAL = {'position': 'positions', 'velocity': 'velocities', 'effort': 'efforts'}


class JointStateInput:
    """Numbers of a robot's joints out of serialised JointState messages with any order and any extra joints.

    Names are looked at only for a layout that is not among the last ``LAYOUTS``: publishers of several layouts may
    alternate. Nothing is compiled for a new layout.
    """

    LAYOUTS = 8

    def __init__(self, joint_names, *fields: str):
        """Read ``fields`` of the joints ``joint_names`` into ``numbers`` (fields, n)."""
        self._joint_names, self._fields = joint_names, fields
        self.numbers = np.zeros((len(fields), len(joint_names)))
        self._layouts: list[Layout] = []
        self._last: Layout | None = None
        example = JointState(name=list(joint_names), position=[0.0] * len(joint_names))
        self.receive(serialize_message(example))  # compiled before the first message
        self._layouts.clear()

    def receive(self, data: bytes) -> int:
        """Write ``numbers`` of a message (bytes); return a number whose bit f says that field f is there and finite.

        Raises DynamicsError naming a joint that is missing or doubled, or saying that this is no JointState.
        """
        for layout in self._layouts:
            found = layout.read(data)
            if found != OTHER_LAYOUT:
                self._last = layout
                return found
        self._last = None
        self._last = layout = Layout(data, self._joint_names, self._fields, self.numbers)
        del self._layouts[self.LAYOUTS - 1 :]
        self._layouts.insert(0, layout)
        return layout.read(data)

    def missing(self, field: str) -> str:
        """Return what is wrong with a field of the last message that is not there or not finite."""
        layout = self._last
        names, values = layout.buffer.message.name, getattr(layout.buffer, field)
        if len(values) != len(names):
            return f'{len(names)} joints have {len(values)} {PLURAL[field]}'
        wrong = [k for k, place in enumerate(layout.places) if not np.isfinite(values[place])]
        return f'joint {self._joint_names[wrong[0]]!r}: {field} is not finite'


class Layout:
    """Where the numbers of a robot's joints are in JointState messages of one length, one set of names and one order.

    ``read(data)`` writes the numbers of a message, or returns OTHER_LAYOUT.
    """

    def __init__(self, data: bytes, joint_names, fields, numbers: np.ndarray):
        """Learn the layout of ``data``; DynamicsError as in ``JointStateInput.receive``."""
        try:
            self.buffer = JointStateBuffer(data)
        except (RuntimeError, ValueError, struct.error) as error:
            raise ArgumentError(f'no JointState: {error}') from None
        self.places = places_of(joint_names, self.buffer.message.name)
        self.read = self.buffer.reader(fields, self.places, numbers)


class StateInput(MeasuredState):
    """The measured state of a robot's joints out of serialised JointState messages."""

    POSITION, BOTH = 0b01, 0b11

    def __init__(self, joint_names):
        """Read the joints ``joint_names``."""
        self._input = JointStateInput(joint_names, 'position', 'velocity')
        super().__init__(*self._input.numbers)

    def read(self, data: bytes) -> int:
        """Write ``q``, ``qd`` (all NaN unless all velocities are known), ``has_velocity``, ``stamp``; return the stamp.

        Velocities may be missing or NaN, as JointState allows. Raises DynamicsError naming a joint that is missing,
        doubled or without a finite position.
        """
        found = self._input.receive(data)
        if found != self.BOTH:
            if not found & self.POSITION:
                raise ArgumentError(self._input.missing('position'))
            self.qd.fill(np.nan)
        self.has_velocity = found == self.BOTH
        self.stamp = stamp_of(data)
        return self.stamp
