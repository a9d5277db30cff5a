"""Which constraints of closed loops are independent: the rank test of forward dynamics, for all other quantities."""

import numpy as np

from robot_dynamics_ros.model.closed_loops.loop_audit import characteristic_length
from robot_dynamics_ros.model.closed_loops.loop_types import COMPONENTS
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.robot.evaluator import Evaluator


def steps_of_constraints(evaluator: Evaluator, q) -> np.ndarray:
    """Return M^-1 J' (J M^-1 J')^-1 of the independent constraints at q (..., nq), transposed: (..., m, nv).

    Entry j is the step of least kinetic energy that changes constraint j by 1 and no other independent one. It is
    exactly zero for a dependent constraint, see ``kernels.closed_loops.multipliers``.
    """
    (states,), shape = evaluator.states(q=q)
    m, nv = evaluator.arrays.constraints, evaluator.arrays.nv
    if not m:
        return np.zeros((*shape, m, nv))
    steps = evaluator.result('loop_step', states[:, None, :], np.eye(m))
    return steps.reshape(*shape, m, nv)


def independent_constraints(evaluator: Evaluator, q) -> np.ndarray:
    """Return whether each constraint is independent of those before it, (..., m) at q (..., nq)."""
    return np.asarray(steps_of_constraints(evaluator, q).any(-1))


def units_of_constraints(model: Model) -> np.ndarray:
    """Return the unit (m,) of each constraint's residual: 1 rad, or the robot's characteristic length in m."""
    arrays = model.arrays
    size = characteristic_length(arrays)
    components = [component for it in model.loops.closures for component in COMPONENTS[it.kind]]
    of_closures = [size if 3 <= component < 6 else 1.0 for component in components]
    return np.array([*of_closures, *units_of_velocities(model)[arrays.coupled[:, 0] - 1]])


def units_of_velocities(model: Model) -> np.ndarray:
    """Return the unit (nv,) of a step of each velocity: 1 rad, or the robot's characteristic length in m."""
    return np.where(model.arrays.S[1:, :3].any(1), 1.0, characteristic_length(model.arrays))
