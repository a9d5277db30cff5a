"""Fewer inertial parameters that give the same joint torques.

What a joint can't feel is carried over to the parent link: for a revolute joint mass on its axis, which the joint does
not move; for a prismatic joint the second moments, for it does not turn them. Torques, mass matrix and accelerations
stay; the force on the base, energies and centres of mass of single links do not.
"""

import numpy as np

from robot_dynamics_ros.model.inertial_parameters import parameters_of_moments, second_moments
from robot_dynamics_ros.model.model import ModelArrays


def regrouped(arrays: ModelArrays) -> ModelArrays:
    """Return the arrays with the minimal parameters of all links but the last, which takes the payload as it comes.

    A revolute joint's link keeps no mass, no first moment and no second moment along its axis, a prismatic joint's link
    no second moments (Gautier & Khalil 1990, section III, written with second moments P about the link's origin).
    Links on other joints keep what they have.
    """
    m, h = arrays.I[:, 0].copy(), arrays.I[:, 1:4].copy()
    P = np.array([second_moments(row) for row in arrays.I])
    for i in range(len(arrays.parent) - 2, 0, -1):
        p, r, turns = arrays.parent[i], arrays.r0[i], arrays.angle[i] >= 0
        if not arrays.is_revolute_or_prismatic(i):
            continue
        axis, E = arrays.S[arrays.first[i], :3], arrays.E0[i] + arrays.Ec[i]
        if turns:
            # on the axis: mass m_i, first moment s along it, second moment t
            s, t = axis @ h[i], axis @ P[i] @ axis
            in_parent = E.T @ axis
            across = np.outer(r, in_parent)
            P[p] += m[i] * np.outer(r, r) + s * (across + across.T) + t * np.outer(in_parent, in_parent)
            h[p] += m[i] * r + s * in_parent
            m[p] += m[i]
            m[i], h[i], P[i] = 0.0, h[i] - s * axis, P[i] - t * np.outer(axis, axis)
        else:
            P[p] += E.T @ P[i] @ E
            P[i] = 0.0
    inertia = np.array([parameters_of_moments(*moments) for moments in zip(m, h, P, strict=True)])
    inertia[-1] = arrays.I[-1]
    return arrays._replace(I=inertia)
