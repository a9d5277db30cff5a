"""The torques that the lecture's notebook prints, from its own table and figures.

The notebook (mhuasong/Basics-of-Robotics-Theory-and-Technology, chapter 4) works with modified DH frames, of
which the first four are not the link frames of the URDF, and uses the link figures in these frames as they are:
a check of the equations, not of the arm. Its figures are cut to fewer digits than table 4.5 has; with those of
the table the torques differ by up to 0.015 N m.
"""

from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_dynamics_ros.jit.batch_loop import batch_loop
from robot_dynamics_ros.kernels.rnea import rnea
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model, Workspace

FACTS = yaml.safe_load((Path(__file__).parents[1] / 'data' / 'aubo_i5_facts.yaml').read_text(encoding='utf-8'))
MASS = [1.576, 4.041, 2.271, 0.500, 0.500, 0.158]  # kg
COM = [  # m
    [0, 0.0053, -0.0088],
    [0.2039, 0, 0.0127],
    [0.1889, 0, 0.0981],
    [0, 0.0062, -0.0039],
    [0, -0.0062, -0.0039],
    [0, 0.00017, -0.0213],
]
INERTIA = [  # 1e-4 kg m^2, about the centre
    [40.640, 29.286, 30.869],
    [96.539, 1449.938, 1426.071],
    [21.432, 443.926, 441.273],
    [7.119, 4.058, 6.855],
    [7.119, 4.058, 6.855],
    [0.7313, 0.7195, 1.0877],
]
PRINTED = {
    1: [
        0.0181626704240002,
        -26.5205316694276,
        7.1811666080476,
        0.0154915367324,
        -0.002969978444,
        2.230554324e-4,
    ],
    -1: [
        0.0181626704240002,
        34.0540954465724,
        -9.7783594299524,
        0.0154915367324,
        -0.002969978444,
        2.230554324e-4,
    ],
}


def notebook_model() -> Model:
    table = FACTS['geometry']['lecture_code_folder_mdh']
    joints = []
    for i, (alpha, a, d, offset) in enumerate(
        zip(table['alpha_im1'], table['a_im1'], table['d'], table['theta_offset'], strict=True)
    ):
        # modified DH: Rx(alpha) Tx(a) Tz(d) Rz(offset + q)
        (sa, ca), (so, co) = ((np.sin(angle), np.cos(angle)) for angle in (alpha, offset))
        about_x, about_z = [[1, 0, 0], [0, ca, -sa], [0, sa, ca]], [[co, -so, 0], [so, co, 0], [0, 0, 1]]
        inertia = ten_parameters(MASS[i], COM[i], 1e-4 * np.diag(INERTIA[i]))
        origin, axis = np.array([a, -sa * d, ca * d]), np.array([0.0, 0.0, 1.0])
        names = (f'joint{i}', f'link{i}', f'link{i - 1}')
        joints.append(Joint(*names, 'revolute', axis, np.array(about_x) @ about_z, origin, inertia))
    return Model.of('notebook', 'link-1', joints)


@pytest.mark.parametrize('sign', PRINTED)
def test_the_printed_torques(sign):
    q = sign * np.array([[0, np.pi / 2, 0, np.pi / 2, 0, 0]])
    qd, qdd, tau = np.zeros((1, 6)), np.array([[0, 2.0, 0, 0, 0, 0]]), np.empty((1, 6))
    gravity = np.array([0, 0, -9.81])
    batch_loop(rnea)(
        (arrays := notebook_model().arrays), Workspace.of(arrays), q, qd, qdd, gravity, np.zeros((1, 7, 6)), tau
    )
    assert tau[0] == pytest.approx(PRINTED[sign], abs=1e-9)
