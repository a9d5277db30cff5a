"""Positions as points of a manifold: what a step from one of them is, where quaternions are among the coordinates."""

import numpy as np

from robot_dynamics_ros.evaluation.evaluator import Answering, written
from robot_dynamics_ros.model import configuration


class Positions(Answering):
    """The positions of a robot."""

    def neutral(self) -> np.ndarray:
        """Return the position (nq,) at which no joint turns or moves anything: zeros, and quaternions 0, 0, 0, 1."""
        return configuration.neutral(self._model.arrays)

    def random(self, generator: np.random.Generator | None = None) -> np.ndarray:
        """Return a random position (nq,), uniform within the limits; -pi to pi (rad, m) where there are none."""
        return configuration.random(self._model.arrays, self._model.limits, generator or np.random.default_rng())

    def integrate(self, q, step, out=None) -> np.ndarray:
        """Return the position (..., nq) that ``step`` (..., nv) leads to from q (..., nq).

        A step is a velocity times a time; for joints of one degree of freedom positions and steps just add.
        """
        (rows, steps), shape = self._states(q=q, step=step)
        return written(out, configuration.integrate(self._model.arrays, rows, steps).reshape(*shape, self.nq))

    def difference(self, start, end, out=None) -> np.ndarray:
        """Return the step (..., nv) that leads from ``start`` to ``end`` (..., nq each), turning the shorter way."""
        (one, other), shape = self._states(start=start, end=end)
        return written(out, configuration.difference(self._model.arrays, one, other).reshape(*shape, self.nv))
