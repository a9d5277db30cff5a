"""Joint friction, for one state or for a batch of states."""

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.kernels.friction import friction_torque
from robot_dynamics_ros.robot.evaluator import Evaluator, filled


class JointFriction:
    """Friction torques of one robot's joints."""

    def __init__(self, evaluator: Evaluator):
        """Bind compiled code to the friction parameters of the evaluator's model."""
        self._evaluator = evaluator
        model = evaluator.model
        load_dependent = np.flatnonzero(model.friction.load)
        self._load_dependent = model.joint_of_velocity(int(load_dependent[0])) if len(load_dependent) else None
        self._zeros = np.zeros(evaluator.arrays.nv)
        friction = np.array(model.friction)
        rows, W = np.zeros((0, evaluator.arrays.nv)), model.motor_velocities()
        self._coupled = bool(model.motor_coupling)
        self._of_state = bound(_of_state, friction, W, then=(self._zeros,) * 4)
        self._of_rows = bound(_of_rows, friction, W, then=(rows, rows, self._zeros, rows), nogil=True)
        self._checks_types = not numba_is_disabled() and evaluator.arrays.nv > 0

    def torque(self, qd, tau, out) -> np.ndarray:
        """Return friction torques (..., nv; N m, N) at qd under the transmitted torques tau, by default none."""
        if tau is None:
            if self._load_dependent is not None:
                raise ArgumentError(
                    f'tau: required, since the friction of joint {self._load_dependent!r} grows with the torque it '
                    'transmits'
                )
            tau = self._zeros
        if out is None and self._checks_types:
            torque = np.empty(len(self._zeros))
            try:
                if self._of_state(qd, tau, np.empty(len(torque)) if self._coupled else torque, torque):
                    return torque
            except TypeError:  # a batch, or what has to be converted or rejected
                pass
        (qd, tau), shape = self._evaluator.states(qd=qd, tau=tau)
        given, torque = validation.result(out, (*shape, len(self._zeros)), (qd, tau))
        self._of_rows(qd, tau, np.empty(len(self._zeros)), torque.reshape(qd.shape))
        return filled(given, torque)


@compiled(given='qd tau motors torque')
def _of_state(friction: Matrix, W: Matrix, qd: Vector, tau: Vector, motors: Vector, torque: Vector) -> bool:
    """Write torque (nv), ``friction_torque``; return whether all numbers are finite."""
    friction_torque(friction, W, qd, tau, motors, torque)
    total = 0.0
    for i in range(torque.shape[0]):
        # 0, or NaN
        total += torque[i] * 0.0
    return total == 0.0


@compiled(given='qd tau motors torque')
def _of_rows(friction: Matrix, W: Matrix, qd: Matrix, tau: Matrix, motors: Vector, torque: Matrix) -> None:
    """Write torque (count, nv), ``friction_torque`` of each state."""
    for b in range(torque.shape[0]):
        friction_torque(friction, W, qd[b], tau[b], motors, torque[b])
