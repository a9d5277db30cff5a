"""The lecture's torque curves for a payload of 1 kg and of 5 kg, as far as its figures can be read.

They were made with a model that is no arm (chapter 6, figures 7.5 to 7.7): a standard DH table without offsets, the
links of a UR5, and a payload that REPLACES mass and centre of the last link and keeps its inertia. Ours is added.
The lecture's source names the masses only; that centres and moments are these is shown by the curves themselves.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Frame, Model

CURVES = json.loads((Path(__file__).parents[1] / 'data' / 'payload_curves.json').read_text(encoding='utf-8'))
READABLE = 1e-3  # N m
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


@pytest.mark.parametrize('mass', [1.0, 5.0])
def test_a_payload_that_replaces_the_last_link_yields_the_curves(mass):
    tau = lecture_arm(mass, GRASP).inverse_dynamics(*quintic())
    read = np.array(CURVES[f'{mass:.0f}'])
    assert tau.shape == read.shape == (36, 6) and np.abs(read).max() > 40.0
    assert np.abs(tau - read).max() < READABLE


@pytest.mark.parametrize('mass', [1.0, 5.0])
def test_by_payload_the_same_curves_come_from_an_arm_without_last_link(mass):
    bare = lecture_arm(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    loaded = bare.with_payload(Payload(mass, GRASP, 1e-4 * np.eye(3)), 'tip')
    assert np.abs(loaded.inverse_dynamics(*quintic()) - np.array(CURVES[f'{mass:.0f}'])).max() < READABLE


@pytest.mark.parametrize('mass', [1.0, 5.0])
def test_our_payload_is_added_to_the_last_link_and_weighs_more_than_the_curves(mass):
    q, qd, qdd = quintic()
    _, _, _, last_mass, last_com, last_moments = LINKS[-1]
    added = lecture_arm(last_mass, last_com).with_payload(Payload(mass, GRASP), 'tip').inverse_dynamics(q, qd, qdd)
    read = np.array(CURVES[f'{mass:.0f}'])
    assert np.abs(added - read).max() > 1000.0 * READABLE
    # by what a link has that is not replaced, no more: the last link alone, less the moments that the figures keep
    arm = lecture_arm(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    own = lecture_arm(last_mass, last_com, (0.0, 0.0, 0.0)).inverse_dynamics(q, qd, qdd)
    assert np.abs(added - read - (own - arm.inverse_dynamics(q, qd, qdd))).max() < READABLE
    assert last_moments == (1e-4, 1e-4, 1e-4)
