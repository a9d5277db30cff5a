"""The lecture's torque curves for a payload of 1 kg and of 5 kg, as far as its figures can be read.

They were made with a model that is no arm (chapter 6, figures 7.5 to 7.7): a standard DH table without offsets, the
links of a UR5, and a payload that REPLACES mass and centre of the last link and keeps its inertia. Ours is added.
The lecture's source names the masses only; that centres and moments are these is shown by the curves themselves.
"""

from support.robots.printed_torques import CURVES, GRASP, LINKS, lecture_arm, quintic

import numpy as np
import pytest

from robot_dynamics_ros import Payload

READABLE = 1e-3  # N m


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
