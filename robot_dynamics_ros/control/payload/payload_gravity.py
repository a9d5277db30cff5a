"""Payload and gravity of a robot as functions of time, each with a ramp."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from robot_dynamics_ros.algorithms.value_ramps import write_between
from robot_dynamics_ros.control.payload.ramp import Ramp
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.payload import Payload, carrying_frame
from robot_dynamics_ros.robot import Robot

LARGEST = 1e8
"""kg, m, kg m, kg m^2: beyond it rounding alone can make the sum of two bodies physically inconsistent."""
SMALLEST = 1e-9
"""kg: a share of a smaller mass may underflow to 0 while its inertia does not."""
LONGEST = 3600.0
"""Longest duration of a ramp, s."""
Vector = tuple[float, float, float]


def together(bodies: Iterable[tuple[str, Payload]]) -> dict[str, Payload]:
    """Return the payload of each frame: the sum of its bodies, which come with the name of their frame."""
    sums: dict[str, Payload] = {}
    for frame, body in bodies:
        sums[frame] = sums[frame] + body if frame in sums else body
    return sums


@dataclass(frozen=True)
class PayloadRamp(Ramp[Mapping[str, Payload]]):
    """Payloads over time, by the name of the frame that carries them.

    Mass, first moments and inertia change linearly from ``before`` to ``after``, also between different frames. Such a
    combination of physically consistent bodies is physically consistent.
    """

    after: Mapping[str, Payload] = field(default_factory=dict)
    before: Mapping[str, Payload] = field(default_factory=dict)

    def at(self, time: int) -> Mapping[str, Payload]:
        """Return the payloads at ``time`` (ns): ``before`` itself before the ramp, ``after`` itself after it."""
        share = self.share(time)
        if share >= 1.0:
            return self.after
        if share <= 0.0:
            return self.before
        rows: np.ndarray = np.reshape(_between(self.numbers(self.before, self.after), share), (-1, 10))
        frames = _frames(self.before, self.after)
        return {frame: Payload(*central_parameters(row)) for frame, row in zip(frames, rows, strict=True)}

    def numbers(self, *values: Mapping[str, Payload]) -> np.ndarray:
        """Return the ten inertial parameters of each frame of any of ``values``, (values, 10 frames)."""
        frames, nothing = _frames(*values), np.zeros(10)
        rows = [
            [payloads[frame].ten_parameters if frame in payloads else nothing for frame in frames]
            for payloads in values
        ]
        return np.reshape(rows, (len(values), 10 * len(frames)))

    def to(self, frame: str, payload: Payload, start: int, ramp_time: float) -> 'PayloadRamp':
        """Return the ramp from the payloads at ``start`` (ns) to ``payload`` alone, over ``ramp_time`` s."""
        after = {frame: payload} if payload.mass else {}
        return PayloadRamp(after, self.at(start), start, round(ramp_time * 1e9))

    @property
    def mass(self) -> float:
        """Mass of ``after``, kg."""
        return sum(payload.mass for payload in self.after.values())


@dataclass(frozen=True)
class GravityRamp(Ramp[Vector]):
    """Gravity vector in the base link over time, m/s^2: a linear change from ``before`` to ``after``."""

    def at(self, time: int) -> Vector:
        """Return gravity (3,) at ``time`` (ns), exactly ``after`` when the ramp is finished."""
        return vector_of(_between(self.numbers(self.before, self.after), self.share(time)))

    def numbers(self, *values: Vector) -> np.ndarray:
        """Return the vectors ``values`` as an array (values, 3)."""
        return np.array(values)

    def to(self, vector: Iterable[float], start: int, ramp_time: float) -> 'GravityRamp':
        """Return the ramp from gravity at ``start`` (ns) to ``vector`` (3, m/s^2) over ``ramp_time`` s."""
        return GravityRamp(vector_of(vector), self.at(start), start, round(ramp_time * 1e9))


@dataclass(frozen=True)
class PayloadGravity:
    """Payload ramp and gravity ramp of a robot."""

    payload: PayloadRamp
    gravity: GravityRamp

    @classmethod
    def of(cls, robot: Robot) -> 'PayloadGravity':
        """Return no payload, under the gravity of ``robot``."""
        gravity = vector_of(robot.gravity)
        return cls(PayloadRamp(), GravityRamp(gravity, gravity))

    def robot_at(self, robot: Robot, time: int) -> Robot:
        """Return ``robot``, which has no payload, with payload and gravity at ``time`` (ns)."""
        return carrying(robot.with_gravity(self.gravity.at(time)), self.payload.at(time))

    def ends_like(self, other: 'PayloadGravity') -> bool:
        """Return whether both ramps of ``other`` end at the same payload and gravity, to rounding."""
        return self.payload.ends_like(other.payload) and self.gravity.ends_like(other.gravity)

    def met(self, time: int) -> Iterator[tuple[Mapping[str, Payload], Vector]]:
        """Yield payloads and gravity at both ends of each ramp that is not finished at ``time`` (ns), else after it.

        Those of any later time are convex combinations of these.
        """
        for payloads in _ends(self.payload, time):
            yield from ((payloads, gravity) for gravity in _ends(self.gravity, time))

    def finished(self, time: int) -> bool:
        """Return whether both ramps are finished at ``time`` (ns)."""
        return self.payload.finished(time) and self.gravity.finished(time)

    def clock_set_back(self, before: int, after: int) -> 'PayloadGravity':
        """Return both ramps for a clock that was set back from ``before`` to ``after`` (ns); see ``Ramp``."""
        return replace(
            self,
            payload=self.payload.clock_set_back(before, after),
            gravity=self.gravity.clock_set_back(before, after),
        )


class RobotWithPayload:
    """A robot under payload and gravity that may change: the same object while nothing changes."""

    def __init__(self, robot: Robot):
        """Store ``robot``, which has no payload."""
        self._robot = self._made = robot
        self._under: PayloadGravity | None = None

    def at(self, payload_gravity: PayloadGravity, time: int) -> Robot:
        """Return the robot with ``payload_gravity`` at ``time`` (ns)."""
        if not payload_gravity.finished(time):
            return payload_gravity.robot_at(self._robot, time)
        if self._under is not payload_gravity:
            self._under, self._made = payload_gravity, payload_gravity.robot_at(self._robot, time)
        return self._made


def _frames(*values: Mapping[str, Payload]) -> list[str]:
    """Return the names of all frames of ``values``."""
    return sorted({frame for payloads in values for frame in payloads})


def _between(ends: np.ndarray, share: float) -> list[float]:
    """Return the numbers (m) at a share of the change between the rows of ``ends`` (2, m)."""
    before, after = ends.tolist()
    value = [0.0] * len(before)
    write_between(len(value), before, after, share, value)
    return value


def _ends(ramp: Ramp, time: int) -> tuple:
    """Return both ends of a ramp that is not finished at ``time`` (ns), else its value after it."""
    return (ramp.after,) if ramp.finished(time) else (ramp.before, ramp.after)


def carrier(robot: Robot, payload: Payload, frame: str) -> str:
    """Return the name of the frame that carries ``payload``, the last link for ''.

    Raises DynamicsError for an unknown frame and a payload beyond the limits of ``check_size``.
    """
    check_size(payload)
    try:
        return carrying_frame(robot.model, frame or None, 'frame')
    except UnknownNameError as error:
        raise UnknownNameError(f'frame: {error}') from error


def carried(robot: Robot, payload: Payload, frame: str) -> dict[str, Payload]:
    """Return ``payload`` by the frame that carries it, as ``carrier``; none for a mass of 0, in any frame."""
    return {carrier(robot, payload, frame): payload} if payload.mass else {}


def check_size(payload: Payload) -> None:
    """Raise ArgumentError for a mass in (0, ``SMALLEST``) and for com, first moments or inertia beyond ``LARGEST``."""
    if not (np.abs(payload.com).max() <= LARGEST and np.abs(payload.ten_parameters).max() <= LARGEST):
        raise ArgumentError(
            f'mass, com, inertia: expected at most {LARGEST:g} kg, m, kg m, kg m^2 about the origin of the frame'
        )
    if 0.0 < payload.mass < SMALLEST:
        raise ArgumentError(f'mass: expected 0 or at least {SMALLEST:g} kg, got {payload.mass:g}')


def carrying(robot: Robot, payloads: Mapping[str, Payload]) -> Robot:
    """Return ``robot`` with ``payloads``, each on the frame that is its key."""
    for frame, payload in payloads.items():
        robot = robot.with_payload(payload, frame)
    return robot


def vector_of(vector: Iterable[float]) -> Vector:
    """Return a vector (3,) as a tuple of floats."""
    x, y, z = (float(part) for part in vector)
    return x, y, z
