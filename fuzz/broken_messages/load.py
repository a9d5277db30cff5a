"""Expected payload and gravity of a node and the torques with them, computed independently of the package.

Between two payloads, results are the weighted sum of those of two robots with one payload each: mass matrix and torques
are linear in the payload. Times are ns.
"""

from contextlib import suppress
from functools import lru_cache
from itertools import product

import numpy as np

from broken_messages.oracle import ROBOT
from robot_dynamics_interfaces.msg import Payload as PayloadMessage
from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros import Payload
from robot_dynamics_ros.errors import ArgumentError

FIXED = ('wrist3_Link', 'ee_link')
"""The last link and the frames that are fixed to it."""
TERMS = 'gravity', 'coriolis', 'inertia', 'friction'
LARGEST = 1e8
"""kg, m, kg m, kg m^2: the largest numbers of a payload that a node accepts."""
LONGEST = 3600.0
"""Longest ramp, s."""
MODERATE_MASS, MODERATE_GRAVITY = 1e6, 1e3
"""Mass (kg) and gravity (m/s^2) up to which results are compared."""
SMALLEST = 1e-9
"""Smallest mass other than 0, kg."""
LATE, SHORTEST = 50_000_000, 500_000_000
"""Time by which a node may know a ramp late, and the shortest ramp that replaces a step, ns."""
ROUNDING = 1.5e-6
"""Allowed excess of a principal moment over the sum of the others, kg m^2."""
Carried = tuple[str, Payload] | None


class Load:
    """Payload and gravity of the arm."""

    def __init__(self):
        """Begin without payload, under the gravity of an upright arm."""
        self._bodies = Change([(1.0, None)])
        self._gravity = Change([(1.0, tuple(ROBOT.gravity))])

    def carry(self, message, start: int) -> None:
        """Ramp to the payload of a PayloadState or of a request, beginning at ``start``."""
        body = (message.frame or FIXED[0], _payload(message)) if message.mass else None
        before = self._bodies.shares(start)
        if hasattr(message, 'before'):
            bodies = [(each.frame or FIXED[0], _payload(each)) for each in message.before if each.mass]
            before = [(1.0, bodies[0] if bodies else None)]
        self._bodies = Change([(1.0, body)], before, start, round(message.ramp_time * 1e9))

    def follow(self, topic: str, message, start: int, now: int) -> None:
        """Follow a PayloadState or GravityState at ``now``, when torques are computed with this load: without a step.

        What the ramps change within ``LATE`` before or after is applied at once, and a step from what is held was asked
        for.
        """
        bodies, gravity = self._bodies, self._gravity
        (self.carry if topic == 'payload_state' else self.pull)(message, start)
        self._bodies = self._bodies if self._bodies is bodies else self._bodies.without_step(bodies, now)
        self._gravity = self._gravity if self._gravity is gravity else self._gravity.without_step(gravity, now)

    def pull(self, message, start: int) -> None:
        """Ramp to the gravity of a GravityState or of a request, beginning at ``start``."""
        if hasattr(message, 'before'):
            after, before = _vector(message.gravity), [(1.0, _vector(message.before))]
        else:
            after, before = _vector(message.gravity.vector), self._gravity.shares(start)
        self._gravity = Change([(1.0, after)], before, start, round(message.ramp_time * 1e9))

    def info(self, digest: str) -> TorqueInfo:
        """Return what a feedforward torque of another node holds that has the same load, once all ramps are over."""
        (carried,), (gravity,) = self._bodies.end, self._gravity.end
        message = TorqueInfo(joint_names=list(ROBOT.joint_names), terms=list(TERMS), gravity_owner='node')
        message.header.frame_id, message.model_digest = ROBOT.link_names[0], digest
        message.gravity.x, message.gravity.y, message.gravity.z = gravity
        if carried:
            frame, payload = carried
            message.payloads = [PayloadMessage(mass=payload.mass, com=payload.com, frame=frame)]
        return message

    def reach(self, time: int) -> None:
        """Record that a torque at this time may have been computed: a ramp that had finished by then stays finished."""
        for change in (self._bodies, self._gravity):
            change.reach(time)

    @property
    def moderate(self) -> bool:
        """Whether results are moderate numbers for a moderate state."""
        masses = [carried[1].mass for carried in self._bodies.all() if carried]
        return max(masses, default=0.0) < MODERATE_MASS and np.abs(self._gravity.all()).max() < MODERATE_GRAVITY

    def answer(self, time: int, ask) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted sum of ``ask(robot)``, and the magnitude of its terms."""
        return self._sum(self._bodies.shares(time), self._gravity.shares(time), ask)

    def answers(self, time: int, ask) -> list[np.ndarray]:
        """Return all correct results: several if a ramp may have finished already.

        Where one of these overflows, the others are; where all do, there is none, and NaN equals nothing.
        """
        found = []
        for bodies, gravity in product(self._bodies.either(time), self._gravity.either(time)):
            with suppress(ArgumentError):
                found.append(self._sum(bodies, gravity, ask)[0])
        return found or [np.full(ROBOT.nv, np.nan)]

    def _sum(self, bodies, gravity, ask) -> tuple[np.ndarray, np.ndarray]:
        parts = np.array(
            [share * part * ask(_robot(body, vector)) for share, body in bodies for part, vector in gravity]
        )
        return parts.sum(axis=0), np.abs(parts).sum(axis=0)


class Change:
    """A linear change of weights that sum to 1; times are ns."""

    def __init__(self, after: list, before: list | None = None, start: int = 0, duration: int = 0):
        """Begin at ``start`` and last ``duration``."""
        self._after, self._before, self._start, self._duration = after, before or after, start, duration
        self._reached = False

    def shares(self, time: int) -> list:
        """Return the shares at a time."""
        elapsed = time - self._start
        if not self._duration or elapsed >= self._duration:
            return self._after
        done = max(0.0, elapsed / self._duration)
        return [
            *((part * (1.0 - done), what) for part, what in self._before),
            *((done, what) for _, what in self._after),
        ]

    def without_step(self, held: 'Change', now: int) -> 'Change':
        """Return what is followed instead of ``held`` from ``now`` on: this change, or one from what is held."""
        value, after, before = held.shares(now), self._after, self._before
        gap = np.abs(_numbers(value) - _numbers(self.shares(now)))
        rounding = 1e-12 * np.abs([_numbers(value), _numbers(after), _numbers(before)]).max()
        asked = not self._duration and (np.abs(_numbers(value) - _numbers(before)) <= rounding).all()
        if asked or (gap <= rounding + self._late(now) + held._late(now)).all():
            return self
        left = self._start + self._duration - now if self._duration else 0
        return Change(after, value, now, max(left, SHORTEST))

    def _late(self, now: int):
        """Return how much the numbers change in ``LATE`` before or after ``now``, whichever is more."""
        value = _numbers(self.shares(now))
        return np.abs([_numbers(self.shares(now + shift)) - value for shift in (-LATE, LATE)]).max(axis=0)

    def either(self, time: int) -> list:
        """Return the weights at a time, and the final ones if the ramp may have finished."""
        return [self.shares(time), *([self._after] if self._reached else [])]

    def reach(self, time: int) -> None:
        """Record that a torque at this time may have been computed."""
        self._reached = self._reached or time - self._start >= self._duration

    @property
    def end(self) -> list:
        """The final item."""
        return [what for _, what in self._after]

    def all(self) -> list:
        """Return every item with a weight at any time."""
        return [what for _, what in (*self._before, *self._after)]


def _numbers(shares: list) -> np.ndarray:
    """Return the numbers that change linearly: ten for each frame, or a vector."""
    total = np.zeros((len(FIXED), 10))
    for share, what in shares:
        if what is None:
            continue
        if not isinstance(what[0], str):
            total[0, :3] += share * np.array(what)
            continue
        frame, payload = what
        com, mass = np.array(payload.com), payload.mass
        about_origin = payload.inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
        total[FIXED.index(frame)] += share * np.array([mass, *(mass * com), *about_origin[np.triu_indices(3)]])
    return total


@lru_cache(maxsize=64)
def _robot(carried: Carried, gravity):
    """Return the robot with a payload and a gravity."""
    robot = ROBOT.with_gravity(gravity)
    return robot.with_payload(carried[1], carried[0]) if carried else robot


forget_robots = _robot.cache_clear
"""Frees the robots of all expectations."""


def is_payload(message) -> bool | None:
    """Return whether a message's payload must be accepted (True), rejected (False), or may be either (None)."""
    if not _is_ramp_time(message.ramp_time):
        return False
    bodies = [message, *getattr(message, 'before', ())]
    good = [_is_body(body) for body in bodies]
    return False if False in good else None if None in good else True


