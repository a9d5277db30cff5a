"""Joint states, admissible torques, and pauses between states; times are ns in stamps and s elsewhere."""

from typing import NamedTuple

import numpy as np
from torques import Torque

LONGEST, SHORTEST = 1.0, 0.005
"""Bounds of an age limit that a node estimates, s."""
INTERRUPTION = 1.0
"""Time without a torque that ends a motion, s."""
DOUBT = 0.05
"""s before and after this time in which it may end or not."""


class State(NamedTuple):
    """A joint state in the arm's joint order; None: a joint is missing, doubled or not finite."""

    stamp: int
    q: np.ndarray | None
    qd: np.ndarray | None
    good: bool = True  # nothing at all is unusual
    has_effort: bool = True


class Option(NamedTuple):
    """An admissible torque, between ``low`` and ``high``, for a state or of a timeout (``kind``), along ``of``."""

    kind: str
    low: np.ndarray
    high: np.ndarray
    of: object = None


class Expected(NamedTuple):
    """The admissible torques, whether there ``must`` be one, and the rule that other ones violate."""

    options: list[Option]
    must: bool = False
    rule: str = 'TERMS'


class Pause:
    """A time between two states that are used, s; it may be an interruption for ``certain``, or it is ``possible``.

    That depends on the period that a node estimates, here from the last ``gaps`` between stamps.
    """

    def __init__(self, time: float, age_limit: float, gaps):
        self.time, known = time, len(gaps) > 5
        longest = max(3.3 * max(gaps), 1.1 * SHORTEST) if known else np.inf
        shortest = max(2.7 * min(gaps), 0.98 * SHORTEST) if known else 0.98 * SHORTEST
        self.certain = time > min(age_limit or np.inf, longest, INTERRUPTION + DOUBT)
        self.possible = time > min(0.99 * (age_limit or np.inf), shortest)
        self.ends = time > INTERRUPTION + DOUBT  # whatever is followed or held
        self.may_end = time > INTERRUPTION - DOUBT


def described(expected: Expected, torques: list[Torque], state: State | None) -> str:
    """Return what was published for a state and what is admissible."""
    sent = [np.round(torque.effort, 5).tolist() for torque in torques]
    wanted = [(option.kind, *np.round(option[1:3], 5).tolist()) for option in expected.options]
    return f'{sent} for {state}, expected {wanted}'
