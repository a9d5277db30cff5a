"""Conversion of JointState messages to joint vectors in the robot's order."""

import math
import struct

import numpy as np
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.locked_joints import LockedJoints
from robot_dynamics_ros.control.arm.measured_joints import REPORT_LIMIT, MeasuredJoints
from robot_dynamics_ros.control.guards.state_gate import ACCEPTED, StateGate
from robot_dynamics_ros.control.guards.velocity_check import VelocityCheck
from robot_dynamics_ros.control.joints.joint_order import places_of
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.law import NO_VELOCITIES, MeasuredState
from robot_dynamics_ros.errors import ArgumentError, DynamicsError, UnknownNameError
from robot_dynamics_ros.messages.cdr import JointStateBuffer, stamp_of
from robot_dynamics_ros.messages.cdr_numbers import OTHER_LAYOUT
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE

PLURAL = {'position': 'positions', 'velocity': 'velocities', 'effort': 'efforts'}


class OtherJointsError(UnknownNameError):
    """A JointState of other joints alone, such as a gripper's; the message names the first joint that is missing."""


class JointStateInput:
    """Reads the numbers of a robot's joints from serialised JointState messages with any joint order and extra joints.

    Positions have to be below LARGEST_ANGLE (rad, m) in magnitude and within ``limits``. Names are compared only for a
    layout that is not among the last ``LAYOUTS``, so publishers with different layouts may alternate. A new layout
    compiles nothing. Layouts with none of the joints are remembered, too, and cost little.

    ``numbers`` (fields, n) and ``optional_positions`` (m, rad or m; NaN: the message lacks the joint) are those of the
    last message that was read, and ``present`` (m) is 1 for those optional joints that it names, else 0.
    """

    LAYOUTS = 8

    def __init__(self, joint_names, *fields: str, limits: PositionLimits | None = None, optional=()):
        """Read ``fields`` of the joints ``joint_names``, and positions of the joints ``optional`` (m names)."""
        self._joint_names, self._fields, self._limits, self._optional = joint_names, fields, limits, optional
        self.numbers = np.zeros((len(fields), len(joint_names)))
        self.optional_positions = np.full(len(optional), np.nan)
        self.present = np.zeros(len(optional), np.int64)
        self._bounds = np.full((2, *self.numbers.shape), np.inf)
        self._bounds[0] = -np.inf
        if 'position' in fields:
            lower, upper = (limits.lower, limits.upper) if limits else self._bounds[:, 0]
            at = fields.index('position')
            # exclusive bounds, ample for positions of prismatic joints (m)
            self._bounds[0, at] = np.fmax(np.nextafter(lower, -np.inf), -LARGEST_ANGLE)
            self._bounds[1, at] = np.fmin(np.nextafter(upper, np.inf), LARGEST_ANGLE)
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
                self._last, self.present = layout, layout.present
                return found
        self._last = None
        for other in self._others:
            if other.read(data) != OTHER_LAYOUT:
                self.present = other.present
                raise other.error.with_traceback(None)  # or it would grow with each message
        buffer = _buffer_of(data)
        if buffer.message.name and not set(self._joint_names).intersection(buffer.message.name):
            other = OtherLayout(self, buffer)
            other.read(data)
            self.present = other.present
            del self._others[self.LAYOUTS - 1 :]
            self._others.insert(0, other)
            raise other.error.with_traceback(None)  # or it would grow with each message
        self._last = layout = Layout(self, buffer)
        del self._layouts[self.LAYOUTS - 1 :]
        self._layouts.insert(0, layout)
        self.present = layout.present
        return layout.read(data)

    def reader(self, buffer: JointStateBuffer, places, numbers):
        """Return a function that reads messages laid out like ``buffer``: the joints at ``places`` to ``numbers``."""
        names = list(buffer.message.name)
        optional = [names.index(name) if name in names else -1 for name in self._optional]
        return buffer.reader(self._fields, places, self._bounds, numbers, optional, self.optional_positions)

    def present_in(self, buffer: JointStateBuffer) -> np.ndarray:
        """Return 1 for each optional joint that messages laid out like ``buffer`` name, else 0 (m)."""
        return np.array([name in buffer.message.name for name in self._optional], np.int64)

    def places_in(self, buffer: JointStateBuffer) -> np.ndarray:
        """Return the places of the joints in the layout of ``buffer``; DynamicsError as in ``receive``."""
        return places_of(self._joint_names, buffer.message.name)

    def missing(self, field: str) -> str:
        """Return the fault of a field of the last message that is absent, not finite or out of range."""
        layout = self._last
        names, values = layout.buffer.message.name, getattr(layout.buffer, field)
        if len(values) != len(names):
            return f'{len(names)} joints have {len(values)} {PLURAL[field]}'
        f, wanted = self._fields.index(field), values[layout.places]
        joint = int(np.argmin((self._bounds[0, f] < wanted) & (wanted < self._bounds[1, f])))
        name, value = self._joint_names[joint], float(wanted[joint])
        if not np.isfinite(value):
            return f'joint {name!r}: {field} is not finite'
        beyond = self._limits.fault(joint, value) if self._limits else ''
        return beyond or f'joint {name!r}: {field} {value:.6g} is not below {LARGEST_ANGLE:.6g} in magnitude'


