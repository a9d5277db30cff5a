"""A new quantity is a kernel, a row of the table and a method: all kinds of code follow from these."""

from support.code.bindings import BINDINGS, of_binding
from support.code.new_quantity import ROW, WithPower
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.table import ALGORITHMS
from robot_dynamics_ros.errors import ArgumentError


@pytest.fixture(params=matrix(BINDINGS, ['generic']))
def robot(request, monkeypatch):
    monkeypatch.setitem(ALGORITHMS, 'power_of_gravity', ROW)
    return of_binding(WithPower(Robot.named('aubo_i5').model), request.param)


def test_a_new_quantity_is_that_of_its_equation_for_one_state_and_for_batches(robot):
    q, qd = np.random.default_rng(0).normal(size=(2, 100, 6))
    expected = -(robot.gravity_torque(q) * qd).sum(axis=1)
    found = robot.power_of_gravity(q, qd)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    assert robot.power_of_gravity(q[7], qd[7]) == found[7]
    # against the potential energy along the motion, by a central difference
    step = 1e-6
    change = robot.potential_energy(q + step * qd) - robot.potential_energy(q - step * qd)
    np.testing.assert_allclose(found, -change / (2 * step), rtol=0, atol=1e-5)


def test_its_arguments_are_checked_by_name(robot):
    with pytest.raises(ArgumentError, match='qd: expected'):
        robot.power_of_gravity(np.zeros(6), np.zeros(5))
