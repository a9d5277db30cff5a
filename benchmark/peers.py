"""The same questions to other libraries."""

import numpy as np
import pinocchio as pin

from robot_dynamics_ros.importers.library import named_urdf


def pinocchio_calls(robot) -> dict:
    """Return Pinocchio's call from Python for each program, at one random state of the AUBO-i5 with our rotors."""
    model = pin.buildModelFromXML(named_urdf('aubo_i5').read_text())
    model.armature[:] = robot.rotor_inertia
    data = model.createData()
    q, qd, x = np.random.default_rng(0).normal(size=(3, robot.nv))
    return {
        'inverse_dynamics': lambda: pin.rnea(model, data, q, qd, x),
        'mass_matrix': lambda: pin.crba(model, data, q),
        'forward_dynamics': lambda: pin.aba(model, data, q, qd, x),
        'gravity_torque': lambda: pin.computeGeneralizedGravity(model, data, q),
    }
