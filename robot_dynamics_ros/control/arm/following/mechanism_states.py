"""Measured states of a mechanism, one after the other: whether each one may be used, and where the mechanism is.

States lead on from each other, those that are refused, too. After one at a singular position, or beyond, or after a
time without states in which it can have been there, its assembly mode is not known: none is accepted until the next
activation.
"""

from itertools import product

import numpy as np

from robot_dynamics_ros.control.arm.following.closing_way import PASSED
from robot_dynamics_ros.control.arm.following.joint_jumps import JointJumps
from robot_dynamics_ros.control.arm.following.loop_solutions import LoopSolutions, Solution
from robot_dynamics_ros.errors import LoopError, SingularError

STEEPEST = 100.0
"""Most by which the square of a distance from a singular position changes with actuated joints, in their units."""
AGAIN = 'see that it is in its assembly mode, then activate again'


class MechanismStates:
    """Judges the measured states of a mechanism.

    Parameters
    ----------
    mechanism : LoopSolutions
    jumps : JointJumps
        Of its actuated joints.
    """

    def __init__(self, mechanism: LoopSolutions, jumps: JointJumps):
        self._mechanism, self._jumps = mechanism, jumps
        self._accepted = False  # a state since the activation
        self._only_zeros = True  # likewise: with which drivers begin
        self._before: Solution | None = None  # in the last state
        self._away = ''  # how the mechanism can have been at a singular position since a state was accepted
        self._passed: SingularError | None = None
        self._taken_over: SingularError | None = None  # from another description, until ``begin``
        self._at_first: SingularError | None = None  # likewise, since ``begin``

    def begin(self) -> None:
        """Begin anew, as at an activation: the arm may have moved anywhere, and is in its assembly mode."""
        self._jumps.reset()
        self._accepted, self._only_zeros, self._away = False, True, ''
        self._at_first = self._passed = self._taken_over
        self._taken_over = None

    def clock_set_back(self) -> None:
        """Take the time of the next state from its arrival."""
        self._jumps.clock_set_back()

    def continue_from(self, before: 'MechanismStates') -> None:
        """Judge states as those that come after those of ``before``, of the same actuated joints."""
        self._jumps.continue_from(before._jumps)
        self._accepted, self._only_zeros, self._away = before._accepted, before._only_zeros, before._away
        self._passed, self._at_first, self._before = before._passed, before._at_first, None
        if before._before:
            try:
                self._before = self._mechanism.from_nearest((self._mechanism.measured,), before._before.y, PASSED)
            except (LoopError, SingularError):
                self._away = 'where it was under the description before'

    def refuse(self) -> None:
        """Accept no state until an activation: a description came with which the mechanism can be elsewhere."""
        self._passed = self._passed or self._doubtful_description()

    def take_over(self, before: 'MechanismStates', is_off: bool) -> None:
        """Accept no state until an activation, if ``begin`` comes next, where ``before`` does not, or ``is_off``.

        Descriptions may come one after the other before a state does.
        """
        self._taken_over = before._passed or before._taken_over
        if self._taken_over is None and (before._jumps.doubtful or before._away or is_off):
            self._taken_over = self._doubtful_description()

    def _doubtful_description(self) -> SingularError:
        """Return the error for a description that came while it was in doubt where the mechanism is."""
        name = self._mechanism.mechanism.name
        return SingularError(f'{name}: this description came while it was in doubt where the mechanism is: {AGAIN}')

    def followed(self, y: np.ndarray, stamp: int, arrival: float) -> Solution:
        """Return where the mechanism is in the next state, y (m; rad, m) of the time ``stamp`` (ns).

        It came at ``arrival``, see ``JointJumps.jumped``. LoopError and SingularError name the loop, where a state has
        to be refused.
        """
        jumps, mechanism, self._taken_over = self._jumps, self._mechanism, None
        if jumps.begun and stamp < jumps.stamp:
            raise LoopError(f'{mechanism.mechanism.name}: the stamp of the state is before that of the last one')
        if jumps.begun and not jumps.knows_time(arrival):
            # meanwhile the arm may have moved anywhere
            jumps.reset()
            self._away = 'while the clock was set back' if self._accepted else self._away
        jumped = jumps.jumped(y, stamp, arrival) if jumps.begun else -1
        if jumped >= 0 and self._only_zeros:
            jumps.reset()
            self._passed, self._away, jumped = self._at_first, '', -1
        self._only_zeros = self._only_zeros and not y.any()
        if not jumps.begun:
            # nothing says where the arm is but this state
            jumps.begin(y, stamp, arrival)
            self._before = None
        if self._passed:
            raise self._passed.with_traceback(None)  # or it would grow with each state
        place = y if jumped < 0 else jumps.expected
        try:
            found = mechanism.measured_at(place, () if self._accepted else (mechanism.at_home,))
        except (LoopError, SingularError) as error:
            if (np.abs(place - y) > jumps.noise).any():
                # it was not measured there
                self._away = 'where the motion of a joint in doubt leads'
                raise self._doubt(jumped) from None
            loop = str(error).partition(':')[0]
            self._passed = SingularError(
                f'{loop}: the mechanism was at a singular position, or beyond, with {mechanism.said(place)}: {AGAIN}'
            )
            raise
        reach = float(np.sqrt(((jumps.strayed / mechanism.arithmetic.unit) ** 2).sum()))
        if any(it and self._can_reach_singular(it, reach) for it in (self._before, found)):
            self._away = f'in {jumps.elapsed:.3g} s without states'
        self._before = found
        if jumped >= 0:
            raise self._doubt(jumped)
        return found

    def _doubt(self, joint: int) -> LoopError:
        """Return the error for a joint whose position is in doubt."""
        name = self._mechanism.joint_names[joint]
        return LoopError(f'{self._mechanism.loop_of(name)}: joint {name!r} {self._jumps.doubt(joint)}')

    def _can_reach_singular(self, found: Solution, reach: float) -> bool:
        """Return whether the mechanism can have strayed from a solution to a singular position since the last state.

        The distance from one falls with that of the actuated joints, at most ``reach``, at a dead point with its square
        root.
        """
        if found.distance**2 - STEEPEST * reach >= PASSED * PASSED:
            return False
        if found.distance - reach < PASSED:
            return True
        strayed = self._jumps.strayed
        for k, sign in product(range(len(strayed)), (-1.0, 1.0)):
            y = found.y.copy()
            y[k] += sign * strayed[k]
            try:
                for _ in self._mechanism.way(found, y, PASSED):
                    pass
            except (LoopError, SingularError):
                return True
        return False

    @property
    def last(self) -> Solution | None:
        """Where the mechanism was in the last state, also one that was refused; None where that is not known."""
        return self._before

    @property
    def accepted(self) -> bool:
        """Whether a state was accepted since the activation."""
        return self._accepted

    @property
    def is_in_doubt(self) -> bool:
        """Whether the mechanism can have been at a singular position since a state was accepted."""
        return bool(self._away)

    def accept(self, found: Solution, is_told: bool) -> None:
        """Accept the state at ``found``; ``is_told``: by all other joints, which are measured, and fit.

        SingularError where the mechanism can have changed its assembly mode between the states before.
        """
        if self._away and not is_told:
            self._passed = SingularError(
                f'{self._mechanism.name_of(found.nearest)}: the mechanism can have been at a singular position '
                f'{self._away}: {AGAIN}'
            )
            raise self._passed
        self._accepted, self._only_zeros, self._away = True, False, ''
