"""Interface of a control law: it computes a torque from a measured state, or returns the reason why there is none."""

from enum import Enum
from math import inf
from typing import NamedTuple, Protocol

import numpy as np


class Outcome(Enum):
    """Result of a law for one state."""

    TORQUE = 'torque'
    IDLE = 'nothing to follow'  # the state is complete, and no torque is requested
    INCOMPLETE = 'input missing'  # a torque is requested, but the state or another input is incomplete


class Result(NamedTuple):
    """An outcome and, unless it is a torque, the reason in one line."""

    outcome: Outcome
    reason: str = ''


INTERRUPTION = 1.0
"""A motion ends, and so does a hold, after this time without a complete joint state or a feedforward torque, s."""
INTERRUPTION_NS = round(INTERRUPTION * 1e9)
TORQUE = Result(Outcome.TORQUE)
NO_VELOCITIES = Result(Outcome.INCOMPLETE, 'the joint state has no velocities')


class MeasuredState:
    """The joint state for which a torque is computed.

    Parameters
    ----------
    q, qd : ndarray, (n,)
        Positions (rad, m) and velocities (rad/s, m/s). Each new state overwrites them.
    effort : ndarray, (n,), optional
        Efforts as the driver publishes them, likewise. Default: none, for laws that need none.

    Attributes
    ----------
    stamp : int
        Time of the state, ns: a desired motion is evaluated there.
    time : int
        Time of the node's clock when it received the state, ns: payload and gravity in force are those of this time.
    passing : float
        Likewise on the clock of the arm, s: the node's clock where it is simulated, else the steady one.
    has_velocity : bool
        Whether all velocities are known. If not, ``qd`` is NaN.
    no_velocity : Result
        Why they are not.
    has_effort : bool
        Whether all efforts are known.
    resumed : bool
        Whether this state is the first after a pause: an activation, a clock that was set back, or more than
        three periods (or the age limit, where that is less) without a complete state.
    period : float
        Smoothed time between the stamps of states, s; 0 until it is known.
    pause : float
        Time since the last complete state, s; infinite for the first one after an activation or a clock that was set
        back.
    elapsed : float
        Likewise, at most the age limit; 0 for the first one.
    sent : ndarray, (n,)
        The torque that was sent last, after all limits, N m or N; NaN where that is not known.
    """

    def __init__(self, q: np.ndarray, qd: np.ndarray, effort: np.ndarray | None = None):
        self.q: np.ndarray = q
        self.qd: np.ndarray = qd
        self.effort: np.ndarray = np.zeros(0) if effort is None else effort
        self.stamp = self.time = 0
        self.passing: float = 0.0
        self.has_velocity = self.has_effort = False
        self.no_velocity = NO_VELOCITIES
        self.resumed = True
        self.period: float = 0.0
        self.pause = inf
        self.elapsed: float = 0.0
        self.sent: np.ndarray = np.full(len(qd), np.nan)


class Law(Protocol):
    """A control law for joint torques."""

    @property
    def reference(self) -> np.ndarray | None:
        """Position (n, rad or m) at which the last torque holds the arm, or to which it leads; None: at none."""

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque of each joint for ``state``.

        Parameters
        ----------
        state : MeasuredState
            The measured state, in SI units.
        out : ndarray, (n,)
            Receives the torque, N m (prismatic joints: N).

        Returns
        -------
        Result
            ``TORQUE``, or the reason why there is no torque.
        """

    def stop_following(self) -> None:
        """Drop the desired motion and the hold position, as at activation."""

    def set_back(self, now: int) -> None:
        """Drop a motion and a hold position from before the clock was set back to ``now`` (ns)."""


class WrappingLaw:
    """A control law around another one, which follows and holds; its kinds compute the torque."""

    def __init__(self, law: Law):
        """Wrap ``law``."""
        self._law = law

    @property
    def reference(self) -> np.ndarray | None:
        """Position (n, rad or m) at which the last torque holds the arm, or to which it leads; None: at none."""
        return self._law.reference

    def stop_following(self) -> None:
        """Drop the desired motion and the hold position."""
        self._law.stop_following()

    def set_back(self, now: int) -> None:
        """Drop a motion and a hold position from before the clock was set back to ``now`` (ns)."""
        self._law.set_back(now)
