"""Hold position: where the arm is held while it follows no trajectory, and when it is measured again."""

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.control.joints.continuous_joints import nearest, turns
from robot_dynamics_ros.control.law import INTERRUPTION, MeasuredState
from robot_dynamics_ros.robot import Robot

KNOWN = 0.99
"""Distance below which it is known where guiding has left a joint, rad or m."""


class HoldPosition:
    """Position at which the arm is held, q_hold (n).

    It is measured when holding begins. It survives short pauses of the states: measuring it again would drop the
    position error, with which the feedback carries what the model does not contain (an arm heavier than its model would
    sink a little at every pause). After a pause it is measured again only where the pause was an ``INTERRUPTION``, or
    where a joint is further from it than the tolerance: the arm was moved meanwhile, and must not leap back.
    Joints of an arm that was guided are expected where that has left them, and have moved in a pause if they are not
    where they were before it.
    """

    def __init__(
        self,
        robot: Robot,
        tolerance: float,
        report: Callable[[str], object],
        measured: Callable[[int], object] = lambda stamp: None,
    ):
        """Set the ``tolerance`` in rad or m, 0: no limit; ``report`` is called with the reason for a displacement.

        ``measured`` is called with the stamp (ns) of each state at which the position is measured.
        """
        self.position = self.expected = np.zeros(robot.nv)
        self._last = np.zeros(robot.nv)  # measured before a pause, where the arm was guided
        self._names, self._turn, self._report, self._measured = robot.joint_names, turns(robot), report, measured
        self._tolerance = tolerance or np.finfo(float).max
        self._holds = False
        self.interruptions = self.displacements = 0

    def release(self) -> None:
        """Hold no more: the next ``update`` measures the position."""
        self._holds, self.expected = False, self.position

    def hold_at(self, position: np.ndarray) -> None:
        """Hold at a position (n) that is not measured, until ``release``."""
        self.position[:] = position
        self._holds, self.expected = True, self.position

    def guide(self, joints: np.ndarray, q: np.ndarray) -> None:
        """Expect joints that are measured at q (n) at ``joints`` (n), which another one writes, until a new hold."""
        self.expected, self._last[:] = joints, q

    def continue_from(self, before: 'HoldPosition') -> None:
        """Hold where ``before`` does, of another description of the arm."""
        self.position[:], self._holds = before.position, before._holds
        self.expected = self.position if before.expected is before.position else before.expected.copy()
        self._last[:] = before._last
        self.interruptions, self.displacements = before.interruptions, before.displacements

    def at(self, state: MeasuredState) -> np.ndarray | None:
        """Return where the joints are held up to ``state``; None where they are not, or are not any more."""
        if self._holds and not (state.resumed and self._ends_after(state)):
            return self.expected
        self.release()
        return None

    def is_left(self, q: np.ndarray) -> bool:
        """Return whether a joint of the arm at q (n) is further from where it is expected than the tolerance."""
        limit = min(self._tolerance, KNOWN) if self._is_guided else self._tolerance
        return bool((self._distances(self.expected, q) > limit).any())

    def update(self, state: MeasuredState) -> None:
        """Take the measured position as the hold position when holding begins, or after a pause that has ended it."""
        if self.at(state) is not None:
            return
        self.position[:] = state.q
        self._holds = True
        self._measured(state.stamp)

    def _ends_after(self, state: MeasuredState) -> bool:
        """Return whether the position is measured again after the pause before ``state``; count and report it."""
        if state.pause > INTERRUPTION:
            self.interruptions += 1
            return True
        distance = self._distances(self._last if self._is_guided else self.position, state.q)
        k = int(np.argmax(distance))
        if distance[k] <= self._tolerance:
            return False
        self.displacements += 1
        self._report(
            f'hold position measured again: after {state.pause:.3f} s without a state joint {self._names[k]!r} was '
            f'{distance[k]:.3f} rad or m from it, more than start_tolerance allows ({self._tolerance:g})'
        )
        return True

    @property
    def _is_guided(self) -> bool:
        return self.expected is not self.position

    def _distances(self, place: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return how far each joint of the arm at q (n) is from a place (n; rad, m)."""
        return np.abs(nearest(place - q, self._turn))

    def report(self) -> dict[str, str]:
        """Return how often the position was measured again, as fields of the diagnostics."""
        return {
            'hold position measured again': f'{self.interruptions} after an interruption, '
            f'{self.displacements} away from it'
        }
