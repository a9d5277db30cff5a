"""Payload and gravity of a robot as functions of time, each with a ramp."""

from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.control.payload_ramp import PayloadRamp, carrying
from robot_dynamics_ros.control.ramp import Ramp
from robot_dynamics_ros.robot import Robot

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class GravityRamp(Ramp[Vector]):
    """Gravity vector in the base link over time, m/s^2: a linear change from ``before`` to ``after``."""

    def at(self, time: int) -> Vector:
        """Return gravity (3,) at ``time`` (ns), exactly ``after`` when the ramp is finished."""
        share = self.share(time)
        if share >= 1.0:
            return self.after
        return vector_of((1.0 - share) * np.array(self.before) + share * np.array(self.after))

    def numbers(self, *values) -> np.ndarray:
        """Return the vectors ``values`` as an array (values, 3)."""
        return np.array(values)

    def to(self, vector, start: int, ramp_time: float) -> 'GravityRamp':
        """Return the ramp from gravity at ``start`` (ns) to ``vector`` (3, m/s^2) over ``ramp_time`` s."""
        return GravityRamp(vector_of(vector), self.at(start), start, round(ramp_time * 1e9))


@dataclass(frozen=True)
class Load:
    """Payload ramp and gravity ramp of a robot."""

    payload: PayloadRamp
    gravity: GravityRamp

    @classmethod
    def of(cls, robot: Robot) -> 'Load':
        """Return a load without payload, under the gravity of ``robot``."""
        gravity = vector_of(robot.gravity)
        return cls(PayloadRamp(), GravityRamp(gravity, gravity))

    def robot_at(self, robot: Robot, time: int) -> Robot:
        """Return ``robot``, which has no payload, with payload and gravity at ``time`` (ns)."""
        return carrying(robot.with_gravity(self.gravity.at(time)), self.payload.at(time))

    def finished(self, time: int) -> bool:
        """Return whether both ramps are finished at ``time`` (ns)."""
        return self.payload.finished(time) and self.gravity.finished(time)

    def clock_set_back(self, before: int, after: int) -> 'Load':
        """Return the load for a clock that was set back from ``before`` to ``after`` (ns); see ``Ramp``."""
        return replace(
            self,
            payload=self.payload.clock_set_back(before, after),
            gravity=self.gravity.clock_set_back(before, after),
        )


def vector_of(vector) -> Vector:
    """Return a vector (3,) as a tuple of floats."""
    x, y, z = (float(part) for part in vector)
    return x, y, z
