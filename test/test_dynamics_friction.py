"""Joint friction: odd without its offset, Coulomb in the end, smooth where a joint turns round."""

import dataclasses

import numpy as np
import pytest
import random_trees as trees

from robot_dynamics_ros.dynamics.friction import friction_torque
from robot_dynamics_ros.dynamics.model import Model

VISCOUS = np.array([0.5, 9.0, 0.0])
COULOMB = np.array([3.0, 0.0, 12.0])
TRANSITION = np.array([0.01, 0.2, 0.05])


def friction_at(qd, offset=0.0):
    """Return the friction torque of three joints that move at qd (3 or one number), by the kernel."""
    three = trees.random_joints(seed=1, count=3)
    joints = [
        dataclasses.replace(joint, viscous=viscous, coulomb=coulomb, transition=transition, offset=offset)
        for joint, viscous, coulomb, transition in zip(three, VISCOUS, COULOMB, TRANSITION, strict=True)
    ]
    qd = np.full(3, qd) if np.ndim(qd) == 0 else np.ascontiguousarray(qd)
    tau = np.full_like(qd, np.nan)
    friction_torque(Model.of('three', trees.BASE, joints).friction, qd, tau)
    return tau


@pytest.mark.parametrize('qd', [1e-5, 0.01, 0.3, 2.0])
def test_friction_is_odd(qd):
    """Without offset, friction only changes its sign with the velocity; an offset adds at any velocity."""
    assert np.all(friction_at(qd) > 0.0)
    assert np.array_equal(friction_at(-qd), -friction_at(qd))
    assert np.array_equal(friction_at(0.0), np.zeros(3))
    assert np.array_equal(friction_at(0.0, offset=0.25), np.full(3, 0.25))
    both_ways = friction_at(qd, offset=0.25) + friction_at(-qd, offset=0.25)
    assert np.allclose(both_ways, 0.5, rtol=0.0, atol=1e-14)


def test_friction_slope_at_rest():
    """No jump: the slope at rest is viscous + coulomb / transition velocity."""
    expected = VISCOUS + COULOMB / TRANSITION
    complex_step = friction_at(1e-30j * np.ones(3)).imag / 1e-30
    assert np.allclose(complex_step, expected, rtol=1e-14, atol=0.0)


def test_friction_tends_to_coulomb():
    """Far above the transition velocity the smooth sign is 1, less half the square of their ratio."""
    coulomb = friction_at(100.0 * TRANSITION) - VISCOUS * 100.0 * TRANSITION
    assert np.allclose(coulomb, COULOMB * (1.0 - 0.5e-4), rtol=1e-8, atol=1e-12)


def test_friction_at_the_transition_velocity():
    """There the smooth sign is 1 / sqrt(2) = 0.7071."""
    coulomb = friction_at(TRANSITION) - VISCOUS * TRANSITION
    assert np.allclose(coulomb, COULOMB * np.sqrt(0.5), rtol=1e-12, atol=1e-15)