class Layout:
    """Offsets of the numbers of a robot's joints in JointState messages of one length, with one order of names.

    ``read(data)`` writes the numbers of a message, or returns OTHER_LAYOUT.
    """

    def __init__(self, owner: JointStateInput, buffer: JointStateBuffer):
        """Find the layout of ``buffer``; DynamicsError as in ``JointStateInput.receive``."""
        self.buffer, self.places, self.present = buffer, owner.places_in(buffer), owner.present_in(buffer)
        self.read = owner.reader(buffer, self.places, owner.numbers)


class OtherLayout:
    """Layout of JointState messages with none of a robot's joints.

    ``read(data)`` returns OTHER_LAYOUT for any other message; ``error`` is what to raise for one of this layout.
    """

    def __init__(self, owner: JointStateInput, buffer: JointStateBuffer):
        """Remember the layout of ``buffer``."""
        self.present = owner.present_in(buffer)
        nothing = np.zeros_like(owner.numbers)
        self.read = owner.reader(buffer, np.zeros(nothing.shape[1], np.intp), nothing)
        try:
            owner.places_in(buffer)
        except DynamicsError as error:
            self.error = OtherJointsError(*error.args)


def _buffer_of(data: bytes) -> JointStateBuffer:
    """Return the content of a message; ArgumentError if the bytes are not a JointState."""
    try:
        return JointStateBuffer(data)
    except (RuntimeError, ValueError, struct.error) as error:
        raise ArgumentError(f'not a JointState: {error}') from None


