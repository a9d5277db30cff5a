"""A quantity that the package does not have, as somebody would add it: a kernel, a row of the table and a method."""

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.table import Algorithm
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.motion import no_motion
from robot_dynamics_ros.kernels.rnea import rnea


@kernel
def power_of_gravity(model, work, q, qd, gravity, f_ext, P):
    """Write P (1, W), the power of gravity at q (nq, rad or m), qd (nv, per s).

    Writes ``P`` and the arrays E r w a B f h rest still of ``work``. Reads ``model``, ``gravity`` (3, m/s^2, base
    frame) and ``f_ext``, zeros.
    """
    # h = g(q)
    no_motion(work)
    rnea(model, work, q, work.rest, work.rest, work.still, work.still, gravity, f_ext, work.h)
    # P = -h' qd
    P[0] = 0.0
    for k in range(work.h.shape[0]):
        P[0] -= work.h[k] * qd[k]


ROW = Algorithm(power_of_gravity, ('q', 'qd'))


class WithPower(Robot):
    """A robot with this quantity."""

    def power_of_gravity(self, q, qd, out=None):
        """Return the power of gravity (..., W) at q (..., nq) and qd (..., nv)."""
        return self._evaluate('power_of_gravity', self._inputs, out, q, qd)
