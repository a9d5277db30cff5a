"""Friction of the joints as columns of a regression; ``kernels.friction`` has the equation that they are the terms of.

The transition velocity enters nonlinearly: for each joint one of ``TRANSITIONS`` is chosen. A term in the square root
of the speed is left out: on the three logs of ``benchmark/accuracy/identification.py`` a fitted transition velocity
gains as much.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.model.model import Friction

SMOOTH = ('viscous', 'quadratic', 'offset', 'temperature')
"""Terms without a sign of the velocity; ``temperature``: viscous friction per degree above the mean of the log."""
SIGNED = ('coulomb', 'load', 'stribeck')
"""Terms with the smooth sign of the velocity; ``load`` grows with the transmitted torque."""
TERMS = SMOOTH + SIGNED
FREE = ('offset', 'temperature')
"""Terms of either sign; all others are at least 0."""
TRANSITIONS = np.array([0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3])
"""Transition velocities to choose from, rad/s (m/s)."""
FIRST = 4
USUAL = TRANSITIONS[FIRST]
"""The one to begin with."""
RANK = 1e-9
"""Of the largest eigenvalue, the least one of products of columns that counts."""
SLACK = 0.1
"""Loss for which a transition velocity that is usual for gears is preferred, as a share of the squared residuals."""

ENOUGH = 4000
"""Samples by which a transition velocity is chosen, at most."""


def term_names(names: Sequence[str], temperature: np.ndarray | None) -> tuple[str, ...]:
    """Return the names in the order of columns; ArgumentError for an unknown term, or one without temperatures."""
    unknown = [name for name in names if name not in TERMS]
    if unknown:
        raise ArgumentError(f'friction: no term {unknown[0]!r}; there are {", ".join(TERMS)}')
    if 'temperature' in names and temperature is None:
        raise ArgumentError('friction: temperature: the log has no temperatures')
    return tuple(name for name in TERMS if name in names)


class FrictionColumns(NamedTuple):
    """Columns of the friction terms along a log; (k, m, n) for k terms, m samples and n joints."""

    qd: np.ndarray  # (m, n)
    smooth: np.ndarray
    levels: np.ndarray  # of signed terms, without the sign

    @classmethod
    def of(cls, names: Sequence[str], log: Log, transmitted, friction: Friction) -> 'FrictionColumns':
        """Return the columns for ``transmitted`` torques (m, n), with the Stribeck velocity of ``friction``."""
        qd = log.qd
        warmth = 0.0 if log.temperature is None else log.temperature - log.temperature.mean(axis=0)
        values = {
            'viscous': qd,
            'quadratic': np.abs(qd) * qd,
            'offset': np.ones_like(qd),
            'temperature': warmth * qd,
            'coulomb': np.ones_like(qd),
            'load': np.abs(transmitted),
            'stribeck': 1.0 / (1.0 + (qd / friction.stribeck_velocity) ** 2),
        }
        of_kinds = ([values[name] for name in kind if name in names] for kind in (SMOOTH, SIGNED))
        return cls(qd, *(np.reshape(columns, (-1, *qd.shape)) for columns in of_kinds))

    def of_joints(self, terms: np.ndarray) -> 'FrictionColumns':
        """Return the columns, with zeros where a joint does not have a term; ``terms`` is (k, n), bool."""
        smooth, levels = np.split(terms[:, None], [len(self.smooth)])
        return FrictionColumns(self.qd, self.smooth * smooth, self.levels * levels)

    def at(self, transition: np.ndarray | float) -> np.ndarray:
        """Return the columns with a transition velocity for all joints, or one of each (n,)."""
        return np.concatenate([self.smooth, self.levels * self.sign(transition)])

    def sign(self, transition: np.ndarray | float) -> np.ndarray:
        """Return the smooth sign of the velocities, (m, n)."""
        return self.qd / np.hypot(self.qd, transition)

    def best_transitions(self, torque: np.ndarray, used: np.ndarray) -> np.ndarray:
        """Return the transition velocity of each joint, (n,), for the torque (m, n) that friction has to explain.

        It is the one next to ``FIRST`` with a sum of squared residuals, over the samples that are ``used`` (m, n), of
        at most 1 + ``SLACK`` times the smallest.
        """
        part = slice(None, None, 1 + len(torque) // ENOUGH)
        torque, used, columns = torque[part], used[part], FrictionColumns(*(it[..., part, :] for it in self))
        target, squares = (torque * used).T[..., None], []
        for transition in TRANSITIONS:
            F = (columns.at(transition) * used).transpose(2, 1, 0)
            moment, transposed = F.transpose(0, 2, 1) @ target, F.transpose(0, 2, 1)
            # min |tau - F f|^2, also with negative terms: the choice alone matters here
            explained = moment * (np.linalg.pinv(transposed @ F, RANK, hermitian=True) @ moment)
            squares.append((target**2).sum(axis=(1, 2)) - explained.sum(axis=(1, 2)))
        left = np.maximum(squares, 0.0)
        distance = np.abs(np.arange(len(TRANSITIONS)) - FIRST)[:, None]
        return TRANSITIONS[np.where(left <= (1.0 + SLACK) * left.min(axis=0), distance, np.inf).argmin(axis=0)]
