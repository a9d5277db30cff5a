"""The payload and gravity that a node has taken, and what they make of a robot's answers: a second, simple way.

A load between two payloads is the sum of answers of robots with the one and the other, each with its share: mass matrix
and torques are linear in what the arm carries. Times are ns.
"""

from functools import lru_cache

import numpy as np
from fuzz_oracle import ROBOT

from robot_dynamics_ros import Payload

FIXED = ('wrist3_Link', 'ee_link')
"""The last link, and what is fixed to it."""
LARGEST = 1e8
"""kg, m, kg m, kg m^2: the largest figures of a payload that a node takes."""
LONGEST = 3600.0
"""s; a ramp takes no longer."""
MODERATE_MASS, MODERATE_GRAVITY = 1e6, 1e3
"""kg, m/s^2."""
SMALLEST = 1e-9
"""kg, of what weighs anything."""
ROUNDING = 1.5e-6
"""kg m^2, by which a principal moment may exceed the sum of the others."""
Carried = tuple[str, Payload] | None


class Load:
    """What the arm carries, and under which gravity."""

    def __init__(self):
        """Carry nothing, upright."""
        self.gravity = tuple(ROBOT.gravity)
        self._before: list[tuple[float, Carried]] = []
        self._after: Carried = None
        self._start = self._duration = 0
        self._reached = True

    def carry(self, message, start: int) -> None:
        """Go over to the payload of a message, from ``start`` on."""
        self._before = self._shares(start)
        payload = Payload(message.mass, message.com, _inertia(message))
        self._after = (message.frame or FIXED[0], payload) if message.mass else None
        self._start, self._duration = start, round(message.ramp_time * 1e9)
        self._reached = False

    def pull(self, vector) -> None:
        """Have gravity of a Vector3."""
        self.gravity = vector.x, vector.y, vector.z
        self._reached = False

    def reach(self, time: int) -> None:
        """Know that somebody may have asked for an answer of a time: where a ramp has ended, it has for good."""
        self._reached = self._reached or time - self._start >= self._duration

    @property
    def moderate(self) -> bool:
        """Whether answers are moderate for a moderate state."""
        carried = [self._after, *(carried for _, carried in self._before)]
        masses = [payload.mass for _, payload in filter(None, carried)]
        return max(masses, default=0.0) < MODERATE_MASS and np.abs(self.gravity).max() < MODERATE_GRAVITY

    def answer(self, time: int, ask) -> tuple[np.ndarray, np.ndarray]:
        """Return the sum of ``ask(robot)``, and the size of what was added up."""
        parts = np.array([share * ask(_robot(carried, self.gravity)) for share, carried in self._shares(time)])
        return parts.sum(axis=0), np.abs(parts).sum(axis=0)

    def answers(self, time: int, ask) -> list[np.ndarray]:
        """Return the answers that are right: where the ramp may have ended already, what is carried then too."""
        ended = [ask(_robot(self._after, self.gravity))] if self._reached else []
        return [self.answer(time, ask)[0], *ended]

    def _shares(self, time: int) -> list[tuple[float, Carried]]:
        """Return what is carried at a time, with shares that add up to 1."""
        elapsed = time - self._start
        if not self._duration or elapsed >= self._duration:
            return [(1.0, self._after)]
        done = max(0.0, elapsed / self._duration)
        before = self._before or [(1.0, None)]
        return [*((part * (1.0 - done), carried) for part, carried in before), (done, self._after)]


@lru_cache(maxsize=64)
def _robot(carried: Carried, gravity):
    """Return the robot that carries something under some gravity."""
    robot = ROBOT.with_gravity(gravity)
    return robot.with_payload(carried[1], carried[0]) if carried else robot


def is_payload(message) -> bool | None:
    """Return whether a message's payload must be taken (True), refused (False), or may be either (None)."""
    J = _inertia(message)
    figures = np.array([message.mass, message.ramp_time, *message.com, *J.ravel()])
    if not np.isfinite(figures).all() or message.mass < 0.0 or not 0.0 <= message.ramp_time <= LONGEST:
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
    """Return whether a Vector3Stamped must be taken as gravity (True), refused (False), or may be either (None)."""
    vector = [getattr(message.vector, axis) for axis in 'xyz']
    if not np.isfinite(vector).all() or message.header.frame_id not in ('', ROBOT.link_names[0]):
        return False
    return True if np.abs(vector).max() < MODERATE_GRAVITY else None


def _inertia(message) -> np.ndarray:
    """Return the inertia (3, 3) of a message."""
    ixx, iyy, izz, ixy, ixz, iyz = message.inertia
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
