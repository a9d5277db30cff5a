"""The generic binding: kernels over model arrays, for any robot."""

import threading
from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.compiler.algorithms import LOAD_SIZE, METHODS, Algorithm
from robot_dynamics_ros.compiler.compiled_robot import is_possible
from robot_dynamics_ros.compiler.generic_code import code_of_kernel, context_of
from robot_dynamics_ros.jit.batch_loop import batch_loop
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.native.states_code import StatesCode


class Generic:
    """Evaluates algorithms with one workspace a thread: kernels run without the GIL."""

    def __init__(self, arrays: ModelArrays, bodies: ModelArrays):
        """Allocate a workspace; ``bodies`` has the robot's true inertial parameters, ``arrays`` regrouped ones."""
        self.arrays, self._bodies, self._nv = arrays, bodies, arrays.nv
        self._shared = Workspace.of(arrays)
        self._own = _OfThread(arrays)

    def rows(self, name: str, algorithm: Algorithm, work: Workspace | None = None) -> StatesCode:
        """Return the code of the kernel ``name`` for states in rows, for calls by one thread at a time.

        It uses the workspace ``work``, by default one that all code of this method shares.
        """
        return self._rows(name, algorithm, self._shared if work is None else work)

    def part(self, name: str, algorithm: Algorithm, checked: bool = True) -> Callable:
        """Return the kernel ``name`` as a builtin function for any number of states in this thread, without the GIL.

        ``checked`` says whether quaternions are checked.
        """
        own, key = (
            self._own,
            (name, algorithm.inputs, algorithm.kernel, algorithm.articulated, id(algorithm.frame), checked),
        )
        if key not in own.parts:
            rows = self._rows(name, algorithm, own.workspace)
            # as long as the algorithm is kept, no other frame has the same id
            own.parts[key] = algorithm, (rows if checked else rows._replace(quaternions=())).function()
        return own.parts[key][1]

    def _rows(self, name: str, algorithm: Algorithm, work: Workspace) -> StatesCode:
        """Return the code of the kernel ``name`` for states in rows, with this workspace."""
        arrays = self._bodies if algorithm.bodies else self.arrays
        context = context_of(algorithm, arrays, work)
        return StatesCode(
            algorithm.lengths(arrays),
            algorithm.shape_of(arrays),
            LOAD_SIZE,
            code_of_kernel(name, algorithm, arrays),
            (context, algorithm, arrays, work),
            context=context.ctypes.data,
            checked=True,
            quaternions=arrays.quaternions,
            angles=arrays.angles,
        )

    def evaluate(self, algorithm: Algorithm, rows, gravity, result) -> bool:
        """Write the results (count, ...) for states in rows; return whether all numbers are finite, no angle too large.

        This is for interpreters without machine code. The inertia of the last link is that of the arrays.
        """
        work = self._own.workspace
        needed = {'gravity': gravity, 'f_ext': work.f_0[None]}
        arguments = (*rows, *[np.zeros((len(result), self._nv))] * algorithm.zeros)
        needs = [needed[name] for name in algorithm.needs]
        loop = batch_loop(algorithm.kernel_of(self.arrays))
        arrays = self._bodies if algorithm.bodies else self.arrays
        written = result if algorithm.shape else result[:, None]  # kernels write scalars to an array, too
        loop(arrays, work, *arguments, *needs, *algorithm.frame, written)
        within = np.abs(rows[0][:, self.arrays.angles]) < LARGEST_ANGLE
        return all([within.all(), *(np.isfinite(array).all() for array in (*rows, result))])

    def velocity_without_inertia(self, q) -> int | None:
        """Return the index in qd of the outermost velocity without inertia at one of q (count, nq), or None."""
        by_bodies = METHODS['articulated'][0]
        zeros, load, qdd = np.zeros((1, self._nv)), np.zeros(LOAD_SIZE), np.empty((1, self._nv))
        for state in q[:, None]:
            if is_possible():
                self.part('forward_dynamics', by_bodies)(state, zeros, zeros, load, qdd)
            else:
                self.evaluate(by_bodies, (state, zeros, zeros), load[:3], qdd)
            (singular,) = np.nonzero(~(self._own.workspace.d[1:] > 0.0))
            if len(singular):  # NaN propagates from the outermost velocity towards the base
                return int(singular[-1])
        return None


class _OfThread(threading.local):
    """The workspace of one thread, and what uses it."""

    def __init__(self, arrays: ModelArrays):
        """Allocate the workspace."""
        self.workspace = Workspace.of(arrays)
        self.parts: dict[tuple, tuple[Algorithm, Callable]] = {}
