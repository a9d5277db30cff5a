"""Reference model of dynamics_server: the messages and torques that it must publish and compute. ROS times are ns."""

from support import graph

import numpy as np

from coupled_nodes.load import SECOND, Load, Ramp, body_of, vector_of
from coupled_nodes.robots import Body
from coupled_nodes.settings import Settings

LARGEST_GRAVITY = 12.0
"""m/s^2, default of the parameter gravity_limit (R8)."""
LIGHT, HEAVY = 1.5, 100.0
"""kg: the arm can hold a payload up to LIGHT in every position, and none above HEAVY (R8)."""
TOLERANCE = 1e-9


class ServerModel:
    """dynamics_server: its payload and gravity."""

    def __init__(self, settings: Settings, fills_before: bool):
        """Model the server of a graph."""
        self.arm, self.settings = settings.arm, settings
        self._fills_before = fills_before
        self._set_back = False  # the clock, since the payload was set
        self.load = Load()
        self.configured = self.active = False
        self._now: int | None = None

    def configure(self, now: int) -> None:
        """Begin with the parameters, and with the payload of the payload file (R7)."""
        kept = self.load.payload
        self.load = Load()
        if self.settings.payload_file:
            if self._set_back:
                kept.duration = 0  # the file's start is of a clock that is no more
            self.load.payload = kept
        self.configured, self.active = True, False
        self.look(now)

    def look(self, now: int) -> None:
        """Update the time (R3)."""
        if self._now is not None and now < self._now:
            self.load.set_back(self._now, now)
            self._set_back = True
        self._now = now

    def set_payload(self, request, now: int) -> bool | None:
        """Apply a request; return whether it must be accepted, None if both are correct."""
        if not self.active:
            return False
        if not np.isfinite(request.mass) or request.mass < 0.0 or request.mass > HEAVY:
            return False
        if request.frame not in ('', self.arm.tip, self.arm.robot.link_names[-1]):
            return False
        return True if request.mass <= LIGHT else None

    def carry(self, request, now: int) -> None:
        """Record an accepted payload."""
        self._set_back = False
        frame = request.frame or self.arm.robot.link_names[-1]
        before = [
            (1.0, Body(w * b.mass, b.com, tuple(w * j for j in b.inertia), b.frame)) for w, b in self._carried(now)
        ]
        after = [(1.0, body_of(request)._replace(frame=frame))] if request.mass else []
        self.load.payload = Ramp(after, before, now, self._duration(request))

    def set_gravity(self, request, now: int) -> bool:
        """Return whether a request must be accepted."""
        vector = np.array(vector_of(request.gravity.vector))
        return bool(self.active and np.isfinite(vector).all() and np.linalg.norm(vector) <= LARGEST_GRAVITY)

    def pull(self, request, now: int) -> None:
        """Record an accepted gravity."""
        shares = self.load.gravity.at(now)
        before = tuple(np.sum([share * np.array(vector) for share, vector in shares], axis=0).tolist())
        after = [(1.0, vector_of(request.gravity.vector))]
        self.load.gravity = Ramp(after, [(1.0, before)], now, self._duration(request))

    def wrong_torques(self, q, torques, now: int) -> str:
        """Return the fault of gravity torques at q, '' if there is none."""
        return wrong(torques, self.arm.gravity_torque(q, self.load.at(now)))

    def wrong_message(self, topic: str, message, q, now: int) -> str:
        """Return the fault of a message on ``topic``, '' if there is none: it must have the present load (R5, R7)."""
        told = Load()
        told.payload, told.gravity = self.load.payload, self.load.gravity
        (told.carry if topic == 'payload_state' else told.pull)(
            *((message, self._fills_before) if topic == 'payload_state' else (message,))
        )
        end = max(now, now + SECOND // 7, self.load.payload.start + self.load.payload.duration)
        end = max(end, self.load.gravity.start + self.load.gravity.duration)
        for time in (now, (now + end) // 2, end):
            found = wrong(self.arm.gravity_torque(q, told.at(time)), self.arm.gravity_torque(q, self.load.at(time)))
            if found:
                return f'{topic} {(time - now) / SECOND:.3f} s from now: {found}; {message}'
        return ''

    def _carried(self, now: int) -> list:
        return self.load.payload.at(now)

    def _duration(self, request) -> int:
        """Return the ramp time of a request, ns (R8)."""
        return round((request.ramp_time or self.settings.load_ramp_time) * SECOND)


def wrong(came, expected, tolerance: float = TOLERANCE) -> str:
    """Return how numbers differ beyond rounding, '' if they do not."""
    off = np.abs(np.asarray(came) - expected)
    if off.max() <= tolerance * (1.0 + np.abs(expected).max()):
        return ''
    return f'{np.round(came, 6).tolist()}, expected {np.round(expected, 6).tolist()}'


def stamp_of(message) -> int:
    """Return the stamp of a PayloadState, GravityState or Vector3Stamped."""
    return graph.nanoseconds(message.stamp if hasattr(message, 'stamp') else message.header.stamp)