class StateInput(MeasuredState):
    """Measured state of a robot's joints, read from serialised JointState messages.

    ``measured`` are joints that count where they are measured, None for none; ``reported`` is whether the last message
    has moved one of them.
    """

    POSITION, VELOCITY, EFFORT = 0b001, 0b010, 0b100

    def __init__(
        self,
        joint_names,
        driven: DrivenRobot | None = None,
        effort: bool = False,
        limits: PositionLimits | None = None,
        locked: LockedJoints | None = None,
        velocities: VelocityCheck | None = None,
        follower_limits: PositionLimits | None = None,
    ):
        """Read the joints ``joint_names``, within ``limits``, and their efforts, too, if ``effort``.

        ``driven`` gets the positions of its followers in states that have them, within ``follower_limits``. ``locked``
        says whether joints are where they are locked, by any message that has them, ``velocities`` whether velocities
        may be right.
        """
        self.velocities = velocities
        self._driven, self._locked = driven, locked if locked and locked.names else None
        self._follower_limits = follower_limits
        followers = driven.followers if driven else ()
        fields = ('position', 'velocity', 'effort')[: 3 if effort else 2]
        self._all = 2 ** len(fields) - 1
        optional = (*followers, *(self._locked.names if self._locked else ()))
        self._input = JointStateInput(joint_names, *fields, limits=limits, optional=optional)
        self._followers = self._input.optional_positions[: len(followers)]
        self._locked_positions = self._input.optional_positions[len(followers) :]
        following = driven.following if driven else None
        self._mechanism = following if isinstance(following, ClosedMechanism) else None
        self._loops_before: ClosedMechanism | None = None  # of the last description with loops, where this has none
        self._keeps_them = False  # until ``begin`` or a state
        joints = MeasuredJoints(driven, follower_limits) if driven else None
        self.measured = joints if joints and joints.names else None
        self._reports = StateGate(REPORT_LIMIT)  # of joints that are measured
        self._of_followers = StateGate(REPORT_LIMIT)  # of joints that closed loops move
        self.reported = False
        super().__init__(*self._input.numbers)

    def begin(self) -> None:
        """Begin as at an activation: no torque depends on the positions of other joints yet."""
        if self.measured:
            self.measured.begin()
        if self._mechanism:
            self._mechanism.begin()
        if not self._keeps_them:
            self._loops_before = None
        self._keeps_them = False

    def continue_from(self, before: 'StateInput') -> None:
        """Keep where the joints of another description of the arm are measured, and move on from there."""
        if self.measured and before.measured:
            self.measured.continue_from(before.measured)
        elif self.measured and before.stamp:
            self.measured.go_on(before.stamp)
        if self._mechanism is None:
            self._loops_before = before._mechanism or before._loops_before
            self._keeps_them = True
        elif loops_before := before._mechanism or before._loops_before:
            self._mechanism.continue_from(loops_before)

    def clock_set_back(self) -> None:
        """Accept reports of measured joints, and states of the arm, with earlier stamps."""
        if self.measured:
            self.measured.clock_set_back()
        if loops := self._mechanism or self._loops_before:
            loops.clock_set_back()

    def read(self, data: bytes) -> int:
        """Write ``q``, ``qd`` (NaN unless all velocities are finite), ``has_velocity`` and ``stamp``; return the stamp.

        Velocities may be absent or NaN, as JointState allows, and so may efforts (``has_effort``). Raises
        DynamicsError naming a joint that is missing, repeated, without a finite position or beyond its limits, a
        follower likewise, or a locked joint that is elsewhere.
        """
        self.reported = False
        try:
            found = self._input.receive(data)
        finally:  # a message of other joints alone may have locked ones
            fault = self._locked.fault(self._locked_positions) if self._locked else ''
        if found != self._all:
            if not found & self.POSITION:
                raise ArgumentError(self._input.missing('position'))
            if not found & self.VELOCITY:
                self.qd.fill(np.nan)
        if fault:
            raise ArgumentError(fault)
        self.stamp = stamp_of(data)
        if self.measured and (fault := self.measured.fault(self._input.present, self._followers)):
            raise ArgumentError(fault)
        self.has_velocity, self.has_effort = bool(found & self.VELOCITY), bool(found & self.EFFORT)
        self.no_velocity = NO_VELOCITIES
        return self.stamp

    def follow(self, arrival: float = math.nan) -> None:
        """Use the positions of all joints; a state that is rejected before it must not change a torque.

        It came at ``arrival``, s of a clock of the arm that nobody sets; NaN: not known.
        Raises LoopError or SingularError where closed loops do not fit the state.
        """
        self._keeps_them = False
        if self.measured:
            self.reported = self.measured.report(self._followers, self.stamp, False)
        if self._driven:
            counted = self.measured.count(self._followers, self.stamp) if self.measured else self._followers
            self._driven.following.measure(self.q, counted, self.stamp, self._follower_limits, arrival)

    def report(self, data: bytes, now: int) -> bool:
        """Use the positions of measured joints in a message of other joints alone, which ``read`` has refused.

        Those of joints that closed loops move are compared with the next states. Returns whether the message names
        such joints; ``now`` is the time, ns. Raises DynamicsError where a position of measured joints, or the age of
        the message, is wrong: then its positions are not used.
        """
        joints, present = self.measured, self._input.present
        if self._mechanism and present[: len(self._followers)].any():
            if (verdict := self._of_followers.check(stamp := stamp_of(data), now)) is not ACCEPTED:
                raise ArgumentError(f'positions of joints that closed loops move are {verdict.value}, and not compared')
            self._mechanism.report(self._followers, stamp)
            return True
        if joints is None or not joints.named(present):
            return False
        fault = joints.fault(present, self._followers)
        if not fault and (verdict := self._reports.check(stamp := stamp_of(data), now)) is not ACCEPTED:
            fault = f'joint {joints.named(present)!r}: its report is {verdict.value}'
        joints.refused = fault
        if fault:
            raise ArgumentError(fault)
        self.reported = joints.report(self._followers, stamp, True)
        return True

    def check_velocity(self) -> None:
        """Treat velocities that cannot be right as missing; the state is in order, and ``period`` is known."""
        fault = self.velocities.fault(self) if self.velocities and self.has_velocity else None
        if fault is not None:
            self.has_velocity, self.no_velocity = False, fault
            self.qd.fill(np.nan)
