"""Measured states of a mechanism, one after the other: whether each one may be used, and where the mechanism is.

States lead on from each other, those that are refused, too. After one at a singular position, or beyond, or after a
pause in which the mechanism can have been there, its assembly mode is not known: none is accepted until the next
activation.
"""

from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.control.arm.joint_jumps import JointJumps
from robot_dynamics_ros.errors import LoopError, SingularError

if TYPE_CHECKING:
    from robot_dynamics_ros.control.arm.closed_mechanism import ClosedMechanism, Solution

PAUSE = 1.0
"""s: longest time without states after which the mechanism is in the same assembly mode, unless other joints say so."""
AGAIN = 'see that it is in its assembly mode, then activate again'


class MechanismStates:
    """Judges the measured states of a mechanism.

    Parameters
    ----------
    mechanism : ClosedMechanism
    jumps : JointJumps
        Of its actuated joints.
    """

    def __init__(self, mechanism: 'ClosedMechanism', jumps: JointJumps):
        self._mechanism, self._jumps = mechanism, jumps
        self._accepted = False  # a state since the activation
        self._pause = 0.0  # s, the longest one since then
        self._passed: SingularError | None = None
        self._taken_over: SingularError | None = None  # from another description, until ``begin``
        self._at_first: SingularError | None = None  # likewise, since ``begin``

    def begin(self) -> None:
        """Begin anew, as at an activation: the arm may have moved anywhere, and is in its assembly mode."""
        self._jumps.reset()
        self._accepted, self._pause = False, 0.0
        self._at_first = self._passed = self._taken_over
        self._taken_over = None

    def clock_set_back(self) -> None:
        """Judge the next state as one that comes a period after the last."""
        self._jumps.clock_set_back()

    def continue_from(self, before: 'MechanismStates') -> None:
        """Judge states as those that come after those of ``before``, of the same actuated joints."""
        self._jumps.continue_from(before._jumps)
        self._accepted, self._pause, self._passed = before._accepted, before._pause, before._passed

    def take_over(self, before: 'MechanismStates') -> None:
        """Accept no state until an activation, if ``before``, of other joints, was in doubt where the arm is."""
        if before._passed or before._jumps.doubtful or before._pause > PAUSE:
            self._taken_over = SingularError(
                f'{self._mechanism.mechanism.name}: this description came while the one before was in doubt where the '
                f'mechanism is: {AGAIN}'
            )

    def followed(self, y: np.ndarray, stamp: int) -> 'Solution':
        """Return where the mechanism is in the next state, y (m; rad, m) of the time ``stamp`` (ns).

        LoopError and SingularError name the loop, where a state has to be refused.
        """
        jumps, mechanism = self._jumps, self._mechanism
        jumped = jumps.jumped(y, stamp) if jumps.begun else -1
        if not jumps.begun or (jumped >= 0 and not self._accepted):
            # nothing says where the arm is but this state
            jumps.begin(y, stamp)
            self._passed, jumped = self._at_first, -1
        self._pause = max(self._pause, jumps.elapsed) if self._accepted else 0.0
        if self._passed:
            raise self._passed.with_traceback(None)  # or it would grow with each state
        place = y if jumped < 0 else jumps.expected
        try:
            found = mechanism.measured_at(place, () if self._accepted else (mechanism.at_home,))
        except (LoopError, SingularError) as error:
            loop = str(error).partition(':')[0]
            self._passed = SingularError(
                f'{loop}: the mechanism was at a singular position, or beyond, with {mechanism.said(place)}: {AGAIN}'
            )
            raise
        if jumped >= 0:
            name = mechanism.joint_names[jumped]
            raise LoopError(f'{mechanism.loop_of(name)}: joint {name!r} {jumps.doubt(jumped)}')
        return found

    def accept(self, found: 'Solution', fits: bool) -> None:
        """Accept the state at ``found``; ``fits``: another joint is measured, and fits.

        SingularError after a pause in which the mechanism can have changed its assembly mode.
        """
        if self._pause > PAUSE and not fits:
            loop = self._mechanism.name_of(found.nearest)
            self._passed = SingularError(
                f'{loop}: no state was followed for {self._pause:.1f} s, in which the mechanism can have been at a '
                f'singular position: {AGAIN}'
            )
            raise self._passed
        self._accepted, self._pause = True, 0.0
