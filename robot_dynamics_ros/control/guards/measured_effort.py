"""Meaning of measured efforts, and whether efforts at rest fit the gravity torque of the model.

``JointState.effort`` is a joint torque in one driver, a motor current in the next, and a torque without the one that
holds the arm in a third. At rest the joint torque is the gravity torque g(q), up to the static friction f of the joint
and errors of the model's masses::

    torque                   |effort - g|       <= f + 0.25 |g|
    current                  |K effort - g|     <= f + 0.25 |g|     K: torque constant
    torque_without_gravity   |effort|           <= f + 0.25 |g|

Joints with |g| above 4 f alone count: there no torque fits both the first and the last. f is the Coulomb, Stribeck,
load-dependent and constant friction of the robot's description and actuator file, 0 where they state none. A small
current fits the last one, too: what tells it from a torque is that it is proportional to gravity in several positions
or joints.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, ModelError

MEANINGS = ('torque', 'current', 'torque_without_gravity')
"""``torque``: N m (N) on the joint, gravity included. ``current``: A of the motor; times the torque constant it is the
joint torque. ``torque_without_gravity``: N m (N), from which driver or robot subtract the gravity torque."""
SHARE = 0.25
"""Tolerance as a share of the gravity torque: error of the masses in a description."""
FRICTION_RATIO = 4.0
"""Least ratio of gravity torque and static friction of a joint that counts; with ``SHARE`` the tolerance is at most
half of the gravity torque."""
FLOOR = 0.1
"""Least gravity torque of a joint that counts, as a share of the largest one of any joint: below is noise."""
SPREAD = 0.3
"""Least distance of gravity torques, as a share of the largest, from which a common factor is known."""
LEAST_FACTOR = 0.05
"""Least effort per gravity torque that a current has, 1/(N m): torque constants of arms are below 20 N m/A. Below,
efforts are an error of the model from which a robot subtracts gravity."""


class Resting(NamedTuple):
    """An arm at rest: gravity torque, static friction (n each, N m or N) and measured effort (n, its own unit)."""

    gravity: np.ndarray
    friction: np.ndarray
    effort: np.ndarray


class Verdict(NamedTuple):
    """Whether efforts fit their stated meaning (None: nothing can be said), and why, in one sentence."""

    fits: bool | None
    sentence: str


class MeasuredEffort:
    """Efforts of one robot's joints with a stated meaning.

    Parameters
    ----------
    meaning : str
        One of ``MEANINGS``.
    joint_names : sequence of str
        The joints, in the order of the efforts.
    torque_constants : Callable
        Returns joint torque per motor current (n,), N m/A (N/A), or raises ModelError naming a joint whose torque
        constant is unknown. Currents need it; for the other meanings it helps to name a current.

    Raises
    ------
    ArgumentError
        For another meaning, and for currents without torque constants.
    """

    def __init__(self, meaning: str, joint_names: Sequence[str], torque_constants: Callable[[], np.ndarray]):
        self.meaning = validation.choice('effort', meaning, MEANINGS)
        self._names = tuple(joint_names)
        self._constants = self._known = None
        try:
            self._known = np.asarray(torque_constants(), float)
        except ModelError as error:
            if meaning == 'current':
                raise ArgumentError(f'effort: current: {error}: state an actuator file with torque_constant') from None
        if meaning == 'current':
            self._constants = self._known

    @property
    def lacks_gravity(self) -> bool:
        """Whether the gravity torque is added to efforts."""
        return self.meaning == 'torque_without_gravity'

    def torque(self, effort: np.ndarray, gravity: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return joint torques (..., n; N m, N), friction included, of efforts at gravity torques (..., n each)."""
        scaled = np.multiply(effort, 1.0 if self._constants is None else self._constants, out=out)
        return np.add(scaled, gravity, out=out) if self.lacks_gravity else scaled

    def difference(self, resting: Resting) -> np.ndarray:
        """Return the joint torque minus the gravity torque of an arm at rest, (n,) N m (N)."""
        return self.torque(resting.effort, resting.gravity) - resting.gravity

    def judge(self, rests: Sequence[Resting], largest: float) -> Verdict:
        """Compare efforts at rest with gravity torques.

        Parameters
        ----------
        rests : sequence of Resting
            The arm at rest in one or several positions, the newest last. That one has to fit; what efforts look like
            is judged by all.
        largest : float
            Largest gravity torque of any joint in any position, N m (N).
        """
        if not rests:
            return Verdict(None, 'the arm has not stood still for 0.5 s')
        gravity, friction, effort = (np.array(column) for column in zip(*rests, strict=True))
        tolerance = friction + SHARE * np.abs(gravity)
        counts = (np.abs(gravity) >= FRICTION_RATIO * friction) & (np.abs(gravity) > FLOOR * largest)
        if not counts.any():
            return Verdict(None, self._too_small(gravity, friction))
        # the newest position that counts decides: what pushed the arm in an earlier one is gone
        newest = int(np.flatnonzero(counts.any(axis=1))[-1])
        excess = np.abs(self.torque(effort, gravity) - gravity) / np.where(counts, tolerance, np.inf)
        where = newest, int(np.argmax(excess[newest]))
        at = (
            f'{self._shown(effort[where])} where gravity is {gravity[where]:.3g} N m at joint {self._names[where[1]]!r}'
        )
        counted = *(column[counts] for column in (gravity, tolerance, effort)), np.nonzero(counts)[1]
        within = excess[where] <= 1.0
        small_current = self._factor(*counted) if within and self.meaning == 'torque_without_gravity' else ''
        if within and not small_current:
            return Verdict(True, f'agrees with {self.meaning}; largest difference: {at}')
        return Verdict(False, f'stated as {self.meaning}, but {small_current or self._looks_like(*counted)}: {at}')

    def _looks_like(self, gravity, tolerance, effort, joints) -> str:
        """Return what the efforts that count, (k,) as all arguments, look like; ``joints`` are their places."""

        def fits(difference) -> bool:
            return bool((np.abs(difference) <= tolerance).all())

        if fits(effort - gravity):
            return 'it looks like torque'
        if factor := self._factor(gravity, tolerance, effort, joints):
            return factor
        if fits(effort):
            unknown = self._known is None and not self._differ(gravity)
            return f'it looks like torque_without_gravity{" or current: see another position" if unknown else ""}'
        if fits(effort + gravity):
            return 'it looks like torque with the opposite sign'
        return 'it does not fit the gravity torque: look at payload, mounting, masses, and what touches the arm'

    def _factor(self, gravity, tolerance, effort, joints) -> str:
        """Return that the efforts, arguments as of ``_looks_like``, are proportional to gravity; '' if they are not."""
        if self.meaning != 'current' and self._known is not None:
            by_constants = self._known[joints] * effort
            if (np.abs(by_constants - gravity) <= tolerance).all():
                return 'it looks like current'
        scaled = effort if self._constants is None else self._constants[joints] * effort
        # scaled = k g, least squares
        factor = float(scaled @ gravity / (gravity @ gravity))
        close = (np.abs(scaled - factor * gravity) <= abs(factor) * tolerance).all()
        if abs(factor) < LEAST_FACTOR or not close or not self._differ(gravity):
            return ''
        return f'it is {factor:.3g} times gravity, {self._reason}'

    @staticmethod
    def _differ(gravity) -> bool:
        """Return whether gravity torques (k,) differ enough for a factor."""
        return bool(np.ptp(gravity) > SPREAD * np.abs(gravity).max())

    @property
    def _reason(self) -> str:
        """Why an effort may be proportional to gravity."""
        if self.meaning == 'current':
            return 'so torque constants, scale or sign are wrong'
        return 'as with a current, another scale, or a payload that is not set'

    def _too_small(self, gravity, friction) -> str:
        """Return that gravity is too small in all positions."""
        j = int(np.argmax(np.abs(gravity[-1])))
        return (
            'nothing can be said in this position: the largest gravity torque is '
            f'{gravity[-1, j]:.3g} N m at joint {self._names[j]!r}, friction {friction[-1, j]:.3g}; stretch the arm out'
        )

    def _shown(self, effort: float) -> str:
        """Return an effort with its unit."""
        return f'{effort:.3g} {"A" if self.meaning == "current" else "N m"}'
