"""The generic binding: kernels over model arrays, for any robot."""

import threading

import numpy as np

from robot_dynamics_ros.compiler.algorithms import Algorithm
from robot_dynamics_ros.jit.batch_loop import batch_loop
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.model.model import ModelArrays, Workspace


class Generic(threading.local):
    """Evaluates algorithms with one workspace a thread: kernels run without the GIL."""

    def __init__(self, arrays: ModelArrays, bodies: ModelArrays):
        """Allocate the workspace; ``bodies`` has the robot's true inertial parameters, ``arrays`` regrouped ones."""
        self._arrays, self._bodies, self._nv = arrays, bodies, arrays.nv
        self.workspace = Workspace.of(arrays)
        self._no_wrench = np.zeros((1, arrays.n + 1, 6))

    def evaluate(self, algorithm: Algorithm, rows, gravity, result, f_ext=None) -> bool:
        """Write the results (count, ...) for states in rows (count, n); return whether all numbers are finite.

        The inertia of the last link is that of the arrays. ``f_ext`` (1 or count, n + 1, 6; N m, N) are wrenches on the
        links in their own frames.
        """
        zeros = [np.zeros((len(result), self._nv))] * algorithm.zeros
        needed = {'gravity': gravity, 'f_ext': self._no_wrench if f_ext is None else f_ext}
        needs = [needed[name] for name in algorithm.needs]
        loop = batch_loop(algorithm.kernel_of(self._arrays))
        arrays = self._bodies if algorithm.bodies else self._arrays
        written = result if algorithm.shape else result[:, None]  # kernels write scalars to an array, too
        loop(arrays, self.workspace, *rows, *zeros, *needs, *algorithm.frame, written)
        numbers = (*rows, result) if f_ext is None else (*rows, f_ext, result)
        return all([np.isfinite(array).all() for array in numbers])

    def velocity_without_inertia(self, q) -> int | None:
        """Return the index in qd of the outermost velocity without inertia at one of q (count, nq), or None."""
        zeros, qdd = np.zeros((1, self._nv)), np.empty((1, self._nv))
        for state in q[:, None]:
            batch_loop(aba)(self._arrays, self.workspace, state, zeros, zeros, np.zeros(3), self._no_wrench, qdd)
            (singular,) = np.nonzero(~(self.workspace.d[1:] > 0.0))
            if len(singular):  # NaN propagates from the outermost velocity towards the base
                return int(singular[-1])
        return None


def refuse(*arguments):
    """Raise TypeError, as compiled code does for an argument of another type or shape."""
    raise TypeError
