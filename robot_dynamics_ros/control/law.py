"""What a control law is to the pipeline that calls it: a measured state in, a torque or a reason for none out."""

from enum import Enum
from typing import NamedTuple, Protocol

import numpy as np


class Outcome(Enum):
    """What a law made of a state."""

    TORQUE = 'torque'
    IDLE = 'nothing to follow'  # the state is complete, and no torque is asked for
    INCOMPLETE = 'input missing'  # a torque is asked for, but the state or another input lacks something


class Result(NamedTuple):
    """An outcome and, unless it is a torque, the reason in one line."""

    outcome: Outcome
    reason: str = ''


TORQUE = Result(Outcome.TORQUE)
NO_VELOCITIES = Result(Outcome.INCOMPLETE, 'the joint state has no velocities')


class MeasuredState:
    """The joint state at hand: positions ``q`` and velocities ``qd`` (n each) at ``stamp`` (ns).

    Without velocities ``has_velocity`` is False and ``qd`` is NaN. ``resumed`` says that the states before it are too
    long ago: no torque was computed for longer than the age limit, or since activation, or the clock was set back.
    """

    def __init__(self, q: np.ndarray, qd: np.ndarray):
        """Describe the arrays that hold the positions and velocities of each state in turn."""
        self.q, self.qd = q, qd
        self.stamp = 0
        self.has_velocity = False
        self.resumed = True


class Law(Protocol):
    """A control law for joint torques."""

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out`` and return ``TORQUE``, or return why there is none."""

    def warm_up(self) -> None:
        """Compile what ``torque`` calls, by calling it."""

    def stop_following(self) -> None:
        """Drop the desired motion and the hold position, as at activation."""

    def set_back(self, now: int) -> None:
        """Drop what is from before the clock was set back to ``now`` (ns)."""
