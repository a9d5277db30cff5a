"""The generic binding: kernels over model arrays, for any robot."""

import threading
from functools import partial

import numpy as np

from robot_dynamics_ros.compiler.forward_algorithm import forward_algorithm
from robot_dynamics_ros.kernels import batch
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.model.model import ModelArrays, Workspace

OF_A_FRAME = {
    'link_pose': batch.frame_pose_batch,
    'link_velocity': batch.frame_velocity_batch,
    'link_acceleration': batch.frame_acceleration_batch,
    'jacobian': batch.jacobian_batch,
}
"""What is told a frame."""


class _Scratch(threading.local):
    """One workspace a thread: kernels run without the GIL."""

    def __init__(self, arrays: ModelArrays):
        self.workspace = Workspace.of(arrays)


class Generic:
    """Batches of states in rows; each method writes ``result`` and tells if all numbers are finite.

    ``load`` is as for the specialised binding, of which only gravity, its first three numbers, is read here: the last
    link's parameters are those of the arrays. ``f_ext`` (1 or count, n + 1, 6) acts on the links. ``base`` is
    velocity and acceleration of the base (count, 6 each; see ``motion``), None where it is at rest.
    """

    def __init__(self, arrays: ModelArrays):
        """Take the robot's arrays."""
        self._arrays = arrays
        self._scratch = _Scratch(arrays)
        self._no_wrench = np.zeros((1, arrays.n + 1, 6))
        self._forward = batch.aba_batch if forward_algorithm(arrays) is aba else batch.crba_forward_batch

    @property
    def workspace(self) -> Workspace:
        """The workspace of this thread."""
        return self._scratch.workspace

    def inverse_dynamics(self, q, qd, qdd, load, result, f_ext=None, base=None) -> bool:
        """Write torques (count, nv)."""
        f_ext = self._no_wrench if f_ext is None else f_ext
        if base is None:
            batch.rnea_batch(self._arrays, self.workspace, q, qd, qdd, load[:3], f_ext, result)
            return _finite(q, qd, qdd, f_ext, result)
        batch.rnea_on_moving_base_batch(self._arrays, self.workspace, q, qd, qdd, *base, load[:3], f_ext, result)
        return _finite(q, qd, qdd, f_ext, *base, result)

    def bias_torque(self, q, qd, load, result) -> bool:
        """Write torques (count, nv) at zero acceleration."""
        return self.inverse_dynamics(q, qd, np.zeros_like(qd), load, result)

    def gravity_torque(self, q, load, result) -> bool:
        """Write torques (count, nv) at rest."""
        rest = np.zeros_like(result)
        return self.inverse_dynamics(q, rest, rest, load, result)

    def mass_matrix(self, q, load, result) -> bool:
        """Write mass matrices (count, nv, nv); ``load`` has no part in them."""
        batch.crba_batch(self._arrays, self.workspace, q, result)
        return _finite(q, result)

    def mass_matrix_inverse(self, q, load, result) -> bool:
        """Write inverses of mass matrices (count, nv, nv); ``load`` has no part in them."""
        batch.mass_matrix_inverse_batch(self._arrays, self.workspace, q, result)
        return _finite(q, result)

    def forward_dynamics(self, q, qd, tau, load, result, f_ext=None, base=None) -> bool:
        """Write accelerations (count, nv)."""
        f_ext = self._no_wrench if f_ext is None else f_ext
        if base is None:
            self._forward(self._arrays, self.workspace, q, qd, tau, load[:3], f_ext, result)
            return _finite(q, qd, tau, f_ext, result)
        # qdd = M^-1 (tau - h): what is left of tau moves the robot as if it were at rest on a still base, weightless
        h, rest = np.empty_like(tau), np.zeros_like(tau)
        finite = self.inverse_dynamics(q, qd, rest, load, h, f_ext, base)
        return finite & self.forward_dynamics(q, rest, tau - h, np.zeros_like(load), result)

    def torque_regressor(self, q, qd, qdd, load, result) -> bool:
        """Write torque regressors (count, nv, 10 n)."""
        batch.torque_regressor_batch(self._arrays, self.workspace, q, qd, qdd, load[:3], result)
        return _finite(q, qd, qdd, result)

    def inverse_dynamics_derivatives(self, q, qd, qdd, load, result, f_ext=None) -> bool:
        """Write derivatives (count, 3, nv, nv) by q, qd, qdd."""
        f_ext = self._no_wrench if f_ext is None else f_ext
        batch.rnea_derivatives_batch(self._arrays, self.workspace, q, qd, qdd, load[:3], f_ext, result)
        return _finite(q, qd, qdd, f_ext, result)

    def forward_dynamics_derivatives(self, q, qd, tau, load, result, f_ext=None) -> bool:
        """Write derivatives (count, 3, nv, nv) by q, qd, tau."""
        f_ext = self._no_wrench if f_ext is None else f_ext
        batch.forward_derivatives_batch(self._arrays, self.workspace, q, qd, tau, load[:3], f_ext, result)
        return _finite(q, qd, tau, f_ext, result)

    def add(self, name: str, program: str, *frame) -> None:
        """Take one more program under a name: one of a frame, as ``kinematics`` knows frames."""
        setattr(self, name, partial(self._of_frame, OF_A_FRAME[program], frame))

    def _of_frame(self, loop, frame: tuple, *arrays) -> bool:
        """Write what a loop makes of rows and a frame; the last two arrays are the load and the result."""
        *rows, _, result = arrays
        loop(self._arrays, self.workspace, *rows, *frame, result)
        return _finite(*rows, result)

    def velocity_without_inertia(self, q) -> int | None:
        """Return the outermost velocity, from 0, with no inertia to accelerate at one of q (count, nq), or None."""
        rest, qdd = np.zeros((1, self._arrays.nv)), np.empty((1, self._arrays.nv))
        for state in q[:, None]:
            work = self.workspace
            batch.aba_batch(self._arrays, work, state, rest, rest, np.zeros(3), self._no_wrench, qdd)
            (still,) = np.nonzero(~(work.d[1:] > 0.0))
            if len(still):  # NaN goes on from the outermost towards the base
                return int(still[-1])
        return None


class NoSingle:
    """Stands where a robot has no specialised code: every program refuses, and the batch answers."""

    def __getattr__(self, name: str):
        """Return what refuses as compiled code refuses an argument that does not fit."""
        return refuse


def refuse(*arguments):
    """Refuse whatever comes, as compiled code refuses an argument that does not fit."""
    raise TypeError


def _finite(*arrays) -> bool:
    """Return whether all numbers of all arrays are finite."""
    return all(bool(np.isfinite(array).all()) for array in arrays)
