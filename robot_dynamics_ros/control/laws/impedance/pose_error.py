"""Error of a pose: rotation and translation from a frame to a desired one.

The rotation is 2 sin(t / 2) about its axis for the angle t <= pi between both attitudes, so it points the shorter way
and is singular at half a turn alone; with R_e = R_d R' it is

    e_r = (R_e - R_e')^v / sqrt(1 + tr R_e)

References
----------
Caccavale, Natale, Siciliano & Villani 1999, Six-DOF impedance control based on angle/axis representations, IEEE Trans.
Robotics and Automation 15(2).
"""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel

HALF_TURN = 1e-12
"""Least value of 1 + tr R_e: at half a turn there is no shorter way."""


@kernel
def pose_error(T, T_d, local, R_e, e):
    """Write e (6; rad, m), rotation and translation from pose T to T_d (4, 4), in the axes of T where ``local``.

    R_e (3, 3) is scratch.
    """
    # R_e = R_d R'
    for i in range(3):
        for j in range(3):
            R_e[i, j] = T_d[i, 0] * T[j, 0] + T_d[i, 1] * T[j, 1] + T_d[i, 2] * T[j, 2]
    # e_r = (R_e - R_e')^v / sqrt(1 + tr R_e)
    half = 1.0 / np.sqrt(max(HALF_TURN, 1.0 + R_e[0, 0] + R_e[1, 1] + R_e[2, 2]))
    e[0], e[1], e[2] = half * (R_e[2, 1] - R_e[1, 2]), half * (R_e[0, 2] - R_e[2, 0]), half * (R_e[1, 0] - R_e[0, 1])
    e[3], e[4], e[5] = T_d[0, 3] - T[0, 3], T_d[1, 3] - T[1, 3], T_d[2, 3] - T[2, 3]
    if local:
        for part in range(2):
            x, y, z = e[3 * part], e[3 * part + 1], e[3 * part + 2]
            e[3 * part] = T[0, 0] * x + T[1, 0] * y + T[2, 0] * z
            e[3 * part + 1] = T[0, 1] * x + T[1, 1] * y + T[2, 1] * z
            e[3 * part + 2] = T[0, 2] * x + T[1, 2] * y + T[2, 2] * z
