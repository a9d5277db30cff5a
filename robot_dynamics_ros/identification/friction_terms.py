"""Friction of a joint as columns of a regression; ``kernels.friction`` has the equation that they are the terms of.

The transition velocity enters nonlinearly: columns are computed for each of ``TRANSITIONS``, and the regression chooses
one. A term in the square root of the speed is left out: on the three logs of ``benchmark/identification.py`` a fitted
transition velocity gains as much.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ArgumentError

SMOOTH = ('viscous', 'offset', 'temperature')
"""Terms without a sign of the velocity; ``temperature``: viscous friction per degree above the mean of the log."""
SIGNED = ('coulomb', 'load', 'stribeck')
"""Terms with the smooth sign of the velocity; ``load`` grows with the transmitted torque."""
FREE = ('offset', 'temperature')
"""Terms of either sign; all others are at least 0."""
TRANSITIONS = np.array([0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3])
"""Transition velocities to choose from, rad/s (m/s)."""
FIRST = 4
"""The one of ``TRANSITIONS`` to begin with."""
RANK = 1e-9
"""Of the largest eigenvalue, the least one of products of columns that counts."""
SLACK = 0.1
"""Loss for which a transition velocity that is usual for gears is preferred, as a share of the squared residuals."""


class FrictionTerms(NamedTuple):
    """The terms of a fit, in the order of their columns."""

    smooth: tuple[str, ...]
    signed: tuple[str, ...]

    @classmethod
    def named(cls, names: Sequence[str], temperature) -> 'FrictionTerms':
        """Return the terms with these names; ArgumentError for an unknown one, or for one without temperatures."""
        unknown = [name for name in names if name not in SMOOTH + SIGNED]
        if unknown:
            raise ArgumentError(f'friction: no term {unknown[0]!r}; there are {", ".join(SMOOTH + SIGNED)}')
        if 'temperature' in names and temperature is None:
            raise ArgumentError('friction: temperature: the log has no temperatures')
        return cls(*(tuple(name for name in kind if name in names) for kind in (SMOOTH, SIGNED)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all terms."""
        return self.smooth + self.signed

    @property
    def at_least_zero(self) -> np.ndarray:
        """Which terms are at least 0, (k,)."""
        return np.array([name not in FREE for name in self.names], bool)

    def columns(self, qd, transmitted, stribeck_velocity: float, warmth) -> np.ndarray:
        """Return the columns (m, k') of one joint: smooth terms, then signed ones of each transition velocity.

        ``qd`` (m,) are its velocities, ``transmitted`` (m,) torques, ``warmth`` (m,) degrees above the mean.
        """
        values = {'viscous': qd, 'offset': np.ones_like(qd), 'temperature': warmth * qd}
        levels = {
            'coulomb': np.ones_like(qd),
            'load': np.abs(transmitted),
            'stribeck': 1.0 / (1.0 + (qd / stribeck_velocity) ** 2),
        }
        signs = (qd / np.hypot(qd, transition) for transition in TRANSITIONS)
        signed = [levels[name] * sign for sign in signs for name in self.signed]
        return np.reshape([*(values[name] for name in self.smooth), *signed], (-1, len(qd))).T

    def places(self, choice: int) -> np.ndarray:
        """Return the places (k,) of the terms with transition velocity ``choice`` among the columns."""
        first = len(self.smooth) + choice * len(self.signed)
        return np.concatenate([np.arange(len(self.smooth)), first + np.arange(len(self.signed))])

    def best_transition(self, gram: np.ndarray, target: np.ndarray, square: float) -> int:
        """Return the choice of transition velocity for one joint.

        It is the one next to ``FIRST`` with a sum of squared residuals of at most 1 + ``SLACK`` times the smallest.
        ``gram`` (k', k') has the products of its columns, ``target`` (k',) theirs with the torque that friction has to
        explain, and ``square`` is the sum of squares of that torque.
        """
        if not self.signed:
            return FIRST
        squares = np.empty(len(TRANSITIONS))
        for choice in range(len(TRANSITIONS)):
            places = self.places(choice)
            G, g = gram[np.ix_(places, places)], target[places]
            # min |tau - F f|^2, also with negative terms: the choice alone matters here
            squares[choice] = max(square - g @ np.linalg.lstsq(G, g, RANK)[0], 0.0)
        good = np.flatnonzero(squares <= (1.0 + SLACK) * squares.min())
        return int(good[np.argmin(np.abs(good - FIRST))])
