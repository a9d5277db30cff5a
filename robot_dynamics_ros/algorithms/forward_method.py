"""Choice of the method of forward dynamics by the shape of a robot, where the caller names none."""

import numpy as np

from robot_dynamics_ros.model.arrays import ModelArrays

FORCE_AT_PARENT, ENTRY_OF_MASS_MATRIX = 8, 2
"""Time of these steps, relative to one subtraction in ``ltdl``.

The composite-rigid-body algorithm transforms a force once for each link before a velocity's own, and computes an entry
of M for each velocity before it. For each velocity ``ltdl`` subtracts a (a + 1) / 2 products, a the number of
velocities before it.
"""
MOST_FOR_A_VELOCITY = 60
"""These steps take less time than articulated bodies up to this number of subtractions for each velocity.

Fitted to chains, trees and robots of example-robot-data. Time and operations by mass matrix relative to those by
articulated bodies, with AVX-512, 2026-11-22; "specialised" is one state and a batch of 400:

    robot                       velocities   steps      specialised     generic   operations   chosen
    chain                             6        21                           0.96       0.76      mass matrix
    chain                             8        46        0.85, 0.93         1.02       0.84      mass matrix
    chain                            10        62        1.08, 1.02         1.08       0.92      articulated
    chain                            12        79        1.23, 1.12         1.19       1.00      articulated
    chain                            30       295                           2.58       1.93      articulated
    binary tree                      15        27        0.81, 0.80         0.95       0.72      mass matrix
    binary tree                      63        52                           1.15       0.86      mass matrix
    binary tree                     127        67                           1.33                 articulated
    Allegro hand                     16        18        0.84, 0.79         0.87       0.66      mass matrix
    the same on a free joint         22        52        0.87, 0.93         1.15       0.87      mass matrix
    Solo 12 on a free joint          18        43        0.90, 0.91         1.10       0.85      mass matrix
    Baxter                           19        49        0.81, 0.91         1.03       0.82      mass matrix
    G1                               29        54        0.88, 0.96         1.06       0.80      mass matrix
    G1 on a free joint               35       101        1.14, 1.05         1.39       1.08      articulated
    Talos, 32 joints                 32        52        0.86, 0.83         1.05       0.81      mass matrix
    the same on a free joint         38        99        1.18, 1.15         1.48       1.13      articulated
    Talos, 44 joints                 44        77        1.05, 1.03         1.27       1.00      articulated

"steps" are those for each velocity. Straight-line code decides, since it is compiled where time matters; a robot that
only has generic code may lose 15 %.
"""


def articulated_bodies_pay(arrays: ModelArrays) -> bool:
    """Return whether forward dynamics by articulated bodies is faster for this tree than by mass matrix.

    All bindings of a robot give the same numbers, so one answer serves them all; it depends on the tree alone.
    """
    # numbers of links and of velocities before each one
    links, velocities = np.zeros(arrays.n + 1, np.int64), np.zeros(arrays.nv + 1, np.int64)
    links[0] = velocities[0] = -1
    for i in range(1, arrays.n + 1):
        links[i] = links[arrays.parent[i]] + 1
    for k in range(1, arrays.nv + 1):
        velocities[k] = velocities[arrays.before[k]] + 1
    before = velocities[1:]
    transforms = np.repeat(links[1:], np.diff(arrays.first[1:])).sum()
    steps = FORCE_AT_PARENT * transforms + ENTRY_OF_MASS_MATRIX * before.sum() + (before * (before + 1) // 2).sum()
    return bool(steps > MOST_FOR_A_VELOCITY * arrays.nv)
