"""Normal equations of an identification: products of the regression's columns for each joint, summed over samples.

The torque of joint j is linear in what is identified::

    tau_j = Y_j pi + qdd_j rotor_j - predicted_j scale_j + F_j(qd_j, transmitted_j) f_j

with the torque regressor Y, the ten parameters pi of each link, the reflected rotor inertia and the friction terms. The
torque constant times 1 + scale_j is the one identified; the predicted torque stands for the measured one, whose noise
would pull the scale towards -1. The
products of all columns are summed in blocks of samples, so that no matrix is as long as the log. Residuals, weights and
the choice of a transition velocity then need the products only.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.identification.friction_terms import TRANSITIONS, FrictionTerms
from robot_dynamics_ros.identification.log import Log
from robot_dynamics_ros.robot import Robot

BLOCK = 2000
"""Samples whose regressors are in memory at a time."""


class Samples(NamedTuple):
    """Data of a regression: torques of a log, and the torques on which friction and weights depend; (m, n) each."""

    log: Log
    torque: np.ndarray  # N m (N)    without those of rotors' spins
    transmitted: np.ndarray  # N m (N)    by the joints, friction excluded
    predicted: np.ndarray  # N m (N)    friction included; 0 where torque constants are fixed
    used: np.ndarray  # bool       whether the sample of the joint counts


class Products(NamedTuple):
    """Products of the columns [Y_j, qdd_j, -predicted_j, friction, tau_j] of each joint j, and numbers of samples."""

    terms: FrictionTerms
    links: int  # number of columns of Y
    sums: np.ndarray  # (n, c, c)
    counts: np.ndarray  # (n,)

    def places(self, joint: int, choice: int) -> tuple[np.ndarray, np.ndarray]:
        """Return places of one joint's columns in ``sums``, and those of their parameters in x.

        x has the parameters of the links, then rotor inertia, scale and friction terms of each joint.
        """
        friction = self.terms.places(choice)
        columns = np.concatenate([np.arange(self.links + 2), self.links + 2 + friction])
        own = 2 + len(friction)
        return columns, np.concatenate([np.arange(self.links), self.links + joint * own + np.arange(own)])

    def normal_equations(self, weights, choices) -> tuple[np.ndarray, np.ndarray]:
        """Return H = sum_j w_j A_j' A_j and b = sum_j w_j A_j' tau_j with weights (n,) and transition choices (n,)."""
        size = self.links + len(self.sums) * (2 + len(self.terms.names))
        H, b = np.zeros((size, size)), np.zeros(size)
        for j, (weight, choice) in enumerate(zip(weights, choices, strict=True)):
            columns, places = self.places(j, choice)
            H[np.ix_(places, places)] += weight * self.sums[j][np.ix_(columns, columns)]
            b[places] += weight * self.sums[j][columns, -1]
        return H, b

    def squares(self, x, choices) -> np.ndarray:
        """Return the sum of squared residuals of each joint, (n,)."""
        result = np.empty(len(self.sums))
        for j, choice in enumerate(choices):
            columns, places = self.places(j, choice)
            # |tau - A x|^2 = [-x, 1]' sums [-x, 1]
            combination = np.append(-x[places], 1.0)
            columns = np.append(columns, self.sums.shape[1] - 1)
            result[j] = combination @ self.sums[j][np.ix_(columns, columns)] @ combination
        return result

    def better_choices(self, x, choices) -> np.ndarray:
        """Return the transition choices (n,) that explain best what the other parameters of x leave."""
        result, first = np.array(choices), self.links + 2
        for j, choice in enumerate(choices):
            # r = tau - A x without friction; F' r and r' r
            combination = np.zeros(self.sums.shape[1])
            combination[:first], combination[-1] = -x[self.places(j, choice)[1][:first]], 1.0
            of_rest = self.sums[j] @ combination
            gram, target = self.sums[j][first:-1, first:-1], of_rest[first:-1]
            result[j] = self.terms.best_transition(gram, target, combination @ of_rest)
        return result


def products(robot: Robot, samples: Samples, terms: FrictionTerms) -> Products:
    """Return the products of the columns of ``samples``, with the geometry and gravity of ``robot``."""
    log, temperature = samples.log, samples.log.temperature
    warmth = np.zeros_like(log.qd) if temperature is None else temperature - temperature.mean(axis=0)
    velocity = robot.model.friction.stribeck_velocity
    links, n = len(robot.inertial_parameters), robot.nv
    size = links + len(terms.smooth) + len(TRANSITIONS) * len(terms.signed) + 3
    sums = np.zeros((n, size, size))
    for start in range(0, len(log), BLOCK):
        block = slice(start, start + BLOCK)
        q, qd, qdd = log.q[block], log.qd[block], log.qdd[block]
        Y = robot.torque_regressor(q, qd, qdd)
        for j in range(n):
            F = terms.columns(qd[:, j], samples.transmitted[block, j], velocity[j], warmth[block, j])
            single = qdd[:, j], -samples.predicted[block, j], F, samples.torque[block, j]
            A = np.column_stack([Y[:, j], *single])[samples.used[block, j]]
            # links before joint j have no part in its torque
            filled = np.flatnonzero(A.any(axis=0))
            part = A[:, filled]
            sums[j][np.ix_(filled, filled)] += part.T @ part
    return Products(terms, links, sums, samples.used.sum(axis=0))
