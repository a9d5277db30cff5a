"""Joint friction for batches of states."""

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.evaluation.evaluator import Evaluator, filled


def friction_torque(evaluator: Evaluator, qd, tau, out) -> np.ndarray:
    """Return friction torques (..., nv; N m, N) at qd; tau are the transmitted torques, for load-dependent friction."""
    model = evaluator.model
    if tau is None:
        load_dependent = np.flatnonzero(model.friction.load)
        if len(load_dependent):
            joint = model.joint_of_velocity(int(load_dependent[0]))
            raise ArgumentError(
                f'tau: required, since the friction of joint {joint!r} grows with the torque it transmits'
            )
        tau = np.zeros(evaluator.arrays.nv)
    (qd, tau), shape = evaluator.states(qd=qd, tau=tau)
    given, torque = validation.result(out, (*shape, evaluator.arrays.nv), (qd, tau))
    evaluator.friction_of_rows(qd, tau, torque.reshape(qd.shape))
    return filled(given, torque)
