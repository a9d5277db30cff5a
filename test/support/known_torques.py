"""The torques of ``printed_torques`` as one list: each with its robot, motion and tolerance."""

from dataclasses import replace
from typing import NamedTuple

from support.printed_torques import (
    CURVES,
    FACTS,
    GOLDEN,
    GRASP,
    NOTEBOOK_TORQUES,
    URDF,
    lecture_arm,
    notebook_model,
    quintic,
)

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.model import Model

READABLE = 1e-3  # N m, of the curves
INERTIALS = {'official': 'aubo_i5', 'ros1': 'aubo_i5', 'lecture': 'aubo_i5_lecture'}
"""Names of golden_rnea.json and the URDF of each; the inertials of ros1 are among the facts."""


class KnownTorques(NamedTuple):
    """A robot, states (m, n each) and the torques (m, n) that are known to ``tolerance`` (N m)."""

    name: str
    robot: Robot
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    tolerance: float


def known_torques() -> list[KnownTorques]:
    """Return all of them; all robots are serial chains of revolute joints."""
    known = []
    for name in INERTIALS:
        q, qd, qdd = (np.array([state[vector] for state in GOLDEN['states']]) for vector in ('q', 'qd', 'qdd'))
        # and at rest
        q, qd, qdd = np.concatenate([q, q]), np.concatenate([qd, 0.0 * qd]), np.concatenate([qdd, 0.0 * qdd])
        tau = np.array([state[torque][name] for torque in ('tau', 'g') for state in GOLDEN['states']])
        known.append(KnownTorques(f'golden, {name}', rigid_aubo_i5(name), q, qd, qdd, tau, 1e-9 * np.abs(tau).max()))
    signs, rest = np.array(list(NOTEBOOK_TORQUES), float), np.zeros((2, 6))
    q, qdd = np.outer(signs, [0, np.pi / 2, 0, np.pi / 2, 0, 0]), np.tile([0, 2.0, 0, 0, 0, 0], (2, 1))
    tau = np.array(list(NOTEBOOK_TORQUES.values()))
    known.append(KnownTorques('notebook', Robot(notebook_model()), q, rest, qdd, tau, 1e-9))
    for mass in (1.0, 5.0):
        tau = np.array(CURVES[f'{mass:.0f}'])
        known.append(KnownTorques(f'curves, {mass} kg', lecture_arm(mass, GRASP), *quintic(), tau, READABLE))
    return known


def rigid_aubo_i5(name: str) -> Robot:
    """Return the AUBO-i5 without rotors, with the inertials that golden_rnea.json calls ``name``."""
    model = Robot.from_urdf(URDF / f'{INERTIALS[name]}.urdf').model
    joints = list(model.joints)
    if name == 'ros1':
        for i, joint in enumerate(joints):
            figures = FACTS['inertial']['ros1_cad']['links'][joint.link]
            xx, xy, xz, yy, yz, zz = figures['inertia']
            inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
            joints[i] = replace(joint, inertia=ten_parameters(figures['mass'], figures['com'], inertia))
    return Robot(Model.of(name, joints[0].parent, joints), GOLDEN['gravity'])
