"""Robots whose torques are printed or drawn: golden_rnea.json, the lecture's notebook and its payload curves."""

import json
from pathlib import Path

import numpy as np
import yaml

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import share_folder
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Frame, Model

DATA = Path(__file__).parents[2] / 'data'
FACTS = yaml.safe_load((DATA / 'aubo_i5_facts.yaml').read_text(encoding='utf-8'))
GOLDEN = json.loads((DATA / 'golden_rnea.json').read_text(encoding='utf-8'))
URDF = share_folder() / 'urdf'
CURVES = json.loads((DATA / 'payload_curves.json').read_text(encoding='utf-8'))
NOTEBOOK_MASS = [1.576, 4.041, 2.271, 0.500, 0.500, 0.158]  # kg
NOTEBOOK_COM = [  # m
    [0, 0.0053, -0.0088],
    [0.2039, 0, 0.0127],
    [0.1889, 0, 0.0981],
    [0, 0.0062, -0.0039],
    [0, -0.0062, -0.0039],
    [0, 0.00017, -0.0213],
]
NOTEBOOK_INERTIA = [  # 1e-4 kg m^2, about the centre
    [40.640, 29.286, 30.869],
    [96.539, 1449.938, 1426.071],
    [21.432, 443.926, 441.273],
    [7.119, 4.058, 6.855],
    [7.119, 4.058, 6.855],
    [0.7313, 0.7195, 1.0877],
]
NOTEBOOK_TORQUES = {
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
# standard DH: a (m), d (m), alpha (degrees) of each link; its mass (kg), centre (m) and moments (kg m^2) in its frame
LINKS = [
    (0.0, 0.0985, 90, 3.7, (0.0, -0.02561, 0.00193), (0.0084, 0.0064, 0.0084)),
    (-0.408, 0.0, 0, 8.393, (0.2125, 0.0, 0.11336), (0.0078, 0.21, 0.21)),
    (-0.376, 0.0, 0, 2.33, (0.15, 0.0, 0.0265), (0.0016, 0.0462, 0.0462)),
    (0.0, 0.1215, 90, 1.219, (0.0, -0.0018, 0.01634), (0.0016, 0.0016, 0.0009)),
    (0.0, 0.1025, -90, 1.219, (0.0, -0.0018, 0.01634), (0.0016, 0.0016, 0.0009)),
    (0.0, 0.094, 0, 0.1897, (0.0, 0.0, -0.001159), (1e-4, 1e-4, 1e-4)),
]
GRASP = (0.0, 0.0, 0.1)  # m, frame of the last link


def with_inertials_of(model: Model, name: str) -> Model:
    """Return ``model`` with another set of inertials of the facts."""
    rows = [np.zeros(10)]
    for link in FACTS['link_names'][1:]:
        figures = FACTS['inertial'][name]['links'][link]
        xx, xy, xz, yy, yz, zz = figures['inertia']
        inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        rows.append(ten_parameters(figures['mass'], figures['com'], inertia))
    return Model(**{**vars(model), 'arrays': model.arrays._replace(I=np.array(rows))})


def rigid_body(name: str) -> Model:
    """Return the model without rotors, with the inertials that golden_rnea.json calls ``name``."""
    model = model_from_urdf(URDF / ('aubo_i5_lecture.urdf' if name == 'lecture' else 'aubo_i5.urdf'))
    return with_inertials_of(model, 'ros1_cad') if name == 'ros1' else model


def notebook_model() -> Model:
    """Return the robot of the lecture's notebook, in its modified DH frames."""
    table = FACTS['geometry']['lecture_code_folder_mdh']
    joints = []
    for i, (alpha, a, d, offset) in enumerate(
        zip(table['alpha_im1'], table['a_im1'], table['d'], table['theta_offset'], strict=True)
    ):
        # modified DH: Rx(alpha) Tx(a) Tz(d) Rz(offset + q)
        (sa, ca), (so, co) = ((np.sin(angle), np.cos(angle)) for angle in (alpha, offset))
        about_x, about_z = [[1, 0, 0], [0, ca, -sa], [0, sa, ca]], [[co, -so, 0], [so, co, 0], [0, 0, 1]]
        inertia = ten_parameters(NOTEBOOK_MASS[i], NOTEBOOK_COM[i], 1e-4 * np.diag(NOTEBOOK_INERTIA[i]))
        origin, axis = np.array([a, -sa * d, ca * d]), np.array([0.0, 0.0, 1.0])
        names = (f'joint{i}', f'link{i}', f'link{i - 1}')
        joints.append(Joint(*names, 'revolute', axis, np.array(about_x) @ about_z, origin, inertia))
    return Model.of('notebook', 'link-1', joints)


def lecture_arm(last_mass, last_com, last_moments=LINKS[-1][-1]) -> Robot:
    """Return the robot of the figures; its frame ``tip`` is the last frame of the DH table.

    Its links' frames are at the joints they turn about, each behind the fixed part of the DH link before it.
    """
    joints, rotation, origin = [], np.eye(3), np.zeros(3)
    for i, (a, d, alpha, mass, com, moments) in enumerate(LINKS, start=1):
        if i == len(LINKS):
            mass, com, moments = last_mass, last_com, last_moments
        parent, at_joint = f'link_{i - 1}' if i > 1 else 'base', (rotation, origin)
        c, s = np.cos(np.radians(alpha)), np.sin(np.radians(alpha))
        rotation, origin = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), np.array([a, 0.0, d])
        inertia = ten_parameters(mass, rotation @ com + origin, rotation @ np.diag(moments) @ rotation.T)
        joints.append(
            Joint(f'joint_{i}', f'link_{i}', parent, 'revolute', np.array([0.0, 0.0, 1.0]), *at_joint, inertia)
        )
    return Robot(Model.of('lecture', 'base', joints, frames={'tip': Frame(len(LINKS), rotation, origin)}))


def quintic():
    """Return q, qd, qdd (36, 6 each) of the figures' motion: 1.96 s, at rest at both ends."""
    start, end = np.radians([0.0, -45.0, 0.0, 0.0, 0.0, 0.0]), np.radians([65.0, -55.0, -35.0, 15.0, 10.0, 5.0])
    x, T = np.linspace(0.0, 1.0, 36), 1.96
    shapes = (
        10 * x**3 - 15 * x**4 + 6 * x**5,
        (30 * x**2 - 60 * x**3 + 30 * x**4) / T,
        (60 * x - 180 * x**2 + 120 * x**3) / T**2,
    )
    return [offset + np.outer(shape, end - start) for offset, shape in zip((start, 0.0, 0.0), shapes, strict=True)]
