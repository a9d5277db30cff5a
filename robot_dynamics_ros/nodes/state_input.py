"""From JointState messages to joint vectors in the robot's order."""

import numpy as np

from robot_dynamics_ros.control.joint_order import places_of
from robot_dynamics_ros.dynamics.errors import ArgumentError


def nanoseconds(stamp) -> int:
    """Return a builtin_interfaces Time as ns."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def set_nanoseconds(stamp, value: int) -> None:
    """Write ns into a builtin_interfaces Time or Duration."""
    stamp.sec, stamp.nanosec = divmod(value, 1_000_000_000)


class StateInput:
    """Positions and velocities of a robot's joints out of messages with any order and any extra joints.

    Names are looked at only when their list changes.
    """

    def __init__(self, joint_names):
        """Read the joints ``joint_names`` into ``q`` and ``qd``, (n,) each."""
        self._joint_names = joint_names
        self._layout: list[str] | None = None
        self._places = np.zeros(0, np.intp)
        self.q, self.qd = np.zeros((2, len(joint_names)))
        self.has_velocity = False

    def read(self, message) -> None:
        """Write ``q``, ``qd`` (all NaN unless all velocities are known) and ``has_velocity``.

        Velocities may be missing or NaN, as JointState allows. Raises DynamicsError naming a joint that is missing,
        doubled or without a finite position.
        """
        if message.name != self._layout:
            self._places = places_of(self._joint_names, message.name)
            self._layout = message.name
        if len(message.position) != len(message.name):
            raise ArgumentError(f'{len(message.name)} joints have {len(message.position)} positions')
        np.take(message.position, self._places, out=self.q)
        if not np.isfinite(self.q).all():
            joint = self._joint_names[int(np.argmin(np.isfinite(self.q)))]
            raise ArgumentError(f'joint {joint!r}: position is not finite')
        self.has_velocity = len(message.velocity) == len(message.name)
        if self.has_velocity:
            np.take(message.velocity, self._places, out=self.qd)
            self.has_velocity = bool(np.isfinite(self.qd).all())
        if not self.has_velocity:
            self.qd.fill(np.nan)
