"""The generic binding: kernels over model arrays, for any robot."""

import threading

import numpy as np

from robot_dynamics_ros.dynamics import batch
from robot_dynamics_ros.dynamics.model import ModelArrays, Workspace

MOST_JOINTS_OF_CRBA_FORWARD = 12
"""Up to here forward dynamics by mass matrix takes no more operations than the articulated-body algorithm.

Counted for chains on 2026-11-20: 5,869 against 6,363 for 10 joints, 7,943 against 7,841 for 12; branched trees gain.
"""


class _Scratch(threading.local):
    """One workspace a thread: kernels run without the GIL."""

    def __init__(self, joints: int):
        self.workspace = Workspace.of(joints)


class Generic:
    """Batches of states in rows (count, n); each method writes ``result`` and tells if all numbers are finite.

    ``load`` is as for the specialised binding, of which only gravity, its first three numbers, is read here: the last
    link's parameters are those of the arrays. ``f_ext`` (1 or count, n + 1, 6) acts on the links.
    """

    def __init__(self, arrays: ModelArrays):
        """Take the robot's arrays."""
        self._arrays = arrays
        joints = len(arrays.parent) - 1
        self._scratch = _Scratch(joints)
        self._no_wrench = np.zeros((1, joints + 1, 6))
        by_mass_matrix = joints <= MOST_JOINTS_OF_CRBA_FORWARD
        self._forward = batch.crba_forward_batch if by_mass_matrix else batch.aba_batch

    @property
    def workspace(self) -> Workspace:
        """The workspace of this thread."""
        return self._scratch.workspace

    def inverse_dynamics(self, q, qd, qdd, load, result, f_ext=None) -> bool:
        """Write torques (count, n)."""
        f_ext = self._no_wrench if f_ext is None else f_ext
        batch.rnea_batch(self._arrays, self.workspace, q, qd, qdd, load[:3], f_ext, result)
        return _finite(q, qd, qdd, f_ext, result)

    def bias_torque(self, q, qd, load, result) -> bool:
        """Write torques (count, n) at zero acceleration."""
        return self.inverse_dynamics(q, qd, np.zeros_like(q), load, result)

    def gravity_torque(self, q, load, result) -> bool:
        """Write torques (count, n) at rest."""
        rest = np.zeros_like(q)
        return self.inverse_dynamics(q, rest, rest, load, result)

    def mass_matrix(self, q, load, result) -> bool:
        """Write mass matrices (count, n, n); ``load`` has no part in them."""
        batch.crba_batch(self._arrays, self.workspace, q, result)
        return _finite(q, result)

    def forward_dynamics(self, q, qd, tau, load, result, f_ext=None) -> bool:
        """Write accelerations (count, n)."""
        f_ext = self._no_wrench if f_ext is None else f_ext
        self._forward(self._arrays, self.workspace, q, qd, tau, load[:3], f_ext, result)
        return _finite(q, qd, tau, f_ext, result)

    def torque_regressor(self, q, qd, qdd, load, result) -> bool:
        """Write torque regressors (count, n, 10 n)."""
        batch.torque_regressor_batch(self._arrays, self.workspace, q, qd, qdd, load[:3], result)
        return _finite(q, qd, qdd, result)

    def joint_without_inertia(self, q) -> int | None:
        """Return the outermost joint, from 0, that has no inertia to accelerate at one of q (count, n), or None."""
        joints = q.shape[1]
        rest, qdd = np.zeros((1, joints)), np.empty((1, joints))
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
        return self._refuse

    def _refuse(self, *arguments):
        raise TypeError


def _finite(*arrays) -> bool:
    """Return whether all numbers of all arrays are finite."""
    return all(bool(np.isfinite(array).all()) for array in arrays)