def _is_ramp_time(ramp_time: float) -> bool:
    return 0.0 <= ramp_time <= LONGEST


def _is_body(message) -> bool | None:
    """Return whether a payload is physically consistent and within the limits; None: both are correct."""
    J = _inertia(message)
    figures = np.array([message.mass, *message.com, *J.ravel()])
    if not np.isfinite(figures).all() or message.mass < 0.0:
        return False
    if 0.0 < message.mass < SMALLEST:
        return False
    known = ROBOT.frame_names if message.mass == 0.0 else FIXED  # nothing may be carried by any
    if message.frame not in ('', *known) or (message.mass == 0.0 and J.any()):
        return False
    com = np.array(message.com)
    about_origin = J + message.mass * (com @ com * np.eye(3) - np.outer(com, com))
    largest = np.abs([message.mass, *com, *(message.mass * com), *about_origin.ravel()]).max()
    if not largest <= 1.001 * LARGEST:
        return False
    a, b, c = np.linalg.eigvalsh(J)
    if c - a - b > 2 * ROUNDING:
        return False
    clear = largest < 0.999 * LARGEST and c - a - b < 0.5 * ROUNDING
    return True if clear else None


def is_gravity(message) -> bool | None:
    """Return whether a GravityState or a request must be accepted (True), rejected (False), or may be either (None)."""
    told = hasattr(message, 'before')
    header = message.header if told else message.gravity.header
    vectors = [message.gravity, message.before] if told else [message.gravity.vector]
    numbers = np.array([_vector(vector) for vector in vectors])
    if not np.isfinite(numbers).all() or header.frame_id not in ('', ROBOT.link_names[0]):
        return False
    if not _is_ramp_time(message.ramp_time):
        return False
    return True if np.linalg.norm(numbers, axis=1).max() < 0.999 * MODERATE_GRAVITY else None


def _vector(vector) -> tuple[float, float, float]:
    """Return a Vector3 as numbers."""
    return vector.x, vector.y, vector.z


def _payload(message) -> Payload:
    """Return the body of a message."""
    return Payload(message.mass, message.com, _inertia(message))


def _inertia(message) -> np.ndarray:
    """Return the inertia (3, 3) of a message."""
    ixx, iyy, izz, ixy, ixz, iyz = message.inertia
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
