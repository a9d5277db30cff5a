"""Pose at which a Cartesian impedance holds its frame: it follows the frame along the axes that have no stiffness.

With the error e of the frame (``pose_error``) and m = 1 for a free axis, else 0,

    p_d := p_d - m e_t,     R_d := C(m e_r)' R_d,     C(w) = 1 + ([w] + [w]^2 / 2) / (1 + |w|^2 / 4)

in the axes of the stiffness; C turns about w by nearly |w| (Cayley). The error of other axes stays as it is, and so
does their torque. So an arm may be guided along a line or a plane, or about a point, and is held there when these axes
get a stiffness again: nothing pulls it back, and what carries a load goes on.
"""

from collections.abc import Callable
from math import nan

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.laws.impedance.pose_error import pose_error
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.jit.compiled import compiled, declaration_of
from robot_dynamics_ros.jit.kinds import Matrix, Vector


@compiled(given='q_desired T T_d')
def hold_frame(
    K: Matrix, local: bool, last: Vector, held: Matrix, guided: Vector, R: Matrix, S: Matrix, e: Vector,
    q_desired: Vector, T: Matrix, T_d: Matrix,
) -> None:  # fmt: skip
    """Let the ``held`` pose (4, 4) follow T (4, 4) along free axes, and write it into T_d (4, 4).

    An axis is free where K (6, 6) is 0; the axes are those of T where ``local``. Where q_desired (n) is not the one of
    the ``last`` call (n), the held pose is T_d at first. guided (1) is 1 once an axis of this pose was free, else 0.
    R, S (3, 3) and e (6) are scratch.
    """
    other = False
    for k in range(last.shape[0]):
        other |= last[k] != q_desired[k]
        last[k] = q_desired[k]
    if other:
        guided[0] = 0.0
        for i in range(4):
            for j in range(4):
                held[i, j] = T_d[i, j]
    free = False
    for k in range(6):
        free |= K[k, k] == 0.0
    if free:
        guided[0] = 1.0
        pose_error(T, held, local, R, e)
        for k in range(6):
            e[k] = e[k] if K[k, k] == 0.0 else 0.0
        if local:
            for part in range(2):
                a = 3 * part
                x, y, z = e[a], e[a + 1], e[a + 2]
                for i in range(3):
                    e[a + i] = T[i, 0] * x + T[i, 1] * y + T[i, 2] * z
        # p_d := p_d - m e_t
        for i in range(3):
            held[i, 3] -= e[3 + i]
        # C(-w) = 1 + (w w' / 2 - [w] - |w|^2 / 2) / (1 + |w|^2 / 4)
        x, y, z = e[0], e[1], e[2]
        square = x * x + y * y + z * z
        c = 1.0 / (1.0 + 0.25 * square)
        S[0, 0], S[0, 1], S[0, 2] = 1.0 + c * 0.5 * (x * x - square), c * (0.5 * x * y + z), c * (0.5 * x * z - y)
        S[1, 0], S[1, 1], S[1, 2] = c * (0.5 * x * y - z), 1.0 + c * 0.5 * (y * y - square), c * (0.5 * y * z + x)
        S[2, 0], S[2, 1], S[2, 2] = c * (0.5 * x * z + y), c * (0.5 * y * z - x), 1.0 + c * 0.5 * (z * z - square)
        for i in range(3):
            for j in range(3):
                R[i, j] = S[i, 0] * held[0, j] + S[i, 1] * held[1, j] + S[i, 2] * held[2, j]
        for i in range(3):
            for j in range(3):
                held[i, j] = R[i, j]
    for i in range(4):
        for j in range(4):
            T_d[i, j] = held[i, j]


class HeldPose:
    """The pose of the module, which laws of one impedance share.

    Parameters
    ----------
    stiffness : Stiffness
        What the laws share, too.
    joints : int
        n.
    is_local : bool
        Whether its axes are those of the frame, else of the base.

    Attributes
    ----------
    joints : ndarray, (n,)
        Where the joints are with the frame at this pose, nearly; the law writes it.
    numbers : dict
        What is bound of ``hold_frame``, by the names of its parameters.
    """

    def __init__(self, stiffness: Stiffness, joints: int, is_local: bool):
        self._stiffness, self._pose, self._q = stiffness, np.eye(4), np.full(joints, nan)
        self._guided = np.zeros(1)
        self.joints: np.ndarray = np.zeros(joints)
        scratch = *np.zeros((2, 3, 3)), np.zeros(6)
        fixed = stiffness.K, is_local, self._q, self._pose, self._guided, *scratch
        self.numbers: dict[str, np.ndarray | float | bool] = dict(
            zip(declaration_of(hold_frame).fixed, fixed, strict=True)
        )
        self.write: Callable[[np.ndarray, np.ndarray, np.ndarray], None] = bound(
            hold_frame, *fixed, then=(np.zeros(joints), np.eye(4), np.eye(4))
        )

    @property
    def is_free(self) -> bool:
        """Whether an axis is, or becomes, one without stiffness."""
        return self._stiffness.is_free

    @property
    def is_guided(self) -> bool:
        """Whether it may be another one than that of the joints that are held."""
        return bool(self._guided[0])

    def forget(self) -> None:
        """Hold nothing: the arm is led."""
        self._q.fill(nan)
        self._guided.fill(0.0)

    def continue_from(self, before: 'HeldPose') -> None:
        """Hold the same frame of another description of the arm where ``before`` does."""
        self._pose[:], self._q[:], self.joints[:] = before._pose, before._q, before.joints
        self._guided[:] = before._guided
