"""The torques that the lecture's notebook prints, from its own table and figures.

The notebook (mhuasong/Basics-of-Robotics-Theory-and-Technology, chapter 4) works with modified DH frames, of
which the first four are not the link frames of the URDF, and uses the link figures in these frames as they are:
a check of the equations, not of the arm. Its figures are cut to fewer digits than table 4.5 has; with those of
the table the torques differ by up to 0.015 N m.
"""

from support.code.robots_code import loop_of
from support.robots.printed_torques import NOTEBOOK_TORQUES, notebook_model

import numpy as np
import pytest

from robot_dynamics_ros.kernels.rnea import rnea
from robot_dynamics_ros.model.arrays import Workspace


@pytest.mark.parametrize('sign', NOTEBOOK_TORQUES)
def test_the_printed_torques(sign):
    q = sign * np.array([[0, np.pi / 2, 0, np.pi / 2, 0, 0]])
    qd, qdd, tau = np.zeros((1, 6)), np.array([[0, 2.0, 0, 0, 0, 0]]), np.empty((1, 6))
    gravity = np.array([0, 0, -9.81])
    loop_of(rnea)(
        (arrays := notebook_model().arrays), Workspace.of(arrays), q, qd, qdd, gravity, np.zeros((1, 7, 6)), tau
    )
    assert tau[0] == pytest.approx(NOTEBOOK_TORQUES[sign], abs=1e-9)
